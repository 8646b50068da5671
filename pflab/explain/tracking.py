"""Message tracking: what became of the mails of a run, for each recipient.

A mail is known by its Message-ID. Its recipients can have different fates, because each server divides it for the next hops. Of
each recipient the newest place is known from the events, and from the queues:

| event | the recipient's copy is then |
|---|---|
| mail.submitted, hop.received | waiting on that server |
| hop.sent | waiting, on its way to the next server; delivered, if this is no server of the lab |
| hop.dropped | lost |
| hop.expired | returned to its sender |
| hop.deleted | deleted by an administrator |
| mail.received, mail.posted, mailbox.delivered | delivered |
| mail.bad, mail.not_posted | unused |

Both ends record a hop, and the receiver may be first. So hop.sent says nothing of a copy that is elsewhere already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from node.views import QueueView
from pflab.runs.events import RunEvents
from pflab.runs.traffic_sums import ORDINARY
from pflab.terms.event_words import store_named, to_the_second
from pflab.terms.mail_types import mail_name
from traces.events import (
    ChangeMade,
    Event,
    HopDeleted,
    HopDropped,
    HopExpired,
    HopFailed,
    HopReceived,
    HopSent,
    MailBad,
    MailboxDelivered,
    MailNotPosted,
    MailPosted,
    MailReceived,
    MailSubmitted,
)
from traces.labtime import DAY_US, LabTime, format_instant


class Fate(StrEnum):
    """What became of the copy for a recipient."""

    DELIVERED = "delivered"
    WAITING = "waiting"
    LOST = "lost"
    RETURNED = "returned"
    DELETED = "deleted"
    UNUSED = "unused"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the copy for a recipient is, or was last.

    server: '' if no server of the lab has it.
    why: '' if there is nothing more to say.
    """

    fate: Fate
    server: str
    at: LabTime | None
    why: str = ""


@dataclass(slots=True)
class TrackedMail:
    """A mail and what became of it.

    sender: a store, or the envelope sender of ordinary mail; '' if it is the null sender, or not known.
    at: when the first event names it; None if it waits where it was written, so that no event names it.
    places: of each recipient, a store or an address.
    """

    message_id: str
    type: str = ORDINARY
    sender: str = ""
    subject: str = ""
    folders: list[str] = field(default_factory=list)
    at: LabTime | None = None
    size: int = 0
    places: dict[str, Place] = field(default_factory=dict)

    @property
    def fates(self) -> list[Fate]:
        """What became of its copies, each fate once."""
        return list(dict.fromkeys(place.fate for place in self.places.values()))

    @property
    def about(self) -> str:
        """What people know it by: its folders, or the subject of ordinary mail."""
        return self.subject or ", ".join(self.folders)

    def as_document(self) -> dict[str, Any]:
        return {
            "message_id": self.message_id,
            "at": None if self.at is None else format_instant(self.at),
            "type": self.type,
            "sender": self.sender,
            "subject": self.subject,
            "folders": self.folders,
            "size": self.size,
            "recipients": [
                {
                    "recipient": recipient,
                    "state": place.fate.value,
                    "server": place.server,
                    "at": None if place.at is None else format_instant(place.at),
                    "why": place.why,
                }
                for recipient, place in self.places.items()
            ],
        }


@dataclass(frozen=True, slots=True)
class Search:
    """Which mails a person looks for. An empty field fits every mail.

    sender, recipient: a server, or a part of an address; a recipient can also be a folder.
    about: a part of the subject or of a folder.
    type: the type of mail, such as `content` or `ordinary mail`.
    day_at: the first instant of the day on which it was sent.
    """

    message_id: str = ""
    sender: str = ""
    recipient: str = ""
    about: str = ""
    type: str = ""
    day_at: LabTime | None = None
    fate: Fate | None = None

    def fits(self, mail: TrackedMail) -> bool:
        day = self.day_at
        return (
            self.message_id in {"", mail.message_id}
            and (not self.sender or _names(self.sender, mail.sender))
            and (not self.recipient or any(_names(self.recipient, name) for name in (*mail.places, *mail.folders)))
            and (not self.about or any(_holds(text, self.about) for text in (mail.subject, *mail.folders)))
            and self.type in {"", mail.type}
            and (day is None or (mail.at is not None and day <= mail.at < day + DAY_US))
            and (self.fate is None or self.fate in mail.fates)
        )


def _holds(text: str, part: str) -> bool:
    return part.casefold() in text.casefold()


def _names(words: str, name: str) -> bool:
    """Return whether words mean a server or a folder, or are a part of an address."""
    return _holds(name, words) if "@" in name else name.casefold() == words.casefold()


def tracked(run: RunEvents, queues: Mapping[str, Iterable[QueueView]]) -> list[TrackedMail]:
    """Return all mails of a run, in the order in which the first event names them.

    queues: the mails that wait on each server that can be read.
    """
    tracker = _Tracker(run)
    for event in run.events:
        tell = _FOLLOW.get(type(event))
        if event.mail and tell is not None:
            tell(tracker, tracker.mail(event), event)
    for server, copies in queues.items():
        for copy in copies:
            tracker.waiting(server, copy)
    return list(tracker.mails.values())


