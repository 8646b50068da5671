"""The verdict on a run: each folder converged, not converged or unknown, with witnesses in words (CV-1, CV-2, CV-3).

This module has the values and their wording. `pflab.oracle` decides.
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
    """How a command ends: 0 good, 1 a violation or a failed expectation, 2 unknown or misuse, 70 a bug of pflab."""

    GOOD = 0
    VIOLATION = 1
    UNKNOWN = 2
    INTERNAL = 70
    """EX_SOFTWARE of BSD's sysexits.h."""


@dataclass(frozen=True, slots=True)
class FolderVerdict:
    """The judgement of one folder. If it is not converged, `witnesses` say which store lacks what; if unknown, they say why."""

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
    """The judgement of a whole run.

    lost          acknowledged changes that are missing for a reason that DU-1 does not allow
    untruthful    rows of state tables that claim what their store lacks (CV-3)
    leftovers     backfill entries that a running holder could satisfy (CV-3)
    rightly_lost  changes that were lost with a restored or deleted store (DU-1, RP-6); reported, but no violation
    """

    folders: tuple[FolderVerdict, ...]
    lost: tuple[str, ...] = ()
    untruthful: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    rightly_lost: tuple[str, ...] = ()

    @property
    def judgement(self) -> Judgement:
        """Return the worst judgement; a loss, an untrue row or a leftover entry counts as not converged."""
        judgements = {folder.judgement for folder in self.folders}
        if self.lost or self.untruthful or self.leftovers or Judgement.NOT_CONVERGED in judgements:
            return Judgement.NOT_CONVERGED
        # A run without folders proves nothing.
        return Judgement.UNKNOWN if Judgement.UNKNOWN in judgements or not judgements else Judgement.CONVERGED

    @property
    def exit_code(self) -> int:
        codes = {
            Judgement.CONVERGED: ExitCode.GOOD,
            Judgement.NOT_CONVERGED: ExitCode.VIOLATION,
            Judgement.UNKNOWN: ExitCode.UNKNOWN,
        }
        return codes[self.judgement]

    def folder(self, path: str) -> FolderVerdict | None:
        """Return the verdict of the folder with this path or id, or None if the run has no such folder."""
        return next((folder for folder in self.folders if path in (folder.path, folder.folder)), None)

    def as_document(self) -> dict[str, Any]:
        """Return the verdict for JSON."""
        return {"judgement": self.judgement.value, **asdict(self)}

    def in_words(self) -> list[str]:
        lines = [folder.in_words() for folder in self.folders]
        lines += [f"lost: {text}" for text in self.lost]
        lines += [f"untrue row: {text}" for text in self.untruthful]
        lines += [f"backfill left over: {text}" for text in self.leftovers]
        lines += [f"lost with a restored or deleted store (no violation): {text}" for text in self.rightly_lost]
        return lines


def join_names(names: Iterable[str]) -> str:
    """Return `A`, `A and B` or `A, B and C`; `nobody` for no names."""
    listed = list(names)
    if not listed:
        return "nobody"
    if len(listed) == 1:
        return listed[0]
    return f"{', '.join(listed[:-1])} and {listed[-1]}"
