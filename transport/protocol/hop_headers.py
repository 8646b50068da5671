"""The header lines that a hop adds, written and read as bytes: `X-Pflab-Hop` and `Received`.

The sending server puts one line on top of the mail. The line is not signed and not stored:

    X-Pflab-Hop: server=A; sent=1066694400000000; lamport=17; priority=1

========  ============================================================
server    name of the sending server
sent      lab time in microseconds
lamport   Lamport number of the sender's queue row
priority  left out if normal
========  ============================================================

Later versions may add parts, which are ignored. The receiving server removes the line, so a mail never carries more than one.
An ordinary mail server on the way may put lines of its own above this line.

The line proves nothing; only a signature proves who sent a mail. So every value is bounded, and a malformed line is
ignored.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from traces.labtime import SECOND_US, LabTime
from transport.envelope import IncomingHop, IncomingMail, Priority

MAX_NAME_BYTES: Final = 255
"""Longest server or HELO name that a header line repeats (RFC 5321 4.5.3.1.2)."""

MAX_SENT_AT: Final = 253_402_300_799_999_999
"""The last microsecond of the year 9999, the latest time of a lab clock."""

_HOP = re.compile(
    rb"^X-Pflab-Hop: server=([\x21-\x3a\x3c-\x7e]{1,%d}); sent=([0-9]{1,18}); lamport=([0-9]{1,15})"
    rb"(?:; priority=(-1|1))?(?:; [\x20-\x7e]{0,200})?\r\n" % MAX_NAME_BYTES,
    re.MULTILINE,
)
_UNPRINTABLE = re.compile(r"[^\x21-\x3a\x3c-\x7e]")
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def rfc5322_date(at: LabTime) -> str:
    """Return a lab time as mail headers write it, to the second: `Tue, 21 Oct 2003 00:15:00 +0000`.

    Raise OverflowError beyond the year 9999.
    """
    # spec: TM-2
    return _date_of_second(at // SECOND_US)


@lru_cache(maxsize=64)  # many mails cross at one instant of lab time
def _date_of_second(second: int) -> str:
    when = EPOCH + timedelta(seconds=second)
    return (
        f"{DAYS[when.weekday()]}, {when.day:02} {MONTHS[when.month - 1]} {when.year:04} "
        f"{when.hour:02}:{when.minute:02}:{when.second:02} +0000"
    )


MAX_LAMPORT: Final = 10**12
"""Largest Lamport number that is accepted from another server; no lab reaches it."""

MAX_LEAP: Final = 10**7
"""How far a Lamport number from a hop without authentication may be ahead of this server's number. There is a limit because
anybody can write such a line. A replication mail repeats its sender's number under its signature.
"""


def believed_lamport(hop: IncomingHop, own: int) -> int:
    """Return the Lamport number of a hop; 0 if it is too high to be believed. `own` is this server's Lamport number."""
    return hop.lamport if hop.lamport <= (MAX_LAMPORT if hop.authenticated else min(MAX_LAMPORT, own + MAX_LEAP)) else 0


def hop_line(server: str, sent_at: LabTime, lamport: int, priority: Priority = Priority.NORMAL) -> bytes:
    """Return the `X-Pflab-Hop` line that `server` puts on top of a mail."""
    urgency = "" if priority is Priority.NORMAL else f"; priority={int(priority)}"
    return f"X-Pflab-Hop: server={_token(server)}; sent={sent_at}; lamport={lamport}{urgency}\r\n".encode("ascii")


def take_hop_line(mail: IncomingMail) -> tuple[IncomingHop | None, IncomingMail]:
    """Return the first well-formed `X-Pflab-Hop` line of a mail, and the mail without it.

    If there is none, return None and the mail as it came.
    """
    content, header = mail.content, mail.header
    match = _HOP.search(content, 0, header.size)
    if match is None:
        return None, mail
    sent_at = int(match[2])
    if sent_at > MAX_SENT_AT:
        return None, mail
    priority = Priority(int(match[4])) if match[4] else Priority.NORMAL
    hop = IncomingHop(match[1].decode("ascii"), sent_at, int(match[3]), priority)
    start, end = match.span()
    remainder = content[end:] if start == 0 else content[:start] + content[end:]
    return hop, replace(mail, content=remainder, header=replace(header, size=header.size - (end - start)))


def received_line(peer: str, server: str, at: LabTime) -> bytes:
    """Return the `Received` line that `server` puts on top of a mail that it accepts from `peer` at lab time `at`."""
    # spec: ML-7
    return f"Received: from {_token(peer)} by {_token(server)} with ESMTP; {rfc5322_date(at)}\r\n".encode("ascii")


def _token(name: str) -> str:
    """Return any name that a peer gave itself as one word of a header line."""
    return _UNPRINTABLE.sub("?", name)[:MAX_NAME_BYTES] or "unknown"