class _Tracker:
    """Follows each mail through the events."""

    def __init__(self, run: RunEvents) -> None:
        self.names = run.names
        self.servers = {event.node for event in run.events}
        self.mails: dict[str, TrackedMail] = {}

    def mail(self, event: Event) -> TrackedMail:
        assert event.mail is not None
        mail = self.mails.setdefault(event.mail, TrackedMail(event.mail))
        if mail.at is None:
            mail.at = event.at
        return mail

    def submitted(self, mail: TrackedMail, event: MailSubmitted | MailReceived) -> None:
        mail.type, mail.size = mail_name(event.message_type), event.size
        mail.folders = [self.names.folder(section.folder) for section in event.folders if section.folder]
        if isinstance(event, MailSubmitted):
            mail.sender = event.node
            for address in event.recipients:
                self._put(mail, address, Fate.WAITING, event)
            return
        mail.sender = event.sender
        self._put(mail, event.node, Fate.DELIVERED, event)

    def hop_received(self, mail: TrackedMail, event: HopReceived) -> None:
        mail.sender, mail.subject = mail.sender or event.sender, mail.subject or event.subject
        mail.size = mail.size or event.size
        for address in event.recipients:
            before = mail.places.get(_recipient(mail, address))
            if before is None or before.fate is Fate.WAITING:
                self._put(mail, address, Fate.WAITING, event)

    def hop_sent(self, mail: TrackedMail, event: HopSent) -> None:
        inside = event.next_hop in self.servers
        for address in event.recipients:
            place = mail.places.get(_recipient(mail, address))
            if place is None or (place.server, place.fate) == (event.node, Fate.WAITING):
                why = f"on its way to {event.next_hop}" if inside else f"handed to {event.next_hop}"
                self._put(mail, address, Fate.WAITING if inside else Fate.DELIVERED, event, why)

    def hop_failed(self, mail: TrackedMail, event: HopFailed) -> None:
        for recipient, place in mail.places.items():
            if (place.server, place.fate) == (event.node, Fate.WAITING):
                mail.places[recipient] = Place(Fate.WAITING, place.server, place.at, event.reason)

    def hop_dropped(self, mail: TrackedMail, event: HopDropped) -> None:
        if mail.type == ORDINARY:
            mail.sender = mail.sender or event.sender
        for address in event.recipients:
            self._put(mail, address, Fate.LOST, event, f"fault {event.fault}")

    def hop_expired(self, mail: TrackedMail, event: HopExpired) -> None:
        for address in event.recipients:
            self._put(mail, address, Fate.RETURNED, event, event.reason)

    def hop_deleted(self, mail: TrackedMail, event: HopDeleted) -> None:
        for address in event.recipients:
            self._put(mail, address, Fate.DELETED, event, "by an administrator")

    def bad(self, mail: TrackedMail, event: MailBad) -> None:
        mail.sender = mail.sender or event.sender
        mail.size = mail.size or event.size
        self._put(mail, event.node, Fate.UNUSED, event, event.reason)

    def posted(self, mail: TrackedMail, event: MailPosted | MailNotPosted) -> None:
        mail.sender = mail.sender or event.sender
        folder = self.names.folder(event.folder)
        if folder not in mail.folders:
            mail.folders.append(folder)
        recipient = event.recipient or folder  # before 1.11, no event names the address
        before = mail.places.get(recipient)
        if isinstance(event, MailPosted):
            mail.places[recipient] = Place(Fate.DELIVERED, event.node, event.at, f"posted in {folder}")
        elif before is None or before.fate is not Fate.DELIVERED:  # sent again, it is not posted again
            why = f"not posted in {folder}: {event.reason}"
            mail.places[recipient] = Place(Fate.UNUSED, event.node, event.at, why)

    def post_made(self, mail: TrackedMail, event: ChangeMade) -> None:
        mail.subject = mail.subject or event.subject

    def into_mailbox(self, mail: TrackedMail, event: MailboxDelivered) -> None:
        mail.sender, mail.subject = mail.sender or event.sender, mail.subject or event.subject
        mail.size = mail.size or event.size
        self._put(mail, event.recipient, Fate.DELIVERED, event)

    def _put(self, mail: TrackedMail, address: str, fate: Fate, event: Event, why: str = "") -> None:
        mail.places[_recipient(mail, address)] = Place(fate, event.node, event.at, why)

    def waiting(self, server: str, copy: QueueView) -> None:
        """Take in a copy that waits on a server. The event that names it first can be yet to come."""
        mail = self.mails.setdefault(copy.message_id, TrackedMail(copy.message_id))
        if mail.type == ORDINARY:
            mail.sender, mail.subject = mail.sender or copy.sender, mail.subject or copy.subject
        mail.size = mail.size or copy.size
        next_ = f"next attempt at {to_the_second(copy.due_at)}" if copy.next_hop else "there is no route"
        for address in copy.recipients:
            recipient = _recipient(mail, address)
            before = mail.places.get(recipient)
            since = before.at if before is not None and before.server == server else mail.at
            reason = f"{before.why}; " if before is not None and before.why and before.server == server else ""
            why = "frozen" if copy.frozen else f"{reason}{next_}"
            mail.places[recipient] = Place(Fate.WAITING, server, since, why)


def _recipient(mail: TrackedMail, address: str) -> str:
    """Return the name under which people look for a recipient: of replication mail the store."""
    return address if mail.type == ORDINARY else store_named(address)


_FOLLOW: Final[Mapping[type[Event], Callable[[_Tracker, TrackedMail, Any], None]]] = {
    MailSubmitted: _Tracker.submitted,
    MailReceived: _Tracker.submitted,
    MailBad: _Tracker.bad,
    MailPosted: _Tracker.posted,
    MailNotPosted: _Tracker.posted,
    MailboxDelivered: _Tracker.into_mailbox,
    ChangeMade: _Tracker.post_made,
    HopReceived: _Tracker.hop_received,
    HopSent: _Tracker.hop_sent,
    HopFailed: _Tracker.hop_failed,
    HopDropped: _Tracker.hop_dropped,
    HopExpired: _Tracker.hop_expired,
    HopDeleted: _Tracker.hop_deleted,
}
