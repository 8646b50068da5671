"""A folder of tables that keeps the findings of each run, so that a check judges only new runs.

`FOLDER/NAME/BATCH.parquet` is a part of the table NAME; `FOLDER/.kept/BATCH` names the places (folders of runs) of the batch,
each with the fingerprint of its segments, and has the findings about them. It appears after the parts and goes before them.
While parts come and go there is `FOLDER/.kept/BATCH.unfinished`. If a killed check has left it, the parts of this batch go when
the folder is opened. No other file is deleted or replaced, so the folder may have files that pflab did not write.

Example: a check of 1,000 runs makes the batch 1. Three runs more, and one that has changed: the four become the batch 2, and
the first is copied without the changed run to the batch 3. From MANY batches on, all are joined. If a killed check has left a
place in two batches, the rows of the later one count.

What must never happen: rows of two states of one place are in the tables of a folder that is open; rows go that the check does
not replace; a file goes that pflab did not write.
"""

from __future__ import annotations

import fcntl
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import msgspec

from analytics.embedded.product import product
from analytics.errors import AnalyticsError, PartDamaged, TablesDamaged
from analytics.ingest.lines import place_in
from analytics.ingest.places import need_utf_8, segments
from analytics.published.parquet import put_together
from analytics.rows import Findings, row_of
from traces.segments import is_url

MANY: Final = 32
"""How many batches are joined to one."""

WAIT_S: Final = 60.0
"""Real time that a check waits for another one."""

_AGAIN_S: Final = 0.2
_KEPT: Final = ".kept"
_NEW: Final = ".new"
_UNFINISHED: Final = ".unfinished"
_NUMBER: Final = re.compile("[1-9][0-9]*")


class _Batch(msgspec.Struct, frozen=True):
    """version: of the statements that made the batch.
    places: place to fingerprint.
    findings: query to rows.
    tables: the names of the tables with a part of this batch.
    """

    version: str
    places: dict[str, str]
    findings: dict[str, list[dict[str, object]]]
    tables: Sequence[str] = ()


class _Version(msgspec.Struct):
    """What can be read of a batch of any version."""

    version: str


