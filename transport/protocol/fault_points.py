"""The steps of an SMTP dialogue at which a lab makes it go wrong, and what then happens. Plain values.

Where a fault acts is decided elsewhere: a listener asks at each verb (`OnVerb`), and so does whoever replaces sockets.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum


class Verb(StrEnum):
    """The steps, in the order of a dialogue.

    DATA is the command that begins the content, be it DATA or BDAT; BDAT is that one alone. END is the answer to the
    whole content.
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
    """What happens at a verb."""

    REPLY = "reply"
    DISCONNECT = "disconnect"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True)
class VerbFault:
    """What a server does at a verb in place of its duty. `code` and `text` are those of a reply (4xx or 5xx)."""

    mishap: Mishap
    code: int = 0
    text: str = ""

    @property
    def line(self) -> str:
        """The reply line."""
        return f"{self.code} {self.text}"


Foreseen = VerbFault | Awaitable[VerbFault | None] | None
"""What goes wrong, at once or when somebody has been asked; None: nothing."""

OnVerb = Callable[[str, Verb], Foreseen]
"""What goes wrong at a verb of the peer that calls itself so. Asked once for each verb that is met."""


async def fault_of(foreseen: Foreseen) -> VerbFault | None:
    """What goes wrong, waited for if need be."""
    if foreseen is None or isinstance(foreseen, VerbFault):
        return foreseen
    return await foreseen
