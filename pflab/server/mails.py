"""The mails of a lab over HTTP, by Message-ID: their bytes, what is in them, and where they wait in queues."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Annotated, Final

from msgspec import Meta

from node.api.asgi import Response
from node.api.reads import MAIL
from node.api.values import json_response, problem
from node.errors import MessageUnknown
from node.views import QueueView
from pflab.lab.served_lab import ServedLab
from pflab.replay.contents import described
from pflab.server.present_lab import lab_routes
from pflab.threads import in_thread
from traces.labtime import format_instant
from transport.errors import CodecError

MessageId = Annotated[
    str,
    Meta(
        max_length=1000,
        description="The Message-ID without angle brackets, as in the field `mail` of events.",
        examples=["1f6c0e5d@contoso.test"],
    ),
]

MAILS: Final = lab_routes("/lab/mails", tag="mail")
"""The mails of a lab."""

# A Message-ID may have slashes. So the routes with more after it come first.


@MAILS.get("/{mail:path}/decoded", answers={200: {"content": {"text/plain": {"example": "mail\n  headers"}}}})
async def decoded(lab: ServedLab, mail: MessageId) -> Response:
    """Return a mail down to each property of each item, as `pflab decode` prints it. In a mail a change has the GUID of
    its store, a colon and a number."""
    content = _content_of(lab, mail)
    if content is None:
        return _not_kept(mail)
    try:
        text = await in_thread(described, content)
    except CodecError as error:
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "CodecError", str(error))
    return Response(text, media_type="text/plain; charset=utf-8")


@MAILS.get("/{mail:path}/waiting")
async def waiting(lab: ServedLab, mail: MessageId) -> Response:
    """Return the copies of a mail that wait in queues of running servers. `held`: a fault holds the copy until `due_at`.
    `frozen`: an administrator has frozen it."""
    held_rows = {(server, row) for server, row, _ in lab.faults.held(mail)}
    return json_response(
        [
            {
                "server": server,
                "id": copy.id,
                "next_hop": copy.next_hop,
                "connector": copy.connector,
                "recipients": list(copy.recipients),
                "due_at": format_instant(copy.due_at),
                "attempts": copy.attempts,
                "held": (server, copy.id) in held_rows,
                "frozen": copy.frozen,
            }
            for server, copy in _waiting(lab, mail)
        ]
    )


@MAILS.post("/{mail:path}/release")
async def release(lab: ServedLab, mail: MessageId) -> Response:
    """End every delay of this mail, whichever fault delays it. The mail leaves now, or when its connector opens."""
    rows = [row for row in lab.faults.release(mail) if lab.running(row[0])]
    for server, row, _ in rows:
        await lab.do(server, lambda node, now: node.hop_released(now, row))  # noqa: B023 - called before the next row
    return json_response({"released": len(rows)})


@MAILS.get("/{mail:path}", answers={200: {"content": {MAIL: {}}}})
async def raw(lab: ServedLab, mail: MessageId) -> Response:
    """Return a mail as it crossed its last hop, or as it waits in a queue. A lab keeps its newest mails."""
    content = _content_of(lab, mail)
    return _not_kept(mail) if content is None else Response(content, media_type=MAIL)


def _waiting(lab: ServedLab, mail: str) -> Iterator[tuple[str, QueueView]]:
    for name in lab.names:
        if lab.running(name):
            yield from ((name, copy) for copy in lab.read(name, lambda node: node.queue()) if copy.message_id == mail)


def _content_of(lab: ServedLab, mail: str) -> bytes | None:
    content = lab.recent_mails.find(mail)
    if content is not None:
        return content
    for name, copy in _waiting(lab, mail):
        row = copy.id
        try:
            return lab.read(name, lambda node: node.queued_mail(row))  # noqa: B023 - called at once
        except MessageUnknown:  # it has just left
            continue
    return lab.recent_mails.find(mail)


def _not_kept(mail: str) -> Response:
    return problem(
        HTTPStatus.NOT_FOUND,
        "MailUnknown",
        f"the mail {mail[:200]!r} waits in no queue, and is not among the newest mails, which the lab keeps; a lab with a"
        " process for each server keeps mails only with --keep-mails",
    )
