"""The application log of a store: what an administrator of the original would have found in the Event Viewer (spec: EV-1).

The table `KINDS` has every id with its level, category and the diagnostics level at which the original writes it; the texts
of replication mail are in `node.state.application_log_texts`. An entry is written in the transaction of what it tells
of, so the log survives
whatever the store survives; it is pruned to the newest LOG_KEPT. What only the transport or an administrator knows
is written by `write` with the id and its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from traceback import extract_tb
from typing import Any, Final

from node.codec.items import ROOT
from node.codec.replication_message import MessageType, ReplicationMail
from node.errors import Misuse, described
from node.state import application_log_texts
from node.state.context import Context
from traces import LabTime
from traces.events import (
    ContentResumed,
    ContentSuspended,
    Event,
    MailBad,
    ReplicaDropped,
    RequestRefused,
    VersionFailed,
)
from transport.envelope import CommandRefused
from transport.sql import Connection
from transport.stimulus import Stimulus

LOG_KEPT: Final = 5_000
"""Entries that are kept; the oldest go first."""

PRUNED_EVERY: Final = 64
"""At so many new entries the oldest are looked for; up to as many more than LOG_KEPT may stand meanwhile."""

MAX_TEXT: Final = 8_000
"""Characters of an entry's text."""

MAX_STACK: Final = 30
"""Functions that 3079 names."""

INCOMING: Final = 10
"""An incoming mail's id is that of the outgoing one and ten more [X]."""


class Level(StrEnum):
    INFORMATION = "Information"
    WARNING = "Warning"
    ERROR = "Error"


class Category(StrEnum):
    """As the diagnostics logging page of 2003 names them [X]."""

    OUTGOING = "Replication Outgoing Messages"
    INCOMING = "Replication Incoming Messages"
    DIRECTORY = "Replication AD Updates"
    GENERAL = "Replication General"
    ERRORS = "Replication Errors"
    PROTOCOL = "SMTP Protocol"


class Logging(IntEnum):
    """Diagnostics logging levels; what has a higher one is not written by an original that was not told to."""

    NONE = 0
    MINIMUM = 1
    MEDIUM = 3
    MAXIMUM = 5


Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LogKind:
    """One event id. `text`: its lines, from the values that whoever writes it gives."""

    level: Level
    category: Category
    logging: Logging
    text: Callable[[Values], Sequence[str]]
    source: str = "MSExchangeIS Public Store"


def _of_mail(values: Values) -> Sequence[str]:
    return list(values["lines"])


_OUT = LogKind(Level.INFORMATION, Category.OUTGOING, Logging.MAXIMUM, _of_mail)
_IN = LogKind(Level.INFORMATION, Category.INCOMING, Logging.MAXIMUM, _of_mail)

_OUT_IDS: Final[Mapping[tuple[MessageType, bool], int]] = {
    # By type, and whether it is about the hierarchy; both where the type says so itself [X, section 0].
    (MessageType.HIERARCHY, True): 3018,
    (MessageType.CONTENT, False): 3020,
    (MessageType.BACKFILL_REQUEST, True): 3014,
    (MessageType.BACKFILL_REQUEST, False): 3016,
    (MessageType.STATUS, True): 3017,
    (MessageType.STATUS, False): 3017,
    (MessageType.STATUS_REQUEST, True): 3017,
    (MessageType.STATUS_REQUEST, False): 3017,
    (MessageType.HIERARCHY_RESPONSE, True): 3019,
    (MessageType.CONTENT_RESPONSE, False): 3021,
}

KINDS: Final[Mapping[int, LogKind]] = {
    **dict.fromkeys(sorted({*_OUT_IDS.values()}), _OUT),
    **{id_ + INCOMING: _IN for id_ in sorted({*_OUT_IDS.values()})},
    3002: LogKind(
        Level.WARNING,
        Category.GENERAL,
        Logging.NONE,
        lambda v: [f'The replication agent is disabled for Public Folder Store "{v["database"]}".'],
    ),
    3005: LogKind(
        Level.INFORMATION,
        Category.DIRECTORY,
        Logging.MEDIUM,
        lambda v: [f"A replica of public folder ({v['folder']}) {v['path']} was removed."],
    ),
    3079: LogKind(
        Level.ERROR,
        Category.ERRORS,
        Logging.NONE,
        lambda v: [f"Unexpected replication thread error {v['code']} ({v['error']}).", *v["stack"]],
    ),
    3089: LogKind(
        Level.WARNING,
        Category.ERRORS,
        Logging.MEDIUM,
        lambda v: ["Error 0x8004010f occurred while processing an incoming replication message.", v["reason"]],
    ),
    3092: LogKind(
        Level.WARNING,
        Category.ERRORS,
        Logging.MEDIUM,
        lambda v: ["Error 1129 occurred while processing a replication event.", f"Folder: {v['folder']}", v["reason"]],
    ),
    3116: LogKind(
        Level.INFORMATION,
        Category.GENERAL,
        Logging.NONE,
        lambda v: [f"Content backfill for {v['server']} was not sent: content replication is suspended."],
    ),
    3118: LogKind(
        Level.INFORMATION, Category.GENERAL, Logging.NONE, lambda v: ["Content replication is being suspended."]
    ),
    3119: LogKind(
        Level.INFORMATION, Category.GENERAL, Logging.NONE, lambda v: ["Content replication has been enabled again."]
    ),
    7004: LogKind(
        Level.ERROR,
        Category.PROTOCOL,
        Logging.NONE,
        lambda v: [
            f"This is an SMTP protocol error log for virtual server ID 1, connection #{v['connection']}."
            f' The remote host "{v["peer"]}", responded to the SMTP command "{v["verb"]}" with "{v["reply"]} ".'
            f' The full command sent was "{v["command"]} ". This will probably cause the connection to fail.'
        ],
        "MSExchangeTransport",
    ),
    7010: LogKind(
        Level.ERROR,
        Category.PROTOCOL,
        Logging.NONE,
        lambda v: [
            f"This is an SMTP protocol log for virtual server ID 1, connection #{v['connection']}."
            f' The client at "{v["peer"]}" sent a "{v["verb"]}" command, and the SMTP server responded with'
            f' "{v["reply"]} ". The full command sent was "{v["command"]} ". This will probably cause the connection'
            " to fail."
        ],
        "MSExchangeTransport",
    ),
}
"""Every id that the log knows (spec: EV-1)."""


