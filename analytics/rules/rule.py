"""What a rule check is, and the words that many checks use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

HOUR_US: Final = 3_600_000_000
MINUTE_US: Final = 60_000_000
DAY_US: Final = 24 * HOUR_US

UPDATES: Final = "(2, 4, 2147483650, 2147483652)"
"""Message types that carry updates (OUT-6)."""


@dataclass(frozen=True, slots=True)
class Check:
    """`words`: SQL for the witness, from the columns of the table."""

    id: str
    rules: tuple[str, ...]
    table: str
    says: str
    about: str
    holds: str
    words: str
