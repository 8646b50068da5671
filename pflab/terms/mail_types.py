"""The types and marks of replication mail, as events name them.

The node has the same lists. They are repeated here on purpose: code that judges a run shares no code with the agent (CV-2). A
test in `tests/pflab/terms` keeps both lists equal.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class MailKind(IntEnum):
    """The types of replication mail: the field `message_type` of events about mails."""  # spec: OUT-6

    HIERARCHY = 0x2
    CONTENT = 0x4
    BACKFILL_REQUEST = 0x8
    STATUS = 0x10
    STATUS_REQUEST = 0x20
    HIERARCHY_RESPONSE = 0x80000002
    CONTENT_RESPONSE = 0x80000004


class Mark(StrEnum):
    """The marks of a replication mail: the entries of the field `marks` of events about mails."""

    REPEAT = "repeat"
    NO_REPLICA = "no replica"
    DELETE_PENDING = "delete-pending"
    ALL_RESPOND = "all respond"
    RETAINED = "retained"
    RESENT = "resent"


BROADCASTS = frozenset({MailKind.HIERARCHY, MailKind.CONTENT})
RESPONSES = frozenset({MailKind.HIERARCHY_RESPONSE, MailKind.CONTENT_RESPONSE})
UPDATES = BROADCASTS | RESPONSES
"""The types of mail that carry versions."""

_NAMES: dict[int, str] = {kind: kind.name.lower().replace("_", " ") for kind in MailKind}


def mail_name(message_type: int) -> str:
    """Return the name of a type as scenarios write it, such as `content` or `backfill request`."""
    return _NAMES.get(message_type, f"type {message_type:#x}")
