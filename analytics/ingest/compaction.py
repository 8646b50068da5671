"""A table that grows by batches. Neighbouring parts are joined, so that the number of small files stays limited.

A part is a folder `batches=FIRST-LAST` of Parquet with all rows of these batches. It is complete when Spark has marked it. At
first each batch is a part. MANY parts of about one length are joined into one, so there are at most about MANY parts for each
power of MANY. A part whose batches are all in a larger complete part was joined into it, and its files can be deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812 - as everybody names it

from analytics.ingest.file_system import FileSystem
from analytics.ingest.tables import Tables

MANY: Final = 16
"""How many parts of about the same length become one."""

_COLUMN: Final = "batches"
"""The partition column. Spark reads the name of a part as a value of it."""

_PART: Final = re.compile(rf"{_COLUMN}=[0-9]+-[0-9]+")

_SUCCESS: Final = "_SUCCESS"
"""The file with which Spark marks a complete folder."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """The batches with numbers `first` to `last`."""

    first: int
    last: int

    @property
    def name(self) -> str:
        return f"{_COLUMN}={self.first}-{self.last}"

    @classmethod
    def named(cls, name: str) -> Part:
        """Return the part with this `name`."""
        first, last = name.removeprefix(f"{_COLUMN}=").split("-")
        return cls(int(first), int(last))

    @property
    def length(self) -> int:
        return self.last - self.first + 1

    def holds(self, other: Part) -> bool:
        return self != other and self.first <= other.first and other.last <= self.last


class Parts:
    """The table `name`, partitioned by the column `by`.

    `many`: how many parts of one length are joined.
    """

    def __init__(self, tables: Tables, name: str, by: str, *, many: int = MANY) -> None:
        self._spark = tables.spark
        self._files = FileSystem(tables.spark.sparkContext)
        self._path = tables.path(name)
        self._by = by
        self._many = many

    def are_whole(self) -> bool:
        """Return whether there are complete parts for all batches up to the last."""
        parts = self._complete()
        ends = [0, *(part.last + 1 for part in parts)]
        return bool(parts) and [part.first for part in parts] == ends[:-1]

    def start_again(self, checkpoint: str) -> None:
        """Remove all parts, and the checkpoint that numbers their batches. If the process is killed in between, the checkpoint
        already has another name."""
        removed = f"{checkpoint}.removed"
        self._files.delete(removed)
        if self._files.exists(checkpoint):
            self._files.rename(checkpoint, removed)
        self._files.delete(self._path)
        self._files.delete(removed)

    def write(self, frame: DataFrame, batch: int) -> None:
        """Write the batch with this number. A batch that is written again, for example after a kill, replaces its first
        copy."""
        self._write(frame, Part(batch, batch))

    def read(self, schema: T.StructType) -> DataFrame:
        """Return the rows of all batches."""
        return self._read(self._complete(), schema)

    def join(self, schema: T.StructType) -> None:
        """Join parts, and delete the parts that were joined. Must not run while batches are written."""
        while (run := next(self._full_levels(), None)) is not None:
            # Each value of `by` goes to one task, which writes one file.
            rows = self._read(run, schema).repartition(self._by)
            self._write(rows, Part(run[0].first, run[-1].last))
        found_parts = self._on_storage()
        for part in {*found_parts} - {*self._complete(found_parts)}:
            self._files.delete(self._place(part))

    def _full_levels(self) -> Iterator[Sequence[Part]]:
        """Yield parts to join: at least `many` of one level, with all parts between them; short parts first."""
        parts = self._complete()
        levels: dict[int, list[int]] = {}
        for index, part in enumerate(parts):
            levels.setdefault(self._level(part), []).append(index)
        for _, indices in sorted(levels.items()):
            if len(indices) >= self._many:
                yield parts[indices[0] : indices[-1] + 1]

    def _level(self, part: Part) -> int:
        level, length = 0, part.length
        while length >= self._many:
            level, length = level + 1, length // self._many
        return level

    def _read(self, parts: Sequence[Part], schema: T.StructType) -> DataFrame:
        if not parts:
            return self._spark.createDataFrame([], schema)
        reader = self._spark.read.schema(schema).option("basePath", self._path)
        return reader.parquet(*map(self._place, parts)).select(*schema.fieldNames())

    def _write(self, frame: DataFrame, part: Part) -> None:
        frame.write.mode("overwrite").partitionBy(self._by).parquet(self._place(part))

    def _complete(self, found_parts: dict[Part, bool] | None = None) -> list[Part]:
        """Return the complete parts that are not yet joined into another, in order."""
        parts = [
            part for part, complete in (self._on_storage() if found_parts is None else found_parts).items() if complete
        ]
        return sorted(part for part in parts if not any(other.holds(part) for other in parts))

    def _on_storage(self) -> dict[Part, bool]:
        """Return every part in the folder, and whether it is complete."""
        parts = [Part.named(name) for name in self._files.names(self._path) if _PART.fullmatch(name)]
        return {part: self._files.exists(f"{self._place(part)}/{_SUCCESS}") for part in parts}

    def _place(self, part: Part) -> str:
        return f"{self._path}/{part.name}"


__all__ = ["MANY", "Part", "Parts"]
