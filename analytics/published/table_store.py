"""A folder of tables that keeps what was found in each run, so that a check judges only what is new.

`FOLDER/NAME/BATCH.parquet` is a part of the table NAME; `FOLDER/.kept/BATCH` names the places (folders of runs) of the batch,
each with the fingerprint of its segments, and has the findings about them. The file in `.kept` is the last one to appear and
the first one to go: a part of a table without it is left over from a check that was killed, and goes when the folder is opened.

Example: a check of 1,000 runs makes the batch 1. Three runs more, and one that has changed: the batch 1 is copied without that
run to the batch 2, and the four runs become the batch 3. From MANY batches on, all are joined.

What must never happen: rows of two states of one place are in the tables of a folder that is open; rows go whose segments are
no longer there.
"""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from analytics.embedded.product import product
from analytics.errors import AnalyticsError, TablesDamaged
from analytics.published.parquet import put_together
from analytics.rows import Findings, row_of

MANY: Final = 32
"""How many batches are joined to one."""

WAIT_S: Final = 60.0
"""Real time that a check waits for another one."""

_AGAIN_S: Final = 0.2
_NEW: Final = ".new"
_KEPT: Final = ".kept"


class _Batch(msgspec.Struct, frozen=True):
    """version: of the statements that made the batch.
    places: place to fingerprint.
    findings: query to rows.
    """

    version: str
    places: dict[str, str]
    findings: dict[str, list[dict[str, object]]]


