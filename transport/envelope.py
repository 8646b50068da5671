"""The values that the MTA gets and returns: mails, hops, transmissions and their outcomes.

They are structs of msgspec: each mail makes about ten of them, and a frozen dataclass takes ten times as long to make.
"""

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from traces.labtime import LabTime
from transport.errors import TransportError


class Priority(IntEnum):
    """Priority of a mail, numbered as MAPI's PR_PRIORITY is."""

    # spec: OUT-8
    NOT_URGENT = -1
    NORMAL = 0
    URGENT = 1


class RefusalError(TransportError):
    """This server does not accept a mail or a recipient. The SMTP reply has `code` (4xx or 5xx) and `text`."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code} {text}")
        self.code = code
        self.text = text


class UnknownRecipientError(RefusalError):
    """Recipients belong to no server of the organization. Mail to other addresses is not relayed.

    `addresses` are the unknown addresses, in the order of the mail.
    """

    # spec: ML-7
    def __init__(self, addresses: Sequence[str]) -> None:
        super().__init__(550, f"5.1.1 no such address in this organization: {', '.join(addresses)}")
        self.addresses = tuple(addresses)


class OutgoingMail(msgspec.Struct, frozen=True):
    """A mail that a store hands to its MTA. `content` is the whole mail with CRLF line ends. An empty `sender` is the null
    sender.
    """

    message_id: str
    sender: str
    recipients: tuple[str, ...]
    content: bytes
    priority: Priority
    subject: str
    system: bool = False
    """A replication mail: XEXCH50 must mark it as a system message on every hop (ML-3)."""


class Header(msgspec.Struct, frozen=True):
    """Facts about the header of an arriving mail; `transport.mime.headers.scan_header` finds them in one scan.

    `size`: bytes of the header block without the empty line.
    `subject`: its first line, as written.
    `message_id`: without angle brackets.
    `hops`: number of Received fields.
    """

    size: int
    subject: str
    message_id: str
    hops: int


class IncomingMail(msgspec.Struct, frozen=True):
    """A mail that arrived by SMTP, with the scan of its header."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes
    header: Header


class CommandRefused(msgspec.Struct, frozen=True):
    """A command that a server refused, as both servers log it: the whole command line and the whole reply."""

    command: str
    reply: str


class IncomingHop(msgspec.Struct, frozen=True):
    """The facts that a server knows about the SMTP hop by which a mail arrived.

    ===============  ==========================================================================================
    peer             name of the sending server; its HELO name if it is not a server of a lab
    sent_at          lab time at which the peer sent the mail; None if unknown
    lamport          Lamport number of the peer at that time; 0 if unknown
    authenticated    whether the peer proved that it is the store `peer`
    system           XEXCH50 said that the mail is a system message; otherwise it is ordinary mail, whatever its
                     content (spec: ML-3)
    refused          the XEXCH50 command that was refused
    ===============  ==========================================================================================
    """

    peer: str
    sent_at: LabTime | None
    lamport: int
    priority: Priority = Priority.NORMAL
    authenticated: bool = False
    system: bool = False
    refused: CommandRefused | None = None


class LocalDelivery(msgspec.Struct, frozen=True):
    """A mail for recipients on this server.

    `hop` is None if the mail came from this server itself.

    `system`: whether the mail may be a replication mail.
    """

    recipients: tuple[str, ...]
    sender: str
    content: bytes
    message_id: str
    hop: IncomingHop | None
    system: bool = False
    subject: str = ""


class Transmission(msgspec.Struct, frozen=True):
    """One copy of a mail that is due to be sent to the next server.

    `sent_at` is the lab time of this attempt, `lamport` the Lamport number under which the mail was queued, and `attempts` the
    number of earlier attempts, which failed.

    `system`: XEXCH50 must mark it as a system message. `queue_id` identifies the queue row for `concluded` and `hold`.
    """

    queue_id: int
    next_hop: str
    connector: str | None
    sender: str
    recipients: tuple[str, ...]
    content: bytes
    message_id: str
    subject: str
    attempts: int
    priority: Priority
    sent_at: LabTime
    lamport: int
    system: bool = False
    x400: bool = False
    """It crosses an X.400 connector, where XEXCH50 does not exist (RT-1)."""
    relay: str | None = None
    """host:port of the foreign mail server that takes it to the next hop, if there is one (ML-6)."""
    links: tuple[str, ...] = ()
    """The sender's reports of links, for an authenticated peer (RT-2)."""

    @property
    def outside(self) -> tuple[str, int] | None:
        """Return host and port of the relay or smart host that gets the mail; None if a server of the organization gets it.

        The next hop is a smart host if it is given as `host:port`; the name of a server has no colon.
        """
        # spec: ML-5, ML-6
        host, colon, port = (self.relay or self.next_hop).rpartition(":")
        return (host.strip("[]"), int(port)) if colon else None

    @property
    def is_call(self) -> bool:
        """True if this is a call, which has no mail and only reports links."""
        return not self.recipients

    def hop_from(self, server: str, *, authenticated: bool = False) -> IncomingHop:
        """Return the hop as the receiving server sees it if `server` sends it.

        Only authenticated peers may say by XEXCH50 that a mail is a system message.
        """
        # spec: ML-3
        return IncomingHop(
            server, self.sent_at, self.lamport, self.priority, authenticated, authenticated and self.system
        )


class Offers(msgspec.Struct, frozen=True):
    """What a server offers in its answer to EHLO.

    `authentication`: AUTH for stores; a server without AUTH refuses XEXCH50.
    `chunking`: CHUNKING and BINARYMIME.
    """

    # spec: ML-3, ML-4
    authentication: bool = True
    chunking: bool = True


class SendState(StrEnum):
    """The result of an attempt to send."""

    DELIVERED = "delivered"
    DEFERRED = "deferred"
    REFUSED = "refused"


class RecipientRefusal(msgspec.Struct, frozen=True):
    """One recipient that the peer refused. The peer may have accepted other recipients."""

    address: str
    reason: str
    permanent: bool


SENT_AS_ORDINARY: Final = "it was sent as ordinary mail"
"""Text after the peer's answer, in the reason of a refusal, if the refused system message had lost its XEXCH50."""


class SendOutcome(msgspec.Struct, frozen=True):
    """The end of one attempt to send.

    =========  ======================================================================================
    DELIVERED  the peer answered 250 after the content, for every recipient that is not in `refusals`
    DEFERRED   try again later
    REFUSED    trying again is useless
    =========  ======================================================================================

    `reason` repeats the peer's answer or the error.
    """

    # spec: IN-2
    state: SendState
    reason: str = ""
    refusals: tuple[RecipientRefusal, ...] = ()
    ordinary: str = ""
    """Why a system message was delivered as ordinary mail (ML-3); '' if it was delivered as a system message."""
    refused: CommandRefused | None = None
    """The XEXCH50 command that the peer refused for a delivered mail."""
    begun_at: LabTime | None = None
    """The lab time at which the attempt began; None if it began and ended at one instant."""
    unreachable: bool = False
    """Whether the attempt failed because nobody answered, and not because the peer refused (RT-2)."""

    def explained(self, ordinary: str) -> "SendOutcome":
        """Return the outcome of a refusal with the reason why a system message was sent as ordinary mail (ML-3), if it was.

        The limits for users' mail apply to such a mail (OUT-7).
        """
        return replace(self, reason=f"{self.reason}; {SENT_AS_ORDINARY}: {ordinary}") if ordinary else self

    @property
    def permanent(self) -> bool:
        """True if the mail must go back to its sender."""
        return self.state is SendState.REFUSED
