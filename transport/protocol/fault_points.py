"""The points at which a fault can act on a mail, and the decision that is made at each. Plain values.

A driver asks its lab for a decision (`Decide`) at four points:

    ==========  ==========================================================  ==========================================
    point       when                                                        what a fault can do
    ==========  ==========================================================  ==========================================
    BeforeSend  a mail is due and about to leave                            refuse, hold, divide, repeat or alter it
    AtVerb      a server has received a verb, from connect to end of data   answer otherwise, hang up, stay silent
    AtArrival   a server has received a mail and has not stored it          lose it
    AfterSend   the attempt has ended                                       nothing: the fault learns the result
    ==========  ==========================================================  ==========================================

The embedded driver and the simulator call the fault plan directly. A node in a separate process sends the point to the lab
as JSON and receives the decision as JSON; msgspec encodes and decodes both from the classes here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from traces.labtime import LabTime
from transport.envelope import Transmission


class Verb(StrEnum):
    """The steps of an SMTP dialogue, in their order.

    A fault at DATA acts on the command that begins the content, which is DATA or BDAT. A fault at BDAT acts only on BDAT. END
    is the answer to the whole content.
    """

    CONNECT = "connect"
    EHLO = "EHLO"
    STARTTLS = "STARTTLS"
    AUTH = "AUTH"
    MAIL = "MAIL"
    RCPT = "RCPT"
    XEXCH50 = "XEXCH50"
    DATA = "DATA"
    BDAT = "BDAT"
    END = "end of data"
    QUIT = "QUIT"


class Mishap(StrEnum):
    """The kinds of failure at a verb."""

    REPLY = "reply"
    DISCONNECT = "disconnect"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True)
class VerbFault:
    """The reaction of a server to a verb that it does not execute. `code` and `text` belong to a reply (4xx or 5xx)."""

    mishap: Mishap
    code: int = 0
    text: str = ""

    @property
    def line(self) -> str:
        """Return the reply line."""
        return f"{self.code} {self.text}"


OnVerb = Callable[[str, Verb], Awaitable[VerbFault | None]]
"""Returns the fault that acts on a verb of the named peer. The listener calls this once for each verb that it accepts."""


# --- the points, and the decision


QueueRow = tuple[str, int, str]
"""The identity of a mail in a queue: the server, the queue id, the message id."""


class _Attempt(msgspec.Struct, frozen=True):
    server: str
    """The sending server."""
    transmission: Transmission

    @property
    def row(self) -> QueueRow:
        return self.server, self.transmission.queue_id, self.transmission.message_id


class BeforeSend(_Attempt, frozen=True, tag=True):
    """A mail is about to leave. `now` is the time of the server's own clock."""

    now: LabTime


class AfterSend(_Attempt, frozen=True, tag=True):
    """An attempt has ended. The decision has no effect. A fault learns at this point that its mail was delivered."""

    delivered: bool


class AtArrival(msgspec.Struct, frozen=True, tag=True):
    """A server has received a whole mail and has not stored it yet."""

    server: str
    sender: str
    recipients: tuple[str, ...]
    subject: str
    message_id: str = ""


class AtVerb(msgspec.Struct, frozen=True, tag=True):
    """A server has received a verb, or a connection, from `peer` and has not answered yet."""

    peer: str
    server: str
    verb: Verb
    now: LabTime


FaultPoint = BeforeSend | AfterSend | AtArrival | AtVerb


BODY: Final = "body"
"""The part of a mail below its header, which a fault can alter."""


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What faults do at one point. Each field belongs to one kind of point. The defaults mean that nothing goes wrong."""

    refuse: str | None = None
    """Before a send: the reason why the server must not connect."""
    apart: tuple[str, ...] = ()
    """Before a send: give these recipients their own copy first, and decide about both copies again."""
    hold_until_at: LabTime | None = None
    """Before a send: keep the mail in the queue until this time."""
    copies: int = 1
    """Before a send: send the mail this many times."""
    fresh: bool = False
    """Before a send: use a new connection, so that a fault at its first verbs acts."""
    alter: tuple[str, ...] = ()
    """Before a send: alter these parts of the mail, BODY or names of header fields (transport.mime.tamper)."""
    lost_by: str | None = None
    """At arrival: the id of the fault that loses the mail."""
    at_verb: VerbFault | None = None
    """At a verb: what the server does instead of executing it."""


GO: Final = Decision()
"""Nothing goes wrong."""

Decide = Callable[[FaultPoint], Decision | Awaitable[Decision]]
"""Returns the decision for one point; an awaitable if another process decides."""


async def decided(decision: Decision | Awaitable[Decision]) -> Decision:
    """Return the decision; wait for it if another process makes it."""
    return decision if isinstance(decision, Decision) else await decision
