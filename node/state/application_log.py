"""The application log of a store: what an administrator of Exchange saw in the Event Viewer (spec: EV-1).

The table `KINDS` has every id with its level, its category and the diagnostics level from which Exchange writes it. For each
category of the store a setting says up to which diagnostics level entries are written; it can be changed while the store runs.
The texts about replication mail are in `node.state.application_log_texts`. An entry is written in the transaction of its cause,
so it is as durable as the state. The newest LOG_KEPT entries are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from traceback import extract_tb
from typing import Any, Final

from node.codec.items import ROOT, ROOT_TEXT, object_from_text
from node.codec.replication_message import MessageType, ReplicationMail
from node.errors import Misuse, described
from node.state import application_log_texts
from node.state.context import Context
from node.state.directory import DOUBLED, FAILS
from node.state.store_settings import Config
from node.state.version_profiles import LogForm
from topology.enums import ServerVersion
from topology.settings.spec import LEVEL_NAMES
from topology.settings.values import Settings
from traces.events import (
    AddressLacking,
    AddressMissing,
    ConflictArose,
    ContentResumed,
    ContentSuspended,
    EntryMade,
    Event,
    HopExpired,
    MailBad,
    ReplicaDropped,
    RequestRefused,
    SourceDown,
    TreeLacking,
    VersionFailed,
)
from traces.labtime import LabTime, format_instant
from transport.envelope import CommandRefused
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

ADD_ENTRY = Statement("INSERT INTO log (at, event, text) VALUES (?, ?, ?)")
FORGET_OLDEST = Statement("DELETE FROM log WHERE id <= ?")

LOG_KEPT: Final = 5_000
"""How many entries are kept. The oldest are deleted first."""

PRUNED_EVERY: Final = 64
"""Old entries are deleted each time this many new ones were written. So the log can exceed LOG_KEPT by this number."""

MAX_TEXT: Final = 8_000
"""Longest text of an entry, in characters."""

MAX_STACK: Final = 30
"""How many functions an entry 3079 names."""

INCOMING: Final = 10
"""The event id for an incoming mail is the event id for the outgoing mail plus this number [X]."""


class Level(StrEnum):
    INFORMATION = "Information"
    WARNING = "Warning"
    ERROR = "Error"


class Category(StrEnum):
    """The categories, as the diagnostics logging page of 2003 names them [X]. `category_on` has the names of other versions."""

    OUTGOING = "Replication Outgoing Messages"
    INCOMING = "Replication Incoming Messages"
    DIRECTORY = "Replication AD Updates"
    BACKFILL = "Replication Backfill"
    CONFLICTS = "Replication Conflicts"
    RETURNED = "Non-Delivery Reports"
    GENERAL = "Replication General"
    ERRORS = "Replication Errors"
    PROTOCOL = "SMTP Protocol"
    SERVICES = "Service Controller"


class Logging(IntEnum):
    """Diagnostics logging levels. Entries of level NONE are always written."""

    NONE = 0
    MINIMUM = 1
    MEDIUM = 3
    MAXIMUM = 5

    def on(self, version: ServerVersion) -> int:
        """Return the number of the version's level that lets such entries in: of its highest one for MAXIMUM."""
        return max(LEVEL_NAMES[version]) if self is Logging.MAXIMUM else self


OWN_SOURCE: Final = "pflab Public Store"
"""The source of entries whose ids are pflab's own."""

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LogKind:
    """One event id. `text` returns the lines of an entry in the form of a version, from the values given to `write`.

    source: None means the source of the version's public folder store
    """

    level: Level
    category: Category
    logging: Logging
    text: Callable[[LogForm, Values], Sequence[str]]
    source: str | None = None


def _of_mail(_: LogForm, values: Values) -> Sequence[str]:
    return list(values["lines"])


_OUT = LogKind(Level.INFORMATION, Category.OUTGOING, Logging.MAXIMUM, _of_mail)
_IN = LogKind(Level.INFORMATION, Category.INCOMING, Logging.MAXIMUM, _of_mail)

