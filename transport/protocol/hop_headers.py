"""The header lines that a hop adds, written and read as bytes: `X-Pflab-Hop` and `Received`.

The sending side puts one line on top of what it sends, outside everything that is signed or stored:

    X-Pflab-Hop: server=A; sent=1066694400000000; lamport=17; priority=1

`sent` is lab time in microseconds, `lamport` the Lamport number of the sender's queue row; `priority` is
left out when normal, and names of later versions may follow. The receiving side takes the line off again,
so a mail never carries more than one; an ordinary mail server in between may put lines of its own above it.
The line is a courtesy between servers, not a proof: who really sent a mail is for its signature to say, so
everything here is bounded and an odd line counts as none.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from traces.labtime import SECOND_US, LabTime
from transport.envelope import IncomingHop, Priority

HEADER_LIMIT_BYTES: Final = 256 * 1024
"""How far into a mail its header is looked for. Ours have a few hundred bytes; our own lines are always on
top.
"""

MAX_NAME_BYTES: Final = 255
"""Longest server or HELO name that is repeated in a header line (RFC 5321 4.5.3.1.2)."""

MAX_SENT_AT: Final = 253_402_300_799_999_999
"""The last microsecond of the year 9999, beyond which no lab clock goes."""

_HOP = re.compile(
    rb"^X-Pflab-Hop: server=([\x21-\x3a\x3c-\x7e]{1,%d}); sent=([0-9]{1,18}); lamport=([0-9]{1,15})"
    rb"(?:; priority=(-1|1))?(?:; [\x20-\x7e]{0,200})?\r\n" % MAX_NAME_BYTES,
    re.MULTILINE,
)
_UNPRINTABLE = re.compile(r"[^\x21-\x3a\x3c-\x7e]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def rfc5322_date(at: LabTime) -> str:
    """A lab time as mail headers write it, to the second: `Tue, 21 Oct 2003 00:15:00 +0000`."""
    # spec: TM-2
    return _date_of_second(at // SECOND_US)


@lru_cache(maxsize=64)  # many mails cross at one instant of lab time
def _date_of_second(second: int) -> str:
    when = _EPOCH + timedelta(seconds=second)
    return (
        f"{_DAYS[when.weekday()]}, {when.day:02} {_MONTHS[when.month - 1]} {when.year:04} "
        f"{when.hour:02}:{when.minute:02}:{when.second:02} +0000"
    )


def header_of(content: bytes) -> bytes:
    """The header lines of a mail with their line ends, without the empty line; at most
    `HEADER_LIMIT_BYTES`.
    """
    if content.startswith(b"\r\n"):
        return b""
    end = content.find(b"\r\n\r\n", 0, HEADER_LIMIT_BYTES)
    return content[: end + 2] if end >= 0 else content[:HEADER_LIMIT_BYTES]


MAX_LAMPORT: Final = 10**12
"""Lamport numbers above it are not taken from other servers: a lab never gets there, and digits stay within the line."""


MAX_LEAP: Final = 10**7
"""How far ahead of our own a Lamport number may be that comes over a hop without authentication: anybody may have written
it. Replication mail says its sender's once more, under its signature.
"""


def believed_lamport(hop: IncomingHop, own: int) -> int:
    """The Lamport number that a hop tells, 0 for one that is not believed; `own` is the highest known here."""
    return hop.lamport if hop.lamport <= (MAX_LAMPORT if hop.authenticated else min(MAX_LAMPORT, own + MAX_LEAP)) else 0


def hop_line(server: str, sent_at: LabTime, lamport: int, priority: Priority = Priority.NORMAL) -> bytes:
    """The `X-Pflab-Hop` line that `server` puts on top of what it sends."""
    urgency = "" if priority is Priority.NORMAL else f"; priority={int(priority)}"
    return f"X-Pflab-Hop: server={_token(server)}; sent={sent_at}; lamport={lamport}{urgency}\r\n".encode("ascii")


def take_hop_line(content: bytes) -> tuple[IncomingHop | None, bytes]:
    """The topmost well-formed `X-Pflab-Hop` line of a mail, and the mail without it.

    None, and the mail as it came, when there is none.
    """
    match = _HOP.match(content) or _HOP.search(header_of(content))
    if match is None:
        return None, content
    sent_at = int(match[2])
    if sent_at > MAX_SENT_AT:
        return None, content
    priority = Priority(int(match[4])) if match[4] else Priority.NORMAL
    hop = IncomingHop(match[1].decode("ascii"), sent_at, int(match[3]), priority)
    start, end = match.span()
    return hop, content[end:] if start == 0 else content[:start] + content[end:]


def received_line(peer: str, server: str, at: LabTime) -> bytes:
    """The `Received` line that `server` puts on top of a mail it takes from `peer` at lab time `at`."""
    # spec: ML-7
    return f"Received: from {_token(peer)} by {_token(server)} with ESMTP; {rfc5322_date(at)}\r\n".encode("ascii")


def count_received(content: bytes) -> int:
    """How many hops a mail says that it has behind it."""
    # spec: ML-7
    header = header_of(content).lower()
    return header.count(b"\nreceived:") + header.startswith(b"received:")


def _token(name: str) -> str:
    """A name as one word of a header line, whatever a peer called itself."""
    return _UNPRINTABLE.sub("?", name)[:MAX_NAME_BYTES] or "unknown"
