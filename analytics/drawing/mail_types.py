"""The types of replication mail (OUT-6): their names, and the five kinds that have a colour."""

from __future__ import annotations

from typing import Final

TYPES: Final = {
    2: "hierarchy", 4: "content", 8: "backfill request", 16: "status", 32: "status request",
    2147483650: "hierarchy response", 2147483652: "content response",
}  # fmt: skip

KINDS: Final = {
    "hierarchy": "hierarchy",
    "content": "content",
    "request": "backfill request",
    "response": "hierarchy or content response",
    "status": "status",
}
"""The kinds, which are CSS classes, and what the legend calls them."""

KIND_OF: Final = {
    2: "hierarchy", 4: "content", 8: "request", 16: "status", 32: "status",
    2147483650: "response", 2147483652: "response",
}  # fmt: skip


def name_of(message_type: int) -> str:
    return TYPES.get(message_type, f"type {message_type}")


def kind_of(message_type: int) -> str:
    """Return the kind of a mail; an unknown type is drawn as a status."""
    return KIND_OF.get(message_type, "status")
