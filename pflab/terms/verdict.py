"""What is said about a run: per folder converged, not converged or unknown, with a witness in words (CV-1, CV-2, CV-3).

Plain values and their words; the judging itself is `pflab.oracle.oracle`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Judgement(StrEnum):
    CONVERGED = "converged"
    NOT_CONVERGED = "not converged"
    UNKNOWN = "unknown"


class ExitCode:
    """How a command ends: 0 good, 1 a violation or a failed expectation, 2 unknown or misuse."""

    GOOD = 0
    VIOLATION = 1
    UNKNOWN = 2


@dataclass(frozen=True, slots=True)
class FolderVerdict:
    """One folder's judgement. `witnesses` say who lacks what (not converged) or why nobody can tell (unknown)."""

    folder: str
    path: str
    judgement: Judgement
    holders: tuple[str, ...]
    witnesses: tuple[str, ...] = ()

    def in_words(self) -> str:
        holders = join_names(self.holders)
        name = "Folder hierarchy (1-1)" if self.folder == "1-1" else self.path
        if self.judgement is Judgement.CONVERGED:
            return f"{name}: converged on {holders}"
        return f"{name}: {self.judgement.value} ({'; '.join(self.witnesses)})"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A whole run's judgement.

    `lost` are acknowledged changes that nothing in DU-1 explains; `untruthful` are rows that claim what their store
    lacks and `leftovers` are backfill entries that a present holder could satisfy (both CV-3). `rightly_lost` is what went
    with a store that was restored or deleted (DU-1, RP-6): told, and no violation.
    """

    folders: tuple[FolderVerdict, ...]
    lost: tuple[str, ...] = ()
    untruthful: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    rightly_lost: tuple[str, ...] = ()

    @property
    def judgement(self) -> Judgement:
        """The worst of all: a loss, an untrue row or a leftover counts as not converged."""
        found = {each.judgement for each in self.folders}
        if self.lost or self.untruthful or self.leftovers or Judgement.NOT_CONVERGED in found:
            return Judgement.NOT_CONVERGED
        # A judgement over nothing is never clean.
        return Judgement.UNKNOWN if Judgement.UNKNOWN in found or not found else Judgement.CONVERGED

    @property
    def exit_code(self) -> int:
        codes = {
            Judgement.CONVERGED: ExitCode.GOOD,
            Judgement.NOT_CONVERGED: ExitCode.VIOLATION,
            Judgement.UNKNOWN: ExitCode.UNKNOWN,
        }
        return codes[self.judgement]

    def folder(self, path: str) -> FolderVerdict | None:
        """The verdict of the folder with this path or id, or None if the run has no such folder."""
        return next((each for each in self.folders if path in (each.path, each.folder)), None)

    def as_document(self) -> dict[str, Any]:
        """For JSON: what `in_words` says, in parts."""
        return {"judgement": self.judgement.value, **asdict(self)}

    def in_words(self) -> list[str]:
        lines = [each.in_words() for each in self.folders]
        lines += [f"lost: {text}" for text in self.lost]
        lines += [f"untrue row: {text}" for text in self.untruthful]
        lines += [f"backfill left over: {text}" for text in self.leftovers]
        lines += [f"gone with a store: {text}" for text in self.rightly_lost]
        return lines


def join_names(names: Iterable[str]) -> str:
    """`A`, `A and B`, `A, B and C`; `nobody` for none."""
    listed = list(names)
    if not listed:
        return "nobody"
    if len(listed) == 1:
        return listed[0]
    return f"{', '.join(listed[:-1])} and {listed[-1]}"
