"""A cheap look at two headers of a mail, for the trace and for faults; `mime.parse_mail` reads the whole."""

from __future__ import annotations

import re
from typing import Final

PEEK_BYTES: Final = 64 * 1024
"""How far into a mail headers are looked for; one hop adds about 200 bytes."""

_MESSAGE_ID: Final = re.compile(rb"^message-id:[ \t]*(?:\r?\n[ \t]+)?([^\r\n]{0,1000})", re.IGNORECASE | re.MULTILINE)
_SUBJECT: Final = re.compile(rb"^subject:[ \t]*([^\r\n]{0,1000})", re.IGNORECASE | re.MULTILINE)


def subject_and_id(content: bytes) -> tuple[str, str]:
    """The first line of the subject, and the Message-ID without its brackets; '' where a mail has none."""
    end = content.find(b"\r\n\r\n", 0, PEEK_BYTES)
    head = content[: end if end >= 0 else PEEK_BYTES]
    lower = head.lower()
    subject, message_id = _field(_SUBJECT, b"subject:", head, lower), _field(_MESSAGE_ID, b"message-id:", head, lower)
    return (
        subject.group(1).decode("utf-8", "replace").strip() if subject else "",
        message_id.group(1).decode("utf-8", "replace").strip().strip("<>") if message_id else "",
    )


def _field(pattern: re.Pattern[bytes], name: bytes, head: bytes, lower: bytes) -> re.Match[bytes] | None:
    """What `pattern.search(head)` finds, tried only where its name stands: a search tries every byte, at ten times the cost."""
    at = lower.find(name)
    while at >= 0:
        if match := pattern.match(head, at):
            return match
        at = lower.find(name, at + 1)
    return None
