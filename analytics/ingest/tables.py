"""The tables of a check: Parquet below one folder in any file system of Spark, or in Spark's memory for small traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as OfJava

AT_ONCE: Final = 2
"""Over few events most of the time goes into planning, which is one thread's work: so many threads plan."""

T = TypeVar("T")


def at_once(*acts: Callable[[], T]) -> list[T]:
    """What these come to, some of them running beside each other."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [each.result() for each in [pool.submit(act) for act in acts]]


@dataclass(frozen=True, slots=True)
class Tables:
    """`base`: a path or URL; a table is `base/<layer>/<name>`. held: the rows of a table stay with Spark's driver and are not
    written, for a few megabytes of traces of which nobody keeps the tables."""

    spark: SparkSession
    base: str
    held: bool = False

    def path(self, name: str) -> str:
        return f"{self.base.rstrip('/')}/{name}"

    def keep(self, name: str, frame: DataFrame, *, by: Sequence[str] = ()) -> DataFrame:
        """Write `frame` as the table `name`, partitioned `by` these columns, and read it back: what is computed from it
        starts at the files, and is planned from there. Held tables begin there too, and what is empty is not even planned."""
        if self.held:
            return self._hold(frame)
        writer = frame.write.mode("overwrite")
        (writer.partitionBy(*by) if by else writer).parquet(self.path(name))
        return self.whole(self.spark.read.schema(frame.schema).parquet(self.path(name)))

    def _hold(self, frame: DataFrame) -> DataFrame:
        """Its rows, as a table of the driver. They never come to Python: that would take longer than to write them."""
        made = frame._jdf
        session = self.spark._jsparkSession
        return OfJava(session.createDataFrame(made.collectAsList(), made.schema()), self.spark)

    def keep_all(self, layer: str, made: Mapping[str, Callable[[], DataFrame]]) -> dict[str, DataFrame]:
        """The same for several tables of a layer, by name, each with what makes it."""

        def act(name: str) -> Callable[[], DataFrame]:
            return lambda: self.keep(f"{layer}/{name}", made[name]())

        return dict(zip(made, at_once(*map(act, made)), strict=True))

    def whole(self, frame: DataFrame) -> DataFrame:
        """In one partition if every shuffle would make one: who knows that there is but one shuffles nothing."""
        one = self.spark.conf.get("spark.sql.shuffle.partitions") == "1"
        return frame.coalesce(1) if one else frame
