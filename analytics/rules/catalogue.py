"""All rule checks. Each is a predicate over an evidence table, with the ids of the rules that it checks.

Each module of this folder has the checks of one subject. To add a check, add an entry to the table of its module.
"""

from __future__ import annotations

from typing import Final

from analytics.rules import (
    agreement,
    backfill,
    broadcasts,
    change_numbers,
    conflicts,
    deletions,
    folder_tree,
    mails,
    replicas,
    source_selection,
    statuses,
    versions,
)
from analytics.rules.check import Check

CHECKS: Final[tuple[Check, ...]] = (
    *change_numbers.CHECKS,
    *versions.CHECKS,
    *deletions.CHECKS,
    *conflicts.CHECKS,
    *folder_tree.CHECKS,
    *replicas.CHECKS,
    *broadcasts.CHECKS,
    *statuses.CHECKS,
    *backfill.CHECKS,
    *source_selection.CHECKS,
    *mails.CHECKS,
    *agreement.CHECKS,
)
