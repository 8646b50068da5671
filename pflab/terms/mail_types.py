"""The types of replication mail and its marks, as events say them; for all who judge or tell of a run.

They are written here a second time on purpose: who judges shares no code with the agent (CV-2). `tests/pflab/terms` holds the
two to one list.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class MailKind(IntEnum):
    """`message_type` of events about mails."""  # spec: OUT-6

    HIERARCHY = 0x2
    CONTENT = 0x4
    BACKFILL_REQUEST = 0x8
    STATUS = 0x10
    STATUS_REQUEST = 0x20
    HIERARCHY_RESPONSE = 0x80000002
    CONTENT_RESPONSE = 0x80000004


class Mark(StrEnum):
    """An entry of `marks` of events about mails."""

    REPEAT = "repeat"
    NO_REPLICA = "no replica"
    DELETE_PENDING = "delete-pending"
    ALL_RESPOND = "all respond"
    RETAINED = "retained"


BROADCASTS = frozenset({MailKind.HIERARCHY, MailKind.CONTENT})
RESPONSES = frozenset({MailKind.HIERARCHY_RESPONSE, MailKind.CONTENT_RESPONSE})
UPDATES = BROADCASTS | RESPONSES
"""Types of mails that bring versions."""

_NAMES: dict[int, str] = {kind: kind.name.lower().replace("_", " ") for kind in MailKind}


def mail_name(message_type: int) -> str:
    """A type as scenarios name it."""
    return _NAMES.get(message_type, f"type {message_type:#x}")
