"""Events of mail: mails that agents submit and receive, and every hop between them."""

import msgspec

from traces.events.header import Event
from traces.labtime import LabTime


class MailFolder(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a replication mail says about one folder.

    cnset: the numbers that it accounts for.
    row: the sender's own row.

    Names with `fai` are about associated messages, which Exchange calls FAI.

    expired, expired_fai: in a response, the requested change numbers whose items have expired at the sender (spec: DL-3).
        Before version 1.7 of the trace format, `expired` contains the numbers of both kinds.
    """

    folder: str
    cnset: str
    cnset_fai: str
    row: str
    row_fai: str
    updates: int
    expired: str = ""
    expired_fai: str = ""


class MailSubmitted(Event, frozen=True, kw_only=True, tag="mail.submitted"):
    """A replication mail was queued. The same transaction stored the state that the mail reports (spec: OUT-9).

    message_type: 0x2, 0x4, 0x8, ... (spec: OUT-6).
    size: in bytes.
    number: the sender's mail number (spec: RST-4); marks:.
    repeat, no replica, delete-pending, ...
    """

    message_type: int
    folders: tuple[MailFolder, ...]
    recipients: tuple[str, ...]
    size: int
    number: int
    marks: tuple[str, ...] = ()


class MailReceived(Event, frozen=True, kw_only=True, tag="mail.received"):
    """A replication mail was decoded here. Its fields are those of mail.submitted, with the values in the mail."""

    sender: str
    message_type: int
    folders: tuple[MailFolder, ...]
    recipients: tuple[str, ...]
    size: int
    number: int
    marks: tuple[str, ...] = ()


class MailBad(Event, frozen=True, kw_only=True, tag="mail.bad"):
    """A mail was not valid; it was kept and has no effect (spec: IN-5)."""

    sender: str
    reason: str
    size: int


class HopSent(Event, frozen=True, kw_only=True, tag="hop.sent"):
    """The next server answered 250.

    connector: None inside a site.
    attempt: from 1.
    ordinary: why a replication mail was sent as ordinary mail, without XEXCH50 (spec: ML-3).
    begun_at: when the mail began to cross to the next server; None if it took no time.
    """

    next_hop: str
    connector: str | None
    recipients: tuple[str, ...]
    size: int
    attempt: int
    queue_id: int
    ordinary: str = ""
    begun_at: LabTime | None = None


class HopFailed(Event, frozen=True, kw_only=True, tag="hop.failed"):
    """An attempt failed.

    retry_at: the time of the next attempt, None if there is none; without a route, the time of expiry.
    begun_at: when the attempt began; None if it took no time.
    """

    next_hop: str
    connector: str | None
    reason: str
    retry_at: LabTime | None
    queue_id: int
    begun_at: LabTime | None = None


class HopReceived(Event, frozen=True, kw_only=True, tag="hop.received"):
    """A mail was accepted from `peer` and is durable here (spec: IN-2).

    authenticated: false if the peer has not proven that it is a store; then `peer` is the name in its HELO or hop line.
    sender, subject (since 1.11): of ordinary mail, the envelope sender and the beginning of the subject. '' for replication
        mail, of which mail.submitted says more.
    """

    peer: str
    recipients: tuple[str, ...]
    size: int
    authenticated: bool = True
    sender: str = ""
    subject: str = ""


class HopDropped(Event, frozen=True, kw_only=True, tag="hop.dropped"):
    """A fault made this end answer 250 and discard the mail."""

    fault: str
    sender: str
    recipients: tuple[str, ...]


class HopExpired(Event, frozen=True, kw_only=True, tag="hop.expired"):
    """A mail was in the queue for too long, or was refused for good, or an administrator returned it. It goes back to its
    sender (spec: RT-2)."""

    queue_id: int
    recipients: tuple[str, ...]
    reason: str


class HopDeleted(Event, frozen=True, kw_only=True, tag="hop.deleted"):
    """An administrator deleted a mail from the queue, and its sender gets no notice (spec: RT-5). Since 1.10."""

    queue_id: int
    recipients: tuple[str, ...]


class QueueFrozen(Event, frozen=True, kw_only=True, tag="queue.frozen"):
    """An administrator froze a mail in the queue, or the queue of a next hop with all mails that come into it (spec: RT-5).
    Since 1.10.

    queue_id: of the mail, None for a queue.
    """

    next_hop: str
    queue_id: int | None


class QueueUnfrozen(Event, frozen=True, kw_only=True, tag="queue.unfrozen"):
    """A frozen mail, or a frozen queue, may be sent again (spec: RT-5). Since 1.10.

    queue_id: of the mail, None for a queue.
    """

    next_hop: str
    queue_id: int | None


class LinkDown(Event, frozen=True, kw_only=True, tag="link.down"):
    """A server could not connect over a connector, or another server reported this (spec: RT-2).

    by: the server that could not connect.
    reason: its last failure, '' in a report.
    avoided: mail takes another route now. Since 1.2.
    """

    connector: str
    by: str
    reason: str
    avoided: bool


class LinkUp(Event, frozen=True, kw_only=True, tag="link.up"):
    """A connector that `by` had reported as down works again (spec: RT-2). Since 1.2."""

    connector: str
    by: str


class MailPosted(Event, frozen=True, kw_only=True, tag="mail.posted"):
    """Ordinary mail to a folder's address became a post here (spec: ML-5).

    object: the post.
    sender: the envelope sender.
    recipient (since 1.11): the address of the folder.
    """

    folder: str
    object: str
    sender: str
    recipient: str = ""


class MailNotPosted(Event, frozen=True, kw_only=True, tag="mail.not_posted"):
    """Ordinary mail to a folder's address was not posted: it is a repetition, a loop, or over a limit (spec: ML-5, ML-7).

    recipient (since 1.11): the address of the folder.
    """

    folder: str
    sender: str
    reason: str
    recipient: str = ""


class MailboxDelivered(Event, frozen=True, kw_only=True, tag="mailbox.delivered"):
    """Mail to people was put into the lab's mailbox (spec: ML-5).

    sender: the envelope sender, '' for a notice.
    """

    recipient: str
    sender: str
    subject: str
    size: int


MailEvent = (
    MailSubmitted
    | MailReceived
    | MailBad
    | MailPosted
    | MailNotPosted
    | MailboxDelivered
    | HopSent
    | HopFailed
    | HopReceived
    | HopDropped
    | HopExpired
    | HopDeleted
    | QueueFrozen
    | QueueUnfrozen
    | LinkDown
    | LinkUp
)
