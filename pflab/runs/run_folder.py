"""The folder that a run leaves: `runs/<name>/<time>/`, with `runs/latest` as a link to the newest.

The folder has the topology, the seed, the traces, the databases, the verdict, and on request each mail. The name of a live run
is the UTC time of its start. The name of a simulated run is a number, because a simulation reads no clock. A run never writes
into the folder of another run, but takes the next free name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pflab.errors import LabError

LATEST = "latest"

MOST_RUNS = 100_000
"""The largest number of runs of one name; nobody keeps so many."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run. `path/traces/` and `path/databases/` exist, and `path/mails/` if it keeps mails."""

    path: Path
    keeps_mails: bool = False
    traces_at: Path | None = None
    """Where traces are written if not into `path/traces/`."""

    @classmethod
    def create(cls, runs: Path, name: str, *, started: datetime | None = None, keeps_mails: bool = False) -> RunFolder:
        """Make `runs/<name>/<UTC time of started, or a number>/` and point `runs/latest` at it.

        Raises LabError if the folder cannot be written.
        """
        parent = runs / safe_name(name)
        link = runs / LATEST
        if link.is_dir() and not link.is_symlink():
            raise LabError(f"{link} is a folder, but should be a link to the latest run; rename it")
        try:
            parent.mkdir(parents=True, exist_ok=True)
            path = _claim(parent, started)
            folder = cls.at(path, keeps_mails=keeps_mails)
            _point(link, path)
        except OSError as error:
            raise _unwritable(runs, error) from error
        return folder

    @classmethod
    def at(cls, path: Path, *, keeps_mails: bool = False, traces_at: Path | None = None) -> RunFolder:
        """Return the run folder at this path; create it if it does not exist. Raises LabError if it cannot be written."""
        folder = cls(path, keeps_mails, traces_at)
        places = [path, folder.traces, path / "databases"]
        places += [folder.mails] if keeps_mails else []
        try:
            for place in places:
                place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(path, error) from error
        return folder

    @property
    def name(self) -> str:
        """The id of the run: its own name, and that of the folder with the runs of one kind."""
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def traces(self) -> Path:
        return self.path / "traces" if self.traces_at is None else self.traces_at

    @property
    def mails(self) -> Path:
        return self.path / "mails"

    def database(self, server: str) -> Path:
        """Return the path of the server's database."""
        return self.path / "databases" / f"{server}.sqlite"

    def write_database(self, server: str, content: bytes) -> None:
        """Write the content of a server's database. Raises LabError if it cannot be written."""
        try:
            self.database(server).write_bytes(content)
        except OSError as error:
            raise _unwritable(self.database(server), error) from error

    def write_inputs(self, topology: str, seed: int) -> None:
        """Write topology (YAML text) and seed. Raises LabError if they cannot be written."""
        self._write("topology.yaml", topology)
        self._write("seed", f"{seed}\n")

    def write_verdict(self, verdict: Mapping[str, object]) -> None:
        """Write the verdict as JSON with sorted keys. Raises LabError if it cannot be written."""
        self._write("verdict.json", json.dumps(verdict, indent=2, sort_keys=True, ensure_ascii=False) + "\n")

    def _write(self, name: str, text: str) -> None:
        try:
            # The file is written under another name and renamed, so that nobody reads half of it.
            beside = self.path / f".{name}.new"
            beside.write_text(text, encoding="utf-8")
            beside.replace(self.path / name)
        except OSError as error:
            raise _unwritable(self.path / name, error) from error


def _claim(parent: Path, started: datetime | None) -> Path:
    stem = f"{started.astimezone(UTC):%Y-%m-%dT%H%M%SZ}" if started else ""
    for number in range(1, MOST_RUNS):
        last = f"{stem}-{number}" if stem and number > 1 else stem or f"{number:05d}"
        try:
            (parent / last).mkdir()
        except FileExistsError:
            continue
        return parent / last
    raise LabError(f"{parent} already holds {MOST_RUNS} runs; move some away")


def _point(link: Path, path: Path) -> None:
    """Make `link` a symlink to `path` in one step, safe with several runs at once."""
    fresh = link.with_name(f".{LATEST}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(os.path.relpath(path, link.parent), target_is_directory=True)
    fresh.replace(link)


def safe_name(name: str) -> str:
    """Return the name as a folder name: every character that a folder name cannot have is replaced."""
    folder_name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name).strip(".-")
    return folder_name or "lab"


def _unwritable(path: Path, error: OSError) -> LabError:
    return LabError(
        f"the run folder {path} cannot be written: {error.strerror or error}; choose a folder that can be written"
    )
