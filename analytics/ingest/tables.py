"""The tables of a check: Parquet below one folder in any file system of Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

from pyspark.sql import DataFrame, SparkSession

AT_ONCE: Final = 2
"""How many threads plan and run queries. With few events most of the time is planning, which uses one thread for each query."""

T = TypeVar("T")


def at_once(*acts: Callable[[], T]) -> list[T]:
    """Run these functions, AT_ONCE at the same time, and return their results."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [future.result() for future in [pool.submit(act) for act in acts]]


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the tables of a check are.

    base: a path or URL; a table is `base/<layer>/<name>`.
    needed: the names of the tables that the chosen checks and the verdict need; None for all. `keep_all` only plans the others.
    """

    spark: SparkSession
    base: str
    needed: frozenset[str] | None = None

    def path(self, name: str) -> str:
        return f"{self.base.rstrip('/')}/{name}"

    def keep(self, name: str, frame: DataFrame, *, by: Sequence[str] = ()) -> DataFrame:
        """Write `frame` as the table `name`, partitioned by the columns `by`, and return the table read from its files. Then
        Spark plans later queries on the files."""
        writer = frame.write.mode("overwrite")
        (writer.partitionBy(*by) if by else writer).parquet(self.path(name))
        return self.whole(self.spark.read.schema(frame.schema).parquet(self.path(name)))

    def view(self, name: str, frame: DataFrame) -> DataFrame:
        """Return `frame` as a table that is not written, because it is about as large as what it is computed from."""
        return frame

    def keep_all(self, layer: str, plans: Mapping[str, Callable[[], DataFrame]]) -> dict[str, DataFrame]:
        """Keep several tables of a layer; `plans` has a function for each table that plans it."""

        def act(name: str) -> Callable[[], DataFrame]:
            full_name = f"{layer}/{name}"
            if self.needed is not None and full_name not in self.needed:
                return plans[name]
            return lambda: self.keep(full_name, plans[name]())

        return dict(zip(plans, at_once(*map(act, plans)), strict=True))

    def whole(self, frame: DataFrame) -> DataFrame:
        """If Spark is set to shuffle into one partition, return the frame in one partition, so that Spark plans no
        shuffle."""
        is_single = self.spark.conf.get("spark.sql.shuffle.partitions") == "1"
        return frame.coalesce(1) if is_single else frame