_OUT_IDS: Final[Mapping[tuple[MessageType, bool], int]] = {
    # The key: the type of the mail, and whether the mail is about the hierarchy [X, section 0].
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
        lambda form, v: [form.disabled.format_map(v)],
    ),
    1117: LogKind(  # [X, Q264317]
        Level.INFORMATION,
        Category.GENERAL,
        Logging.NONE,
        lambda _, v: [
            "The public database has been restored to an alternate server. This database will no longer be able to replicate"
            " with other public databases."
        ],
    ),
    3005: LogKind(
        Level.INFORMATION,
        Category.DIRECTORY,
        Logging.MEDIUM,
        lambda form, v: [form.removed.format_map(v)],
    ),
    3079: LogKind(
        Level.ERROR,
        Category.ERRORS,
        Logging.NONE,
        lambda form, v: [form.failed.format_map(v), *v["stack"], v["error"]],
    ),
    3085: LogKind(
        Level.ERROR,
        Category.ERRORS,
        Logging.NONE,
        lambda _, v: [
            "Error 0x8004010f occurred while generating an outgoing replication message.",
            f"Type: {v['type']}",
            f"The directory object of {', '.join(v['stores'])}, which holds a replica, names no public folder tree.",
        ],
    ),
    3089: LogKind(
        Level.WARNING,
        Category.ERRORS,
        Logging.MEDIUM,
        lambda form, v: [form.bad_mail.format_map(v), v["reason"]],
    ),
    3092: LogKind(
        Level.WARNING,
        Category.ERRORS,
        Logging.MEDIUM,
        lambda _, v: [
            "Error 1129 occurred while processing a replication event.",
            f"Folder: {v['folder']}",
            v["reason"],
        ],
    ),
    3116: LogKind(
        Level.INFORMATION,
        Category.GENERAL,
        Logging.NONE,
        lambda _, v: [f"Content backfill for {v['server']} was not sent: content replication is suspended."],
    ),
    3118: LogKind(
        Level.INFORMATION, Category.GENERAL, Logging.NONE, lambda _, v: ["Content replication is being suspended."]
    ),
    3119: LogKind(
        Level.INFORMATION, Category.GENERAL, Logging.NONE, lambda _, v: ["Content replication has been enabled again."]
    ),
    # The ids of these categories are not public [X, section 1.6], so they have ids of pflab's own.
    20001: LogKind(
        Level.INFORMATION,
        Category.BACKFILL,
        Logging.MEDIUM,
        lambda _, v: [
            "Changes of a public folder are missing and will be requested.",
            f"Folder: ({v['folder']}){v['path']}",
            f"Due: {format_instant(v['due_at'])}",
        ],
        OWN_SOURCE,
    ),
    20002: LogKind(
        Level.WARNING,
        Category.BACKFILL,
        Logging.MINIMUM,
        lambda _, v: [
            "A backfill request was not answered in time. The server is not asked again before all others.",
            f"Folder: ({v['folder']}){v['path']}",
            f"Server: {v['server']}",
        ],
        OWN_SOURCE,
    ),
    20003: LogKind(
        Level.WARNING,
        Category.CONFLICTS,
        Logging.MINIMUM,
        lambda _, v: [
            f"Concurrent {'changes of a folder' if 'lost' in v else 'versions of a message'} are in conflict.",
            f"Folder: ({v['folder']}){v['path']}",
            *([f"In force: {v['winner']}", f"Lost: {v['lost']}"] if "lost" in v else [f"MID: {v['message']}"]),
        ],
        OWN_SOURCE,
    ),
    20004: LogKind(
        Level.WARNING,
        Category.RETURNED,
        Logging.MINIMUM,
        lambda _, v: [
            f"A mail could not be delivered to {v['recipients']}.",
            f"Message ID: <{v['mail']}>",
            v["reason"],
        ],
        OWN_SOURCE,
    ),
    7004: LogKind(
        Level.ERROR,
        Category.PROTOCOL,
        Logging.NONE,
        lambda _, v: [
            f"This is an SMTP protocol error log for virtual server ID 1, connection #{v['connection']}."
            f' The remote host "{v["peer"]}", responded to the SMTP command "{v["verb"]}" with "{v["reply"]} ".'
            f' The full command sent was "{v["command"]} ". This will probably cause the connection to fail.'
        ],
        "MSExchangeTransport",
    ),
    # No event of Exchange is known for a store without an address, so it has an id of pflab's own (spec: ML-1).
    20005: LogKind(
        Level.WARNING,
        Category.GENERAL,
        Logging.NONE,
        lambda _, v: [
            f"A replication message of type {v['type']} was not sent to {', '.join(v['stores'])}:",
            "the directory object of the public folder store has no e-mail address.",
        ],
        OWN_SOURCE,
    ),
    8231: LogKind(  # [X, KB 286356] on the server that runs the service; in pflab in the log of every store
        Level.ERROR,
        Category.SERVICES,
        Logging.NONE,
        lambda _, v: [
            f"Permanent failure reported by policy group provider for '{v['policies']}':'MAD.EXE', error=8004010f."
            " Taking provider offline.",
        ],
        "MSExchangeAL",
    ),
    7010: LogKind(
        Level.ERROR,
        Category.PROTOCOL,
        Logging.NONE,
        lambda _, v: [
            f"This is an SMTP protocol log for virtual server ID 1, connection #{v['connection']}."
            f' The client at "{v["peer"]}" sent a "{v["verb"]}" command, and the SMTP server responded with'
            f' "{v["reply"]} ". The full command sent was "{v["command"]} ". This will probably cause the connection'
            " to fail."
        ],
        "MSExchangeTransport",
    ),
}
"""Every id of the log (spec: EV-1)."""


