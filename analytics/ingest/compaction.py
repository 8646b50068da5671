"""A table that grows by batches. Neighbouring parts are joined, so that the number of small files stays limited.

A part is a folder `batches=FIRST-LAST` of Parquet with all rows of these batches. It is complete when Spark has marked it. At
first each batch is a part. MANY parts of about one length are joined into one, so there are at most about MANY parts for each
power of MANY. A part whose batches are all in a larger complete part was joined into it, and its files can be deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812 - as everybody names it

from analytics.ingest.tables import Tables

MANY: Final = 16
"""Parts of about one length that become one."""

_COLUMN: Final = "batches"
"""How Spark's readers see the parts: as values of a column by which the table is partitioned."""

_WHOLE: Final = "_SUCCESS"
"""Spark's mark in a folder that was written to its end."""


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
        """The other way round."""
        first, last = name.removeprefix(f"{_COLUMN}=").split("-")
        return cls(int(first), int(last))

    @property
    def length(self) -> int:
        return self.last - self.first + 1

    def holds(self, other: Part) -> bool:
        return self != other and self.first <= other.first and other.last <= self.last


class Parts:
    """The table `name`, partitioned by the column `by`; `many`: after how many parts they are joined."""

    def __init__(self, tables: Tables, name: str, by: str, *, many: int = MANY) -> None:
        self._tables = tables
        self._path = tables.path(name)
        self._by = by
        self._many = many

    def write(self, frame: DataFrame, batch: int) -> None:
        """The batch of this number. Written again, as after a kill, it takes the place of what the first time left."""
        self._write(frame, Part(batch, batch))

    def read(self, schema: T.StructType) -> DataFrame:
        """All rows of all batches."""
        return self._read(self._whole(), schema)

    def join(self, schema: T.StructType) -> None:
        """Join what has piled up, and take away what was joined. Not while batches are written."""
        while (run := next(self._piles(), None)) is not None:
            # So each value of `by` comes to one task, which writes one file.
            rows = self._read(run, schema).repartition(self._by)
            self._write(rows, Part(run[0].first, run[-1].last))
        there = self._there()
        for part in {*there} - {*self._whole(there)}:
            self._files.delete(self._on_disk(self._place(part)), True)

    def _piles(self) -> Iterator[Sequence[Part]]:
        """Parts to be joined: MANY of one level with all that lies between them; short ones before long ones."""
        parts = self._whole()
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
        spark = self._tables.spark
        if not parts:
            return spark.createDataFrame([], schema)
        read = spark.read.schema(schema).option("basePath", self._path)
        return read.parquet(*map(self._place, parts)).select(*schema.fieldNames())

    def _write(self, frame: DataFrame, part: Part) -> None:
        frame.write.mode("overwrite").partitionBy(self._by).parquet(self._place(part))

    def _whole(self, there: dict[Part, bool] | None = None) -> list[Part]:
        """Those that are whole and not joined yet, in order."""
        found = [part for part, whole in (self._there() if there is None else there).items() if whole]
        return sorted(part for part in found if not any(other.holds(part) for other in found))

    def _there(self) -> dict[Part, bool]:
        """All that lies there, and whether it is whole."""
        if not self._files.exists(self._on_disk(self._path)):
            return {}
        folders = [each.getPath() for each in self._files.listStatus(self._on_disk(self._path))]
        parts = {Part.named(str(each.getName())): each for each in folders}
        return {part: bool(self._files.exists(self._on_disk(f"{each}/{_WHOLE}"))) for part, each in parts.items()}

    def _place(self, part: Part) -> str:
        return f"{self._path}/{part.name}"

    def _on_disk(self, path: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(path)

    @property
    def _files(self) -> Any:
        """The file system that Spark has for the path, whatever it is."""
        return self._on_disk(self._path).getFileSystem(self._tables.spark.sparkContext._jsc.hadoopConfiguration())

    @property
    def _java(self) -> Any:
        return self._tables.spark.sparkContext._jvm


__all__ = ["MANY", "Part", "Parts"]
