"""The tables of a check: Parquet below one folder, in any file system that Spark writes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Tables:
    """`base`: a path or URL; a table is `base/<layer>/<name>`."""

    spark: SparkSession
    base: str

    def path(self, name: str) -> str:
        return f"{self.base.rstrip('/')}/{name}"

    def keep(self, name: str, frame: DataFrame, *, by: Sequence[str] = ()) -> DataFrame:
        """Write `frame` as the table `name`, partitioned `by` these columns, and read it back: what is computed from it
        starts at the files."""
        writer = frame.write.mode("overwrite")
        (writer.partitionBy(*by) if by else writer).parquet(self.path(name))
        return self.spark.read.schema(frame.schema).parquet(self.path(name))