def is_logged(settings: Settings, event: int) -> bool:
    """Return whether the settings let an entry with this id be written."""
    kind = KINDS[event]
    return kind.logging.on(settings.version) <= settings.logging_level(kind.category)


def write(config: Config, conn: Connection, now: LabTime, event: int, values: Values) -> None:
    """Write one entry, if the level of its category lets it be written.

    Raise Misuse if the id is not in KINDS, or a value that its text needs is missing.
    """
    kind = KINDS.get(event)
    if kind is None:
        raise Misuse(f"the log has no event {event}; its events are {', '.join(map(str, sorted(KINDS)))}")
    if not is_logged(config.settings, event):
        return
    try:
        text_values = {"database": application_log_texts.database_name(config), **values}
        text = "\n".join(kind.text(config.profile.log, text_values))[:MAX_TEXT]
    except KeyError as error:
        raise Misuse(f"event {event} needs the value {error.args[0]}, which is missing") from None
    entry = conn.exec_driver_sql(ADD_ENTRY, (now, event, text)).lastrowid
    assert entry is not None
    if entry % PRUNED_EVERY == 0:
        conn.exec_driver_sql(FORGET_OLDEST, (entry - LOG_KEPT,))


def mail_out(ctx: Context, s: Stimulus, mail: ReplicationMail, stores: Sequence[str]) -> None:
    """Write the entry of a replication mail that was queued."""
    event = _id_of(mail)
    if is_logged(ctx.config.settings, event):
        lines = application_log_texts.outgoing(ctx, s.conn, mail, stores, s.trace.seq)
        write(ctx.config, s.conn, s.now, event, {"lines": lines})


def mail_in(ctx: Context, s: Stimulus, mail: ReplicationMail) -> None:
    """Write the entry of a replication mail that arrived, before it has any effect."""
    event = _id_of(mail) + INCOMING
    if is_logged(ctx.config.settings, event):
        lines = application_log_texts.incoming(ctx, s.conn, mail, s.trace.seq)
        write(ctx.config, s.conn, s.now, event, {"lines": lines})


def command_refused(ctx: Context, s: Stimulus, event: int, peer: str, refused: CommandRefused | None) -> None:
    """Write 7004 at the end that sent a refused SMTP command, or 7010 at the end that refused it."""
    if refused is None:
        return
    # The store knows no connection numbers, so the number of its next event is used.
    values = {"connection": s.trace.seq, "peer": peer, "reply": refused.reply, "command": refused.command}
    write(ctx.config, s.conn, s.now, event, {**values, "verb": refused.command.partition(" ")[0].lower()})


