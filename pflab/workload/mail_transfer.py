"""Mail into folders and out of them: what `pflab import` and `pflab export` do, whatever stands behind them.

A door is any function that posts one mail and gives back the message's id: a node of a lab in this process, or a
running lab's API. (spec: ML-5)
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from node.errors import InternalError, NodeError
from node.store.queries import StoreReader
from node.views import MessageView
from pflab.client import UNHEARD, Client, ClientError
from pflab.errors import LabError
from pflab.lab.lab import Lab
from pflab.workload.mail_files import MailFile, mbox_of, read_mails
from traces.labtime import LabTime
from transport.mime.headers import parse_addresses

MOST_REFUSED = 1000
"""Refused mails that are remembered one by one; the rest is counted."""

Door = Callable[[bytes], Awaitable[str]]
"""Posts one mail; the message's id. Raises NodeError or LabError in one line for a mail that is not taken."""


@dataclass(slots=True)
class Imported:
    """What became of the mails: ids in order, and of those not taken where they were and why."""

    ids: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    refused_count: int = 0
    known_count: int = 0
    """Of the ids those of mails that an import before had posted."""

    def as_document(self) -> dict[str, Any]:
        return {
            "imported": len(self.ids),
            "known": self.known_count,
            "refused": self.refused_count,
            "ids": self.ids,
            "reasons": [{"source": source, "reason": reason} for source, reason in self.refused],
        }


def mails_of(paths: Iterable[Path]) -> Iterator[MailFile]:
    """The mails of several files and folders, one after the other. Raises LabError at the first that cannot be read."""
    for path in paths:
        yield from read_mails(path)


async def import_mails(
    mails: Iterable[MailFile], door: Door, told: Callable[[MailFile], None], done: Imported | None = None
) -> Imported:
    """Posts mail after mail; one that is refused stops nobody. `told` is called after each; `done` is filled on the way."""
    done = Imported() if done is None else done
    for mail in mails:
        try:
            done.ids.append(await door(mail.content))
        except (NodeError, LabError) as error:
            done.refused_count += 1
            if done.refused_count <= MOST_REFUSED:
                done.refused.append((mail.source, " ".join(str(error).split())))
        told(mail)
    return done


def door_of_lab(lab: Lab, server: str, folder: str) -> Door:
    """The door to a folder at a server of a lab in this process."""

    async def post(content: bytes) -> str:
        return await lab.do(server, lambda node, now: node.post_mail(now, folder, content))

    return post


class Interrupted(Exception):
    """The lab took no more: it, or its server, has gone."""


def door_of_client(client: Client, server: str, folder: str, salt: str = "", done: Imported | None = None) -> Door:
    """The door to a folder of a running lab. Each mail has a key of its own, made of the mail: asked for again, by this
    import or by the next one with the same `salt`, it is not posted twice; a mail that is in the files twice, is. `done`
    counts those that were there.

    The door raises Interrupted where the lab is not heard any more.
    """
    met: Counter[bytes] = Counter()

    async def post(content: bytes) -> str:
        digest = hashlib.blake2b(f"{folder}\n{salt}\n".encode() + content, digest_size=16).digest()
        met[digest] += 1
        try:
            message = client.post_mail(server, folder, content, key=f"import-{digest.hex()}-{met[digest]}")
        except ClientError as error:
            if error.status in UNHEARD:
                raise Interrupted(str(error)) from error
            if error.internal:
                raise InternalError(error.detail, elsewhere=True) from error
            raise LabError(error.detail) from error
        if done is not None:
            done.known_count += client.replayed
        return message

    return post


def export_mbox(store: StoreReader, folder: str, told: Callable[[], None] = lambda: None) -> Iterator[bytes]:
    """A folder's messages as an mbox, in the order in which they were made or last changed; associated ones stay.
    `told` is called for each."""
    views = [view for view in store.messages(folder) if not view.associated]
    views.sort(key=lambda view: (view.modified_at, view.id))
    return mbox_of(_mail(store, folder, view, told) for view in views)


def _mail(store: StoreReader, folder: str, view: MessageView, told: Callable[[], None]) -> tuple[str, LabTime, bytes]:
    told()
    address = next(iter(parse_addresses(view.sender)), "MAILER-DAEMON")
    return address, view.modified_at, store.mail(folder, view.id)
