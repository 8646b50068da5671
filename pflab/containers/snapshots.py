"""A lab as it stood at an instant, kept under a name: what a class goes back to.

A saved lab is a folder: `run/` is the run's folder with the coordinator's state, `stores/` the databases to the byte, and the
traces up to then are links in a folder of the same name beside the traces, where they take no room of their own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pflab.errors import LabError, Taken
from pflab.runs.run_folder import safe_name
from traces.segments import list_segments

_TRACES: Final = ".saved"
"""Below the traces. Whoever reads all traces passes over names that begin with a dot."""

_RUN: Final = "run"
_STORES: Final = "stores"
_RETURNS: Final = "returns"
"""In a run's folder: the databases that its stores begin on."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """What was saved below `folder`; `traces` is the folder of the traces of all runs."""

    folder: Path
    traces: Path

    def names(self) -> list[str]:
        """What was saved, by name."""
        if not self.folder.is_dir():
            return []
        return sorted(each.name for each in self.folder.iterdir() if (each / _RUN).is_dir() and each.name[0] != ".")

    def check_free(self, name: str, *, replace: bool) -> None:
        """What a class goes back to is not lost by a name given twice. Raises Taken."""
        if not replace and name in self.names():
            raise Taken(f"a lab was saved as {name!r} before; take another name, or replace it (--replace)")

    def begin(self, name: str) -> SnapshotDraft:
        """Make room for a snapshot; `SnapshotDraft.done` puts it in the place of an earlier one. Raises LabError."""
        if safe_name(name) != name:
            raise LabError(f"{name!r} cannot name a saved lab; use letters, digits, - and _")
        draft = SnapshotDraft(self, name)
        for each in (draft.folder, draft.traces):
            shutil.rmtree(each, ignore_errors=True)
        for each in (draft.folder, draft.traces):
            each.mkdir(parents=True)
        return draft

    def give_back(self, name: str, run: Path, traces: Path) -> None:
        """Lay a saved lab out as a run's folder and its traces. Raises LabError if there is none of that name."""
        if name not in self.names():
            raise LabError(f"no lab was saved as {name!r}; there is {', '.join(self.names()) or 'none'}")
        for each in (run, traces):
            shutil.rmtree(each, ignore_errors=True)
        link_all(list_files(self.traces / _TRACES / name), traces)
        shutil.copytree(self.folder / name / _RUN, run)
        shutil.copytree(self.folder / name / _STORES, run / _RETURNS)


@dataclass(frozen=True, slots=True)
class SnapshotDraft:
    """A lab that is being saved."""

    snapshots: Snapshots
    name: str

    @property
    def folder(self) -> Path:
        return self.snapshots.folder / f".{self.name}"

    @property
    def traces(self) -> Path:
        return self.snapshots.traces / _TRACES / f".{self.name}"

    def keep_stores(self, databases: Mapping[str, bytes]) -> None:
        """The stores' databases, by name."""
        stores = self.folder / _STORES
        stores.mkdir()
        for name, content in databases.items():
            (stores / _database(name)).write_bytes(content)

    def keep_run(self, folder: Path, *, but: str) -> Path:
        """What is in a run's folder now, but for files of that pattern and what its own stores began on; the copy."""
        return Path(shutil.copytree(folder, self.folder / _RUN, ignore=shutil.ignore_patterns(but, _RETURNS)))

    def keep_traces(self, folder: Path) -> None:
        """What is in a run's traces now."""
        link_all((path for _, path in list_segments(folder)), self.traces)

    def done(self) -> None:
        """It counts from now on."""
        for draft, place in (
            (self.traces, self.snapshots.traces / _TRACES / self.name),
            (self.folder, self.snapshots.folder / self.name),
        ):
            shutil.rmtree(place, ignore_errors=True)
            draft.rename(place)


def returns_of(run: Path, name: str) -> Path:
    """In a run's folder: the database that a store begins on, if the run goes back to a saved lab."""
    return run / _RETURNS / _database(name)


def _database(name: str) -> str:
    return f"{name}.sqlite"


def list_files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def link_all(files: Iterable[Path], folder: Path) -> None:
    """Segments are never changed, so one file may stand in several folders; copied where links cannot be made."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        with suppress(FileNotFoundError):  # the oldest may go at any time
            try:
                os.link(path, folder / path.name)
            except OSError:
                shutil.copy2(path, folder / path.name)