def write(conn: Connection, now: LabTime, event: int, values: Values) -> None:
    """One entry. Misuse for an id that is not in KINDS, or values that its text does not find."""
    kind = KINDS.get(event)
    if kind is None:
        raise Misuse(f"event {event} is none of the log's; those are {', '.join(map(str, sorted(KINDS)))}")
    try:
        text = "\n".join(kind.text(values))[:MAX_TEXT]
    except KeyError as missing:
        raise Misuse(f"event {event} tells of {missing.args[0]}, which was not given") from None
    entry = conn.exec_driver_sql("INSERT INTO log (at, event, text) VALUES (?, ?, ?)", (now, event, text)).lastrowid
    assert entry is not None
    if entry % PRUNED_EVERY == 0:
        conn.exec_driver_sql("DELETE FROM log WHERE id <= ?", (entry - LOG_KEPT,))


def mail_out(ctx: Context, s: Stimulus, mail: ReplicationMail, stores: Sequence[str]) -> None:
    """A replication mail was queued."""
    write(s.conn, s.now, _id_of(mail), {"lines": application_log_texts.outgoing(ctx, s.conn, mail, stores)})


def mail_in(ctx: Context, s: Stimulus, mail: ReplicationMail) -> None:
    """A replication mail was unpacked, before anything was done with it."""
    write(s.conn, s.now, _id_of(mail) + INCOMING, {"lines": application_log_texts.incoming(ctx, s.conn, mail)})


def command_refused(s: Stimulus, event: int, peer: str, refused: CommandRefused | None) -> None:
    """7004 at the end that sent a command, 7010 at the one that refused it; nothing when none was refused."""
    if refused is None:
        return
    # Of connections a store without sockets knows nothing: the number of its next event is as much its own.
    values = {"connection": s.trace.seq, "peer": peer, "reply": refused.reply, "command": refused.command}
    write(s.conn, s.now, event, {**values, "verb": refused.command.partition(" ")[0].lower()})


def _id_of(mail: ReplicationMail) -> int:
    about_tree = all(section.folder == ROOT for section in mail.sections)
    return _OUT_IDS.get((mail.type, about_tree)) or _OUT_IDS[mail.type, not about_tree]


def failure_values(error: BaseException) -> dict[str, Any]:
    """What 3079 tells of an error that nobody expected: the names of the functions that were at work, innermost first."""
    names = [frame.name for frame in extract_tb(error.__traceback__)]
    return {"code": "0x80004005", "error": described(error), "stack": names[::-1][:MAX_STACK]}


# --- entries made of what a stimulus traced


def _bad(ctx: Context, conn: Connection, fields: Values) -> tuple[int, Values]:
    del ctx, conn
    return 3089, {"reason": fields["reason"]}


def _failed(ctx: Context, conn: Connection, fields: Values) -> tuple[int, Values]:
    del ctx, conn
    return 3092, {"folder": fields.get("folder") or "(unknown)", "reason": fields["reason"]}


def _dropped(ctx: Context, conn: Connection, fields: Values) -> tuple[int, Values]:
    return 3005, application_log_texts.folder_values(ctx, conn, fields["folder"])


_OF_EVENTS: Final[Mapping[type[Event], Callable[[Context, Connection, Values], tuple[int, Values]]]] = {
    MailBad: _bad,
    VersionFailed: _failed,
    ReplicaDropped: _dropped,
    ContentSuspended: lambda ctx, conn, fields: (3118, {}),
    ContentResumed: lambda ctx, conn, fields: (3119, {}),
    RequestRefused: lambda ctx, conn, fields: (3116, {"server": fields["requester"]}),
}


def log_traced(
    ctx: Context, conn: Connection, now: LabTime, recorded: Iterable[tuple[type[Event], Mapping[str, Any]]]
) -> None:
    """The entries that follow from the events of a stimulus, at its end."""
    for kind, fields in recorded:
        tell = _OF_EVENTS.get(kind)
        if tell is not None:
            event, values = tell(ctx, conn, fields)
            write(conn, now, event, values)
