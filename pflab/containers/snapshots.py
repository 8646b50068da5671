"""Snapshots: the state of a lab at an instant, saved under a name, so that the lab can go back to it.

A snapshot is a folder. `run/` has the run's folder with the coordinator's state, and `stores/` has exact copies of the
databases. The traces up to the snapshot are hard links in a folder of the same name, so they take no additional space.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pflab.runs.continued import link_all
from pflab.runs.saved import check_free, check_name, none_of
from traces.segments import list_segments

_TRACES: Final = ".saved"
"""The folder of snapshots below the traces. Readers of all traces skip names that begin with a dot."""

_RUN: Final = "run"
_STORES: Final = "stores"
_RETURNS: Final = "returns"
"""A folder in a run's folder. It has the databases with which the stores of the run begin after a reset."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots below `folder`; `traces` is the folder of the traces of all runs."""

    folder: Path
    traces: Path

    def names(self) -> list[str]:
        """Return the names of the snapshots."""
        if not self.folder.is_dir():
            return []
        return sorted(each.name for each in self.folder.iterdir() if (each / _RUN).is_dir() and each.name[0] != ".")

    def check_free(self, name: str, *, replace: bool) -> None:
        """Raise Taken if a snapshot of that name exists, unless it may be replaced."""
        check_free(name, self.names(), replace=replace)

    def begin(self, name: str) -> SnapshotDraft:
        """Begin a snapshot. It exists only after `SnapshotDraft.done`, which replaces an earlier snapshot of this name.

        Raises LabError if a snapshot cannot have this name.
        """
        check_name(name)
        draft = SnapshotDraft(self, name)
        for each in (draft.folder, draft.traces):
            shutil.rmtree(each, ignore_errors=True)
        for each in (draft.folder, draft.traces):
            each.mkdir(parents=True)
        return draft

    def copy_into(self, name: str, run: Path, traces: Path) -> None:
        """Copy a snapshot into a run's folder and its traces. Raises LabError if there is none of that name."""
        if name not in self.names():
            raise none_of(name, self.names())
        for each in (run, traces):
            shutil.rmtree(each, ignore_errors=True)
        link_all(list_files(self.traces / _TRACES / name), traces)
        shutil.copytree(self.folder / name / _RUN, run)
        shutil.copytree(self.folder / name / _STORES, run / _RETURNS)


@dataclass(frozen=True, slots=True)
class SnapshotDraft:
    """A snapshot that is being made."""

    snapshots: Snapshots
    name: str

    @property
    def folder(self) -> Path:
        return self.snapshots.folder / f".{self.name}"

    @property
    def traces(self) -> Path:
        return self.snapshots.traces / _TRACES / f".{self.name}"

    def keep_stores(self, databases: Mapping[str, bytes]) -> None:
        """Write the stores' databases, given by server name."""
        stores = self.folder / _STORES
        stores.mkdir()
        for name, content in databases.items():
            (stores / _database(name)).write_bytes(content)

    def keep_run(self, folder: Path, *, but: str) -> Path:
        """Copy a run's folder without the files that match `but` and without the databases with which the run began.
        Return the copy.
        """
        return Path(shutil.copytree(folder, self.folder / _RUN, ignore=shutil.ignore_patterns(but, _RETURNS)))

    def keep_traces(self, folder: Path) -> None:
        """Link the segments that are in a run's traces now."""
        link_all((path for _, path in list_segments(folder)), self.traces)

    def done(self) -> None:
        """Complete the snapshot: from now on it exists under its name."""
        for draft, place in (
            (self.traces, self.snapshots.traces / _TRACES / self.name),
            (self.folder, self.snapshots.folder / self.name),
        ):
            shutil.rmtree(place, ignore_errors=True)
            draft.rename(place)


def snapshot_of(run: Path, name: str) -> Path:
    """Return the path of the database with which a store begins, if the run in the folder `run` continues a snapshot."""
    return run / _RETURNS / _database(name)


def _database(name: str) -> str:
    return f"{name}.sqlite"


def list_files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
