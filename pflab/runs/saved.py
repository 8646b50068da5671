"""Saved labs: each is a folder like that of a run that was stopped, so a new run can continue it (`pflab.runs.continued`)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pflab.errors import LabError, NotThere, Taken
from pflab.runs.continued import STATE
from pflab.runs.run_folder import RunFolder, safe_name
from topology.problems import quoted

MOST_NAME_BYTES: Final = 100


@dataclass(frozen=True, slots=True)
class SavedRuns:
    """The saved labs below `folder`."""

    folder: Path

    def names(self) -> list[str]:
        """Return the names of the saved labs."""
        return sorted(each.parent.name for each in self.folder.glob(f"[!.]*/{STATE}"))

    def save(self, name: str, write: Callable[[RunFolder], None], *, replace: bool) -> None:
        """Save a lab: `write` writes its state into a run folder, which gets the name when it is complete.

        Raises Taken if the name exists and may not be replaced, and LabError for a wrong name or if nothing can be written.
        """
        check_name(name)
        check_free(name, self.names(), replace=replace)
        draft, place = self.folder / f".{name}", self.folder / name
        try:
            shutil.rmtree(draft, ignore_errors=True)
            write(RunFolder.at(draft))
            shutil.rmtree(place, ignore_errors=True)
            draft.rename(place)
        except OSError as error:
            raise LabError(f"the lab cannot be saved in {place}: {error.strerror or error}") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def find(self, name: str) -> Path:
        """Return the folder of a saved lab. Raises LabError if there is none of that name."""
        if name not in self.names():
            raise none_of(name, self.names())
        return self.folder / name


def check_name(name: str) -> None:
    """Raise LabError if a saved lab cannot have this name."""
    if safe_name(name) != name or len(name.encode()) > MOST_NAME_BYTES:
        raise LabError(
            f"{quoted(name)} is not a name for a snapshot; use at most {MOST_NAME_BYTES} letters, digits, - and _"
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
