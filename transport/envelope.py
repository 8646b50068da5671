"""The values that go in and out of the MTA: mails, hops, transmissions and what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from traces.labtime import LabTime
from transport.errors import TransportError


class Priority(IntEnum):
    """Urgency of a mail, numbered as MAPI's PR_PRIORITY is."""

    # spec: OUT-8
    NOT_URGENT = -1
    NORMAL = 0
    URGENT = 1


class RefusalError(TransportError):
    """A mail or a recipient that this server does not take: an SMTP reply `code` (4xx or 5xx) and its
    `text`.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code} {text}")
        self.code = code
        self.text = text

    @property
    def permanent(self) -> bool:
        """True when trying again is no use (5xx)."""
        return self.code >= 500


class UnknownRecipientError(RefusalError):
    """Recipients that belong to no server of the organization; nobody else is relayed for.

    `addresses` are the unknown ones, in the order of the mail.
    """

    # spec: ML-7
    def __init__(self, addresses: Sequence[str]) -> None:
        super().__init__(550, f"5.1.1 no such address in this organization: {', '.join(addresses)}")
        self.addresses = tuple(addresses)


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A mail as the store hands it to its MTA. `content` is the whole mail with CRLF line ends; `sender` ''
    is the null sender.
    """

    message_id: str
    sender: str
    recipients: tuple[str, ...]
    content: bytes
    priority: Priority
    subject: str
    system: bool = False
    """A replication mail, which XEXCH50 has to carry as one over every hop (ML-3)."""


@dataclass(frozen=True, slots=True)
class CommandRefused:
    """A command that a server refused, as both ends log it: the whole line and the whole reply."""

    command: str
    reply: str


@dataclass(frozen=True, slots=True)
class IncomingHop:
    """The other end of an SMTP hop, as the sending server described itself in its `X-Pflab-Hop` line.

    `peer` is its server name (its HELO name when it is no server of a lab), `sent_at` the lab time at which
    it sent the mail (None: it did not say), `lamport` its Lamport number then (0: it did not say).
    `authenticated`: the peer has proven to be that store. `system`: XEXCH50 has told that the mail is a system message;
    without it a mail is an ordinary one, whatever it carries (spec: ML-3). `refused`: the XEXCH50 that was refused.
    """

    peer: str
    sent_at: LabTime | None
    lamport: int
    priority: Priority = Priority.NORMAL
    authenticated: bool = False
    system: bool = False
    refused: CommandRefused | None = None


@dataclass(frozen=True, slots=True)
class LocalDelivery:
    """A mail whose recipients live on this server. `hop` is None when it came from this server itself; `system`: it may
    be replication mail.
    """

    recipients: tuple[str, ...]
    sender: str
    content: bytes
    message_id: str
    hop: IncomingHop | None
    system: bool = False


@dataclass(frozen=True, slots=True)
class Transmission:
    """One copy of a mail that is due to cross to the next server.

    `sent_at` is the lab time of this attempt, `lamport` the Lamport number under which the mail was queued,
    `attempts` the number of attempts that failed before, `system` whether XEXCH50 shall say that this is a system
    message. `queue_id` names the row to `delivered`,
    `deferred`, `concluded` and `hold`.
    """

    queue_id: int
    next_hop: str
    connector: str | None
    sender: str
    recipients: tuple[str, ...]
    content: bytes = field(repr=False)
    message_id: str
    subject: str
    attempts: int
    priority: Priority
    sent_at: LabTime
    lamport: int
    system: bool = False
    links: tuple[str, ...] = ()
    """What the sender knows of links that are or were down, for an authenticated peer (RT-2)."""

    @property
    def outside(self) -> tuple[str, int] | None:
        """Host and port of the smart host that this goes to; None if it goes to a server of the organization. No
        server's name has a colon in it."""
        # spec: ML-5
        host, colon, port = self.next_hop.rpartition(":")
        return (host.strip("[]"), int(port)) if colon else None

    @property
    def is_call(self) -> bool:
        """True if there is no mail in it: the next server is only to be reached, and told of links."""
        return not self.recipients

    def hop_from(self, server: str, *, authenticated: bool = False) -> IncomingHop:
        """What the receiving end sees of this hop when `server` sends it. XEXCH50 is for authenticated peers alone."""
        # spec: ML-3
        return IncomingHop(
            server, self.sent_at, self.lamport, self.priority, authenticated, authenticated and self.system
        )


@dataclass(frozen=True, slots=True)
class QueuedMail:
    """A queue row for people to look at. `next_hop` None: no route at the moment; sizes in bytes."""

    queue_id: int
    next_hop: str | None
    connector: str | None
    sender: str
    recipients: tuple[str, ...]
    message_id: str
    subject: str
    priority: Priority
    due_at: LabTime
    expires_at: LabTime
    attempts: int
    size: int
    last_error: str


@dataclass(frozen=True, slots=True)
class Offers:
    """What a server offers to those that connect. `authentication`: AUTH for stores, without which XEXCH50 is refused;
    `chunking`: CHUNKING and BINARYMIME.
    """

    # spec: ML-3, ML-4
    authentication: bool = True
    chunking: bool = True


class SendState(StrEnum):
    """What became of an attempt to send."""

    DELIVERED = "delivered"
    DEFERRED = "deferred"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class RecipientRefusal:
    """One recipient that the peer did not take, while it may have taken others."""

    address: str
    reason: str
    permanent: bool


@dataclass(frozen=True, slots=True)
class SendOutcome:
    """The end of one attempt.

    DELIVERED: the peer answered 250 after the content, for every recipient that is not in `refusals`.
    DEFERRED: try again later. REFUSED: trying again is no use. `reason` says why, in words that name the
    peer's answer.
    """

    # spec: IN-2
    state: SendState
    reason: str = ""
    refusals: tuple[RecipientRefusal, ...] = ()
    ordinary: str = ""
    """Of a system message that was delivered: why it went as ordinary mail (ML-3); '' when it did not."""
    refused: CommandRefused | None = None
    """Of a mail that was delivered: the XEXCH50 that the peer refused."""
    unreachable: bool = False
    """The attempt failed because nobody answered, not by what somebody said (RT-2)."""

    @property
    def permanent(self) -> bool:
        """True when the mail must go back to its sender."""
        return self.state is SendState.REFUSED
