"""Import mail into folders and export it, for `pflab import` and `pflab export`.

A poster is a function that posts one mail, on a node in this process or through the API of a running lab. (spec: ML-5)
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from node.errors import InternalError, NodeError
from node.reads import StoreReader
from node.views import MessageView, in_order_of_change
from pflab.client import UNHEARD, Client, ClientError
from pflab.errors import LabError
from pflab.lab.lab import Lab
from pflab.workload.mail_files import MailFile, read_mails
from pflab.workload.mbox import mbox_of
from traces.labtime import LabTime
from transport.errors import CodecError
from transport.mime.headers import parse_addresses, parse_fields, split_header

MOST_REFUSED = 1000
"""The most refused mails that are listed. Further refused mails are only counted."""

Poster = Callable[[bytes], Awaitable[str]]
"""Posts one mail and returns the id of the message. Raises NodeError or LabError if the mail is refused."""


@dataclass(slots=True)
class Imported:
    """The results of an import: the ids of messages in order, and the source of each refused mail with the reason."""

    ids: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    refused_count: int = 0
    known_count: int = 0
    """How many of the messages an earlier import had already posted."""

    def as_document(self) -> dict[str, Any]:
        return {
            "imported": len(self.ids),
            "known": self.known_count,
            "refused": self.refused_count,
            "ids": self.ids,
            "reasons": [{"source": source, "reason": reason} for source, reason in self.refused],
        }


def mails_of(paths: Iterable[Path]) -> Iterator[MailFile]:
    """Yield the mails of several files and folders. Raises LabError for the first file or folder that cannot be read."""
    for path in paths:
        yield from read_mails(path)


async def import_mails(
    mails: Iterable[MailFile], poster: Poster, report: Callable[[MailFile], None], result: Imported | None = None
) -> Imported:
    """Post the mails one after the other; a refused mail does not stop the import. Call `report` after each mail. Add the
    results to `result`."""
    result = Imported() if result is None else result
    for mail in mails:
        try:
            result.ids.append(await poster(mail.content))
        except (NodeError, LabError) as error:
            result.refused_count += 1
            if result.refused_count <= MOST_REFUSED:
                result.refused.append((mail.source, " ".join(str(error).split())))
        report(mail)
    return result


def poster_for_lab(lab: Lab, server: str, folder: str) -> Poster:
    """Return a poster for a folder on a server of a lab in this process."""

    async def post(content: bytes) -> str:
        message = await lab.do(server, lambda node, now: node.post_mail(now, folder, content))
        return message.id

    return post


class Interrupted(Exception):
    """Raised if the lab or the server stops answering during the import."""


def poster_for_client(
    client: Client, server: str, folder: str, salt: str = "", result: Imported | None = None
) -> Poster:
    """Return a poster for a folder of a running lab. It raises Interrupted if the lab does not answer.

    The idempotency key of a mail is a hash of the folder, `salt` and the mail, followed by a number that tells equal mails
    apart. So a repeated import with the same `salt` posts no mail again. `result` counts the mails that were already posted.
    """
    counts: Counter[bytes] = Counter()

    async def post(content: bytes) -> str:
        digest = hashlib.blake2b(f"{folder}\n{salt}\n".encode() + content, digest_size=16).digest()
        counts[digest] += 1
        try:
            message = client.post_mail(server, folder, content, key=f"import-{digest.hex()}-{counts[digest]}")["id"]
        except ClientError as error:
            if error.status in UNHEARD:
                raise Interrupted(str(error)) from error
            if error.internal:
                raise InternalError(error.detail, elsewhere=True) from error
            raise LabError(error.detail) from error
        if result is not None:
            result.known_count += client.replayed
        return message

    return post


def export_mbox(store: StoreReader, folder: str, report: Callable[[], None] = lambda: None) -> Iterator[bytes]:
    """Yield a folder's messages as an mbox, in the order of their last change, without associated messages. Call
    `report` for each."""
    views = in_order_of_change(view for view in store.messages(folder) if not view.associated)
    return mbox_of(_mail(store, folder, view, report) for view in views)


def _mail(store: StoreReader, folder: str, view: MessageView, report: Callable[[], None]) -> tuple[str, LabTime, bytes]:
    report()
    mail = store.mail(folder, view.id)
    return _sender(mail), view.modified_at, mail


def _sender(mail: bytes) -> str:
    """Return the address of a mail's sender, by its field From, Sender or Return-Path; '' if none has an address."""
    try:
        fields = {name.lower(): value for name, value in reversed(parse_fields(split_header(mail, 0, len(mail))[0]))}
    except CodecError:  # the mail came from outside
        return ""
    values = (fields.get(name, "") for name in ("from", "sender", "return-path"))
    return next((address for value in values for address in parse_addresses(value)), "")
