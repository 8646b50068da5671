"""Reports that a connector is down or up again, as values and as lines of text.

    C: X-LINK2STATE <instant> <lamport> <down or up> <server> <connector in base64>
    S: 250 2.0.0 OK

Exchange 2000 and 2003 exchange the state of links by this verb [reference/exchange.md 3.1]. The real argument is not public,
so this one is ours: one line for each report, also for reports of other servers. A server accepts reports only from an
authenticated store. Only a later report of the same server on the same connector replaces a report. So a report may arrive by
any path and any number of times.

# spec: RT-2
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from traces.labtime import LabTime
from transport.protocol.hop_headers import MAX_LAMPORT, MAX_SENT_AT

VERB: Final = "X-LINK2STATE"

LINE_LIMIT_BYTES: Final = 1024
"""Longest line, command included [reference/exchange.md 3.1]."""

_LINE: Final = re.compile(r"([0-9]{1,18}) ([0-9]{1,15}) (down|up) ([A-Za-z0-9-]{1,63}) ([A-Za-z0-9+/=]{4,800})")


class LinkRule(Enum):
    """How a server treats a connector that is down. Each version of Exchange has one of these rules."""

    IGNORED = "links are not watched, mail waits for its connector"  # 5.5 and 2007 have no link state
    TOLD = "a link that is down is no route"  # 2000
    TOLD_IF_ANOTHER_WAY = "a link that is down is passed by; the only way always counts as up"  # 2003


@dataclass(frozen=True, slots=True)
class LinkReport:
    """The state of `connector` that `server`, at one of its ends, reported at `at`, under its Lamport number `lamport`."""

    connector: str
    server: str
    at: LabTime
    down: bool
    lamport: int = 0


def line_of(report: LinkReport) -> str:
    """Return a report as the argument of the verb."""
    name = b64encode(report.connector.encode()).decode("ascii")
    return f"{report.at} {report.lamport} {'down' if report.down else 'up'} {report.server} {name}"


def read_line(line: str | None) -> LinkReport | None:
    """Return the report of a line; None if the line is malformed."""
    match = _LINE.fullmatch(line) if line else None
    if match is None:
        return None
    try:
        connector = b64decode(match[5], validate=True).decode()
    except (Base64Error, ValueError):
        return None
    at, lamport = int(match[1]), int(match[2])
    if at > MAX_SENT_AT or lamport > MAX_LAMPORT:
        return None
    return LinkReport(connector, match[4], at, match[3] == "down", lamport)


def reports_of(lines: Iterable[str]) -> list[LinkReport]:
    """Return the reports of the well-formed lines."""
    return [report for line in lines if (report := read_line(line)) is not None]