@dataclass(slots=True)
class TableStore:
    """The batches of an open folder, by number."""

    folder: Path
    version: str
    _batches: dict[int, _Batch] = field(default_factory=dict)

    def outdated(self, fingerprints: Mapping[str, str]) -> list[str]:
        """Return the places that have to be judged: those that are new or have changed, or that another version has judged.

        Raises AnalyticsError if another version has judged a place that is not among them: its rows would be lost.
        """
        old_places = {
            place for batch in self._batches.values() if batch.version != self.version for place in batch.places
        }
        if lost := sorted(old_places - fingerprints.keys()):
            lost_place = next((place for place in lost if not is_url(place) and not segments([place])), None)
            why = f"this check does not judge {lost[0]} again; name all runs that are in the tables, or"
            if lost_place is not None:
                why = f"the traces of {lost_place} are no longer there to be judged again;"
            raise AnalyticsError(
                f"{self.folder}: another version of pflab made these tables, and {why} give another folder with --tables"
            )
        marks = {
            place: mark
            for batch in self._batches.values()
            if batch.version == self.version
            for place, mark in batch.places.items()
        }
        return [place for place, mark in fingerprints.items() if marks.get(place) != mark]

    def add(
        self, fingerprints: Mapping[str, str], findings: Findings, publish: Callable[[str], None], places: Iterable[str]
    ) -> None:
        """Replace the findings about these places by new ones.

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
        rows = {name: [dict(row) for row in answers] for name, answers in findings.items()}
        before = list(self._batches)
        self._put(_Batch(self.version, {place: fingerprints[place] for place in places}, rows, _names()), publish)
        for number in before:
            if not places.isdisjoint(self._batches[number].places):
                self._join([number], places)
        if len(self._batches) >= MANY:
            self._join(list(self._batches), frozenset())

    def findings(self, places: Iterable[str], names: Iterable[str]) -> Findings:
        """Return the findings about these places: the rows of the queries with these names."""
        place_set = frozenset(places)
        findings: dict[str, list[dict[str, object]]] = {name: [] for name in names}
        for batch in self._batches.values():
            for name, rows in batch.findings.items():
                findings[name] += rows if place_set >= batch.places.keys() else _of(rows, place_set)
        return {name: [row_of(row) for row in rows] for name, rows in findings.items()}

    def _join(self, numbers: list[int], without: frozenset[str]) -> None:
        """Make one batch of these batches, without some places."""
        batches = [self._batches[number] for number in numbers]
        places = {place: mark for batch in batches for place, mark in batch.places.items() if place not in without}
        if places:
            place_set = frozenset(places)
            names = {name for batch in batches for name in batch.findings}
            rows = {name: [row for batch in batches for row in _of(batch.findings[name], place_set)] for name in names}
            batch = _Batch(self.version, places, rows, _names())
            self._put(batch, lambda folder: self._copy(numbers, without, folder))
        for number in numbers:
            self._remove(number)

    def copy(self, folder: str) -> None:
        """Write all tables into another folder, a file for each."""
        self._copy(list(self._batches), frozenset(), folder)

    def _copy(self, numbers: list[int], without: frozenset[str], folder: str) -> None:
        for name in _names():
            parts = [str(self._part(name, number)) for number in numbers]
            try:
                put_together(parts, f"{folder}/{name}.parquet", without=without)
            except PartDamaged as error:
                raise _damaged(error.file, str(self.folder), error.why) from error

    def _put(self, batch: _Batch, publish: Callable[[str], None]) -> None:
        new = self.folder / _KEPT / _NEW
        new.mkdir(exist_ok=True)
        publish(str(new))
        number = self._free_number()
        unfinished = self._unfinished(number)
        unfinished.write_bytes(msgspec.msgpack.encode(_Batch(batch.version, {}, {}, batch.tables)))
        for name in batch.tables:
            (self.folder / name).mkdir(exist_ok=True)
            (new / f"{name}.parquet").rename(self._part(name, number))
        (new / _KEPT).write_bytes(msgspec.msgpack.encode(batch))
        (new / _KEPT).rename(self.folder / _KEPT / str(number))
        unfinished.unlink()
        with suppress(OSError):  # a check that was killed has left a file there
            new.rmdir()
        self._batches[number] = batch

    def _free_number(self) -> int:
        """Return a number above those of all batches, with which no part of a table would have the name of a file that is
        there."""
        numbers = count(max(self._batches, default=0) + 1)
        return next(nth for nth in numbers if not any(self._part(name, nth).exists() for name in _names()))

    def _remove(self, number: int) -> None:
        batch = self._batches.pop(number)
        (self.folder / _KEPT / str(number)).rename(self._unfinished(number))
        self._remove_parts(number, batch)

    def _remove_parts(self, number: int, batch: _Batch) -> None:
        for name in batch.tables or _names():
            self._part(name, number).unlink(missing_ok=True)
        self._unfinished(number).unlink()

    def _part(self, name: str, number: int) -> Path:
        return self.folder / name / f"{number}.parquet"

    def _unfinished(self, number: int) -> Path:
        return self.folder / _KEPT / f"{number}{_UNFINISHED}"

    def load(self) -> None:
        """Read the kept findings, and remove the remains of a killed check."""
        (self.folder / _KEPT).mkdir(exist_ok=True)
        names = {file.name for file in (self.folder / _KEPT).iterdir()}
        for number in sorted(int(name) for name in names if _NUMBER.fullmatch(name)):
            self._batches[number] = self._read(self.folder / _KEPT / str(number))
        for name in sorted(names):
            text = name.removesuffix(_UNFINISHED)
            if text != name and _NUMBER.fullmatch(text):
                self._end(int(text))
        self._remove_older_states()
        for number, batch in self._batches.items():
            for name in _names() if batch.version == self.version else ():
                if not self._part(name, number).exists():
                    raise _damaged(str(self._part(name, number)), str(self.folder), "it is missing")

    def _end(self, number: int) -> None:
        """Remove the parts of a batch that a killed check was about to write or to remove."""
        unfinished = self._unfinished(number)
        if number in self._batches:  # only the last step was missing
            unfinished.unlink()
            return
        try:
            batch = msgspec.msgpack.decode(unfinished.read_bytes(), type=_Batch)
        except msgspec.DecodeError:  # the first step was not completed, so there is no part
            return
        self._remove_parts(number, batch)

    def _read(self, file: Path) -> _Batch:
        content = file.read_bytes()
        try:
            return msgspec.msgpack.decode(content, type=_Batch)
        except msgspec.DecodeError as error:
            with suppress(msgspec.DecodeError):
                if msgspec.msgpack.decode(content, type=_Version).version != self.version:
                    raise AnalyticsError(
                        f"{self.folder}: another version of pflab made these tables; give another folder with --tables"
                    ) from error
            raise _damaged(str(file), str(self.folder), f"it is damaged: {error}") from error

    def _remove_older_states(self) -> None:
        """Remove the rows of places that are also in a later batch."""
        later_places: set[str] = set()
        for number in sorted(self._batches, reverse=True):
            places = self._batches[number].places.keys()
            again = frozenset(later_places & places)
            later_places |= places
            if again:
                self._join([number], again)


@contextmanager
def opened(folder: str, version: str, *, wait_s: float = WAIT_S) -> Iterator[TableStore]:
    """Open a folder of tables, and keep other checks away from it inside the block.

    version: of the statements of the tables.

    Raises AnalyticsError if another check uses it for `wait_s`, or if one of its files is damaged.
    """
    base = Path(folder)
    need_utf_8(folder, "so DuckDB cannot write tables there; give another folder with --tables")
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


def _damaged(file: str, folder: str, what: str) -> TablesDamaged:
    """Return the error about a file of a folder of tables that cannot be used."""
    return TablesDamaged(
        f"{file}: {what}. Restore it; or, if the traces of all runs are still there, delete the folder {folder}, and all runs"
        " are judged again"
    )


def _of(rows: list[dict[str, object]], places: frozenset[str]) -> list[dict[str, object]]:
    return [row for row in rows if place_in(str(row["trace"])) in places]


def _names() -> list[str]:
    return [table.name for table in product().published]