@dataclass(slots=True)
class TableStore:
    """The batches of an open folder, by number."""

    folder: Path
    version: str
    _batches: dict[int, _Batch] = field(default_factory=dict)

    def outdated(self, fingerprints: Mapping[str, str]) -> list[str]:
        """Return the places that have to be judged: those that are new or have changed."""
        known = {place: mark for batch in self._batches.values() for place, mark in batch.places.items()}
        return [place for place, mark in fingerprints.items() if known.get(place) != mark]

    def add(
        self, fingerprints: Mapping[str, str], findings: Findings, publish: Callable[[str], None], places: Iterable[str]
    ) -> None:
        """Keep what was found in these places instead of what was known.

        publish: writes all tables into a folder.
        """
        with _errors_of(self.folder):
            self._replace(fingerprints, findings, publish, frozenset(places))

    def _replace(
        self,
        fingerprints: Mapping[str, str],
        findings: Findings,
        publish: Callable[[str], None],
        places: frozenset[str],
    ) -> None:
        self._drop(places)
        rows = {name: [dict(row) for row in found] for name, found in findings.items()}
        self._put(_Batch(self.version, {place: fingerprints[place] for place in places}, rows), publish)
        if len(self._batches) >= MANY:
            self._join(list(self._batches), frozenset())

    def findings(self, places: Iterable[str], names: Iterable[str]) -> Findings:
        """Return what was found in these places: the rows of the queries with these names."""
        wanted = frozenset(places)
        found: dict[str, list[dict[str, object]]] = {name: [] for name in names}
        for batch in self._batches.values():
            for name, rows in batch.findings.items():
                found[name] += rows if wanted >= batch.places.keys() else _of(rows, wanted)
        return {name: [row_of(row) for row in rows] for name, rows in found.items()}

    def _drop(self, places: frozenset[str]) -> None:
        hit = [number for number, batch in self._batches.items() if not places.isdisjoint(batch.places)]
        if hit:
            self._join(hit, places)

    def _join(self, numbers: list[int], without: frozenset[str]) -> None:
        """Make one batch of these batches, without some places."""
        batches = [self._batches[number] for number in numbers]
        places = {place: mark for each in batches for place, mark in each.places.items() if place not in without}
        if places:
            left = frozenset(places)
            names = {name for each in batches for name in each.findings}
            rows = {name: [row for each in batches for row in _of(each.findings[name], left)] for name in names}
            self._put(_Batch(self.version, places, rows), lambda folder: self._copy(numbers, without, folder))
        for number in numbers:
            self._remove(number)

    def copy(self, folder: str) -> None:
        """Write all tables into another folder, a file for each."""
        self._copy(list(self._batches), frozenset(), folder)

    def _copy(self, numbers: list[int], without: frozenset[str], folder: str) -> None:
        for name in _names():
            parts = [str(self._part(name, number)) for number in numbers]
            put_together(parts, f"{folder}/{name}.parquet", without=without)

    def _put(self, batch: _Batch, publish: Callable[[str], None]) -> None:
        new = self.folder / _NEW
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        publish(str(new))
        number = max(self._batches, default=0) + 1
        for name in _names():
            (self.folder / name).mkdir(exist_ok=True)
            (new / f"{name}.parquet").rename(self._part(name, number))
        (new / _KEPT).write_bytes(msgspec.msgpack.encode(batch))
        (new / _KEPT).rename(self.folder / _KEPT / str(number))
        new.rmdir()
        self._batches[number] = batch

    def _remove(self, number: int) -> None:
        del self._batches[number]
        (self.folder / _KEPT / str(number)).unlink(missing_ok=True)
        for name in _names():
            self._part(name, number).unlink(missing_ok=True)

    def _part(self, name: str, number: int) -> Path:
        return self.folder / name / f"{number}.parquet"

    def load(self) -> None:
        """Read what is kept, and remove what a killed check left."""
        (self.folder / _KEPT).mkdir(exist_ok=True)
        for file in sorted((self.folder / _KEPT).iterdir(), key=lambda file: int(file.name)):
            try:
                self._batches[int(file.name)] = msgspec.msgpack.decode(file.read_bytes(), type=_Batch)
            except msgspec.DecodeError as error:
                raise TablesDamaged(
                    f"{file}: it is damaged: {error}. Restore it; or, if the traces of all runs are still there, delete the"
                    f" folder {self.folder}, and all runs are judged again"
                ) from error
        self._remove_leftovers()
        self._remove_other_versions()

    def _remove_leftovers(self) -> None:
        seen: set[str] = set()
        for number in sorted(self._batches, reverse=True):
            batch = self._batches[number]
            is_whole = all(self._part(name, number).exists() for name in _names())
            if not is_whole or not seen.isdisjoint(batch.places):
                self._remove(number)
            else:
                seen |= batch.places.keys()
        for name in _names():
            for part in (self.folder / name).glob("*.parquet"):
                if part.stem.isdigit() and int(part.stem) not in self._batches:
                    part.unlink()

    def _remove_other_versions(self) -> None:
        others = [number for number, batch in self._batches.items() if batch.version != self.version]
        gone = [place for each in others for place in self._batches[each].places if not Path(place).exists()]
        if gone:
            raise AnalyticsError(
                f"{self.folder}: another version of pflab made these tables, and the traces of {gone[0]} are no longer there"
                " to be judged again; give another folder with --tables"
            )
        for number in others:
            self._remove(number)


@contextmanager
def opened(folder: str, version: str, *, wait_s: float = WAIT_S) -> Iterator[TableStore]:
    """Open a folder of tables, and keep other checks away from it inside the block.

    version: of the statements of the tables.

    Raises AnalyticsError if another check uses it for `wait_s`, or if another version of pflab made it from traces that are
    gone.
    """
    base = Path(folder)
    with ExitStack() as stack:
        with _errors_of(base):
            base.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context((base / ".lock").open("a"))
            _wait(lock.fileno(), folder, wait_s)
            store = TableStore(base, version)
            store.load()
        yield store


@contextmanager
def _errors_of(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise AnalyticsError(f"{error.filename or folder}: cannot be used for tables: {error.strerror}") from error


def _wait(lock: int, folder: str, wait_s: float) -> None:
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise AnalyticsError(
                    f"another pflab check uses the tables in {folder}; wait until it ends, or give another folder with --tables"
                ) from None
            time.sleep(_AGAIN_S)
        else:
            return


def _of(rows: list[dict[str, object]], places: frozenset[str]) -> list[dict[str, object]]:
    return [row for row in rows if str(row["trace"]).rpartition("#")[0] in places]


def _names() -> list[str]:
    return [each.name for each in product().published]
