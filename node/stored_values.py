"""Values in a store's tables that both SQL and code use.

They are apart from `node.state.tables`, so that a reader of a database file need not import SQLAlchemy.
"""

from __future__ import annotations

from typing import Final

HIERARCHY_FID: Final = 1
"""The row number of folder 1-1, in every table [S2]."""

DELETED, EXPIRED = 1, 2
"""In `message.deleted`: a tombstone, and an item that expired here (spec: DL-3)."""

COUNT_MESSAGES: Final = (
    "INSERT INTO message_count (fid, messages) VALUES ({fid}, {difference})"
    " ON CONFLICT (fid) DO UPDATE SET messages = messages + excluded.messages"
)
"""The statement that changes how many live messages a folder has."""
