"""Saved labs: each is a folder like that of a run that was stopped, so a new run can continue it (`pflab.runs.continued`)."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pflab.errors import LabError, NotThere, Taken
from pflab.runs.lab_state import STATE
from pflab.runs.run_folder import RunFolder, safe_name
from topology.problems import quoted

MOST_NAME_BYTES: Final = 100


@dataclass(frozen=True, slots=True)
class SavedRuns:
    """The saved labs below `folder`.

    traces: the folder below which their traces are, if these are not in the folders of the saved labs.
    """

    folder: Path
    traces: Path | None = None

    def names(self) -> list[str]:
        """Return the names of the saved labs."""
        return sorted(state.parent.name for state in self.folder.glob(f"[!.]*/{STATE}"))

    async def save(self, name: str, write: Callable[[RunFolder], Awaitable[None]], *, replace: bool) -> None:
        """Save a lab: `write` writes it into a run folder, which gets the name when it is complete.

        Raises Taken if the name exists and may not be replaced, and LabError for a wrong name or if nothing can be written.
        """
        check_name(name)
        check_free(name, self.names(), replace=replace)
        drafts, places = self._folders(f".{name}"), self._folders(name)
        try:
            _delete(drafts)
            await write(RunFolder.at(drafts[0], traces_at=drafts[1] if self.traces else None))
            _delete(places)
            for draft, place in zip(reversed(drafts), reversed(places), strict=True):  # the traces first
                draft.rename(place)
        except OSError as error:
            raise LabError(f"the lab cannot be saved in {places[0]}: {error.strerror or error}") from error
        finally:
            _delete(drafts)

    def find(self, name: str) -> RunFolder:
        """Return the folder of a saved lab. Raises LabError if there is none of that name."""
        if name not in self.names():
            raise none_of(name, self.names())
        folder, *traces = self._folders(name)
        return RunFolder(folder, traces_at=traces[0] if traces else None)

    def _folders(self, name: str) -> list[Path]:
        """Return the folder of a saved lab, and that of its traces if they are apart."""
        return [self.folder / name] if self.traces is None else [self.folder / name, self.traces / name]


def _delete(folders: Sequence[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def check_name(name: str) -> None:
    """Raise LabError if a saved lab cannot have this name."""
    if safe_name(name) != name or len(name.encode()) > MOST_NAME_BYTES:
        raise LabError(
            f"{quoted(name)} is not a name for a saved lab; use at most {MOST_NAME_BYTES} letters, digits, - and _"
        )


def check_free(name: str, names: Sequence[str], *, replace: bool) -> None:
    """Raise Taken if a lab was saved under that name, unless it may be replaced."""
    if not replace and name in names:
        raise Taken(
            f'a lab is already saved as {name!r}; choose another name, or replace it (--replace; over HTTP "replace": true)'
        )


def none_of(name: str, names: Sequence[str]) -> NotThere:
    """Return the error for a name under which no lab was saved."""
    return NotThere(f"no lab was saved as {name!r}; saved: {', '.join(names) or 'none'}")
