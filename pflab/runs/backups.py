"""The backups of a run: copies of the databases of stores, as files of the run folder, or in memory if there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from node.host.whole_files import write_whole
from pflab.errors import LabError
from pflab.runs.lab_state import BackupsState
from topology.problems import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pflab.runs.run_folder import RunFolder

BACKUPS: Final = "backups"
"""The folder of the backups in a run folder."""


class Backups:
    """All backups of one run. `state` says which there are."""

    def __init__(self, folder: RunFolder | None) -> None:
        self._folder = None if folder is None else folder.path / BACKUPS
        self._contents: dict[str, bytes] = {}
        """The backups of a run without a folder."""
        self.state = BackupsState()

    def add(self, store: str, content: bytes) -> str:
        """Keep a backup of a store, and return its id, which no backup of the run had before. Raises LabError if it cannot be
        written."""
        number = self.state.number + 1
        backup = f"backup-{number}"
        if self._folder is None:
            self._contents[backup] = content
        else:
            try:
                self._folder.mkdir(exist_ok=True)
                write_whole(self._path(self._folder, backup), content)
            except OSError as error:
                raise LabError(f"the backup of {store} cannot be written: {error.strerror or error}") from error
        self.state = BackupsState(number, {**self.state.stores, backup: store})
        return backup

    def hold(self, contents: Mapping[str, bytes]) -> None:
        """Hold the contents of backups of another lab, by id, for a run without a folder."""
        self._contents |= contents

    def forget(self, store: str) -> None:
        """Let the backups of a store be nobody's, because the store was deleted and another one has its name."""
        kept = {backup: owner for backup, owner in self.state.stores.items() if owner != store}
        self.state = BackupsState(self.state.number, kept)

    def owner(self, store: str, backup: str) -> str:
        """Return the store of a backup, for a restore on `store`. Raises LabError if there is no such backup."""
        owner = self.state.stores.get(backup)
        if owner is not None:
            return owner
        own = [id_ for id_, of in self.state.stores.items() if of == store]
        raise LabError(f"{quoted(backup)} is not a backup of {store}; its backups are: {', '.join(own) or 'none'}")

    def content(self, backup: str) -> bytes:
        """Return the database of a backup. Raises LabError if it cannot be read."""
        if self._folder is None:
            return self._contents[backup]
        try:
            return self._path(self._folder, backup).read_bytes()
        except OSError as error:
            raise LabError(f"{backup} cannot be read: {error.strerror or error}") from error

    @staticmethod
    def _path(folder: Path, backup: str) -> Path:
        return folder / f"{backup}.sqlite"
