"""For a few folders: which holder got which change, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from analytics.drawing.lab_time import duration
from analytics.drawing.svg import natural
from analytics.rows import Answers, Findings
from analytics.verdicts.conclusion import worst_folders
from analytics.verdicts.judgements import CONVERGED
from analytics.verdicts.result import short
from analytics.verdicts.words import number

FOLDERS: Final = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """text: `made`, how long the change took, or `-`.
    way: how it arrived, for the colour.
    """

    text: str
    way: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """A folder of a run: its holders, and for each change its name, subject and a cell for each holder.

    earlier: how many changes are not shown.
    converged: a change that did not arrive was superseded.
    """

    name: str
    converged: bool
    path: str
    earlier: int
    holders: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def matrices(answers: Answers, findings: Findings) -> list[Matrix]:
    """Return the matrices of the worst folders."""
    few = worst_folders(findings)[:FOLDERS]
    rows = answers("last_changes", {"folders": [(folder.trace, folder.folder) for folder in few]})
    return [
        _matrix(folder, [row for row in rows if (row.trace, row.folder) == (folder.trace, folder.folder)])
        for folder in few
    ]


def _matrix(folder: Any, rows: Sequence[Any]) -> Matrix:
    changes = sorted(rows, key=lambda row: (row.made_at, row.number))
    earlier = changes[0]["all"] - len(changes) if changes else 0
    holders = tuple(sorted(folder.holders or (), key=natural))
    return Matrix(
        short(folder.trace),
        folder.judgement == CONVERGED,
        folder.path,
        earlier,
        holders,
        tuple(_line(row, holders) for row in changes),
    )


def _line(row: Any, holders: Sequence[str]) -> tuple[str, str, tuple[Cell, ...]]:
    at = {arrival.store: arrival for arrival in row.arrivals or ()}
    subject = "(deleted)" if row.deleted else row.subject or ""
    return (
        number(row.name, row.guid, row.counter, row.counter),
        subject,
        tuple(_cell(at.get(holder), row) for holder in holders),
    )


def _cell(arrival: Any, row: Any) -> Cell:
    if arrival is None:
        return Cell("-", "lacks")
    if arrival.act == "made":
        return Cell("made", "made")
    return Cell(duration(max(0, arrival.at - row.made_at)), arrival.way or "")
