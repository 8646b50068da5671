"""All rule checks. Each is a predicate over an evidence table, with the ids of the rules that it checks.

Each module of this folder has the checks of one subject. To add a check, add an entry to the table of its module.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Final

from analytics.errors import UnknownCheck
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

SUBJECTS: Final[dict[str, tuple[Check, ...]]] = {
    module.__name__.rpartition(".")[2].replace("_", " "): module.CHECKS
    for module in (
        change_numbers,
        versions,
        deletions,
        conflicts,
        folder_tree,
        replicas,
        broadcasts,
        statuses,
        backfill,
        source_selection,
        mails,
        agreement,
    )
}
"""The checks by subject, which is the module that has them."""

CHECKS: Final[tuple[Check, ...]] = tuple(check for checks in SUBJECTS.values() for check in checks)

EVERY: Final = frozenset(check.id for check in CHECKS)
"""The ids of all checks."""


def chosen(selected: Iterable[str], deselected: Iterable[str]) -> frozenset[str]:
    """Return the ids of the checks that these words choose.

    selected: subjects, rules like `BF-3`, groups of rules like `BF`, or ids of checks; without any, all checks.
    deselected: the same, for the checks that are left out. Raises UnknownCheck for a word that names none.
    """
    words = list(selected)
    ids = set().union(*map(_named, words)) if words else EVERY
    return frozenset(ids.difference(*map(_named, deselected)))


def by_table(checks: Set[str]) -> dict[str, list[str]] | None:
    """Map the evidence tables of these checks to the ids of the checks, as an engine wants them; None for all checks.

    checks: their ids.
    """
    if checks == EVERY:
        return None
    ids: dict[str, list[str]] = {}
    for check in CHECKS:
        if check.id in checks:
            ids.setdefault(check.table, []).append(check.id)
    return ids


def _named(word: str) -> set[str]:
    """Return the ids of the checks that a word names."""
    ids = {
        check.id
        for subject, members in SUBJECTS.items()
        for check in members
        if _folded(word) in {_folded(name) for name in (subject, check.id, *check.rules, *map(_group, check.rules))}
    }
    if not ids:
        raise UnknownCheck(
            f"{word!r} is not a check; write a rule like BF-3, a group like BF, or a subject: {', '.join(SUBJECTS)}"
        )
    return ids


def _group(rule: str) -> str:
    return rule.partition("-")[0]


def _folded(word: str) -> str:
    return word.strip().casefold().replace("-", " ").replace("_", " ")