def _id_of(mail: ReplicationMail) -> int:
    about_tree = all(section.folder == ROOT for section in mail.sections)
    return _OUT_IDS.get((mail.type, about_tree)) or _OUT_IDS[mail.type, not about_tree]


def failure_values(error: BaseException) -> dict[str, Any]:
    """Return the values of an entry 3079 for an unexpected error: the functions that were running, innermost first."""
    names = [frame.name for frame in extract_tb(error.__traceback__)]
    return {"code": "0x80004005", "error": described(error), "stack": names[::-1][:MAX_STACK]}


# --- entries that follow from traced events


_TWO_OBJECTS: Final[Values] = {
    "code": "0x3f0",
    "stack": ("EcGetReplMsg", "EcReplStartup", "FReplAgent"),
    "error": "The directory has two objects of this public folder store.",
}
"""The values of an entry 3079 of a store with a second object in the directory [X, KB 272999]."""


def _missing_address(ctx: Context, conn: Connection, fields: Values) -> tuple[int, Values] | None:
    """Return the entry for a store without an address, if the recipient update service fails, or the directory has two objects
    of it."""
    del conn
    if fields["reason"] == DOUBLED:
        return 3079, _TWO_OBJECTS
    return (8231, {"policies": ctx.directory.policies_name}) if fields["reason"] == FAILS else None


def _unsent(ctx: Context, conn: Connection, fields: Values) -> Values:
    """Return the values of an entry about a mail that was not sent because of what the directory says of `stores`."""
    del conn
    return {
        "type": f"{fields['message_type']:#x}",
        "stores": [ctx.directory.distinguished_name(store) for store in fields["stores"]],
    }


_OF_EVENTS: Final[Mapping[type[Event], Callable[[Context, Connection, Values], tuple[int, Values] | None]]] = {
    AddressLacking: lambda ctx, conn, fields: (20005, _unsent(ctx, conn, fields)),
    # A store that does not support the tree is just no recipient of the hierarchy.
    TreeLacking: lambda ctx, conn, fields: (
        None if fields["folder"] == ROOT_TEXT else (3085, _unsent(ctx, conn, fields))
    ),
    AddressMissing: _missing_address,
    MailBad: lambda ctx, conn, fields: (3089, {"reason": fields["reason"]}),
    VersionFailed: lambda ctx, conn, fields: (
        3092,
        {"folder": fields.get("folder") or "(unknown)", "reason": fields["reason"]},
    ),
    ReplicaDropped: lambda ctx, conn, fields: (
        3005,
        application_log_texts.folder_values(ctx, conn, fields["folder"]),
    ),
    EntryMade: lambda ctx, conn, fields: (
        20001,
        {**application_log_texts.folder_values(ctx, conn, fields["folder"]), "due_at": fields["due_at"]},
    ),
    SourceDown: lambda ctx, conn, fields: (
        20002,
        {
            **application_log_texts.folder_values(ctx, conn, fields["folder"]),
            "server": application_log_texts.store_dn(ctx, fields["store"]),
        },
    ),
    ConflictArose: lambda ctx, conn, fields: (
        20003,
        {
            **application_log_texts.folder_values(ctx, conn, fields["folder"]),
            "message": application_log_texts.object_id(ctx, conn, object_from_text(fields["object"])),
        },
    ),
    HopExpired: lambda ctx, conn, fields: (
        20004,
        {"recipients": ", ".join(fields["recipients"]), "mail": fields["mail"], "reason": fields["reason"]},
    ),
    ContentSuspended: lambda ctx, conn, fields: (3118, {}),
    ContentResumed: lambda ctx, conn, fields: (3119, {}),
    RequestRefused: lambda ctx, conn, fields: (3116, {"server": fields["requester"]}),
}


def log_traced(
    ctx: Context, conn: Connection, now: LabTime, recorded: Iterable[tuple[type[Event], Mapping[str, Any]]]
) -> None:
    """Write the entries that follow from the events of a stimulus, at its end."""
    for kind, fields in recorded:
        entry_of = _OF_EVENTS.get(kind)
        entry = None if entry_of is None else entry_of(ctx, conn, fields)
        if entry is not None:
            write(ctx.config, conn, now, *entry)
