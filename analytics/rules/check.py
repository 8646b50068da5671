"""The type of a rule check, and constants that many checks use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

HOUR_US: Final = 3_600_000_000
MINUTE_US: Final = 60_000_000
DAY_US: Final = 24 * HOUR_US

UPDATES: Final = "(2, 4, 2147483650, 2147483652)"
"""Message types that carry updates (OUT-6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A rule check on a table of evidence.

    id: its title.
    says: what must be true, in words.
    about: SQL that selects the rows to check.
    holds: SQL that must be true of each of them.
    words: SQL for the witness of a violation.
    """

    id: str
    rules: tuple[str, ...]
    table: str
    says: str
    about: str
    holds: str
    words: str
