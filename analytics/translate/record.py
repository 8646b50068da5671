"""Records the plan of every table of a check, and of every query about the tables, from the code that Spark runs.

Spark analyses each plan without data. A table that is kept becomes an empty view with the name of the table, so that the plans
of later tables show what they read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.classic.dataframe import DataFrame as OfJava

from analytics.evidence import evidence
from analytics.ingest.schemas import WIDE
from analytics.ingest.silver import Seen
from analytics.ingest.tables import Tables
from analytics.pipeline import judge
from analytics.rules.catalogue import CHECKS
from analytics.rules.required_events import NEEDS
from analytics.translate.operators import statement
from analytics.translate.plan import Untranslatable
from analytics.verdicts import evaluate
from analytics.verdicts.findings import FINDINGS

BRONZE = "bronze"
RULES = "rules/"
GOLD_RULES = "gold/rules"
QUERY = "query/"

BRONZE_SCHEMA = T.StructType(
    [
        *(T.StructField(name, T.StringType()) for name in ("trace", "place", "file", "aside", "text")),
        T.StructField("hash", T.LongType()),
        *WIDE.fields,
        T.StructField("family", T.StringType()),
    ]
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A table or a query. reads: the tables that it reads. needs: it is empty unless an event of one of these types occurs; ()
    if it is always computed."""

    name: str
    sql: str
    reads: frozenset[str]
    needs: tuple[str, ...] = ()


@dataclass(slots=True)
class Recorder:
    """Takes the place of `Tables` while the tables are planned."""

    spark: SparkSession
    recorded: list[Recorded] = field(default_factory=list)

    def record(self, name: str, frame: DataFrame, needs: tuple[str, ...] = ()) -> None:
        if not isinstance(frame, OfJava):
            raise TypeError("only a classic session shows its plans")
        plan = json.loads(frame._jdf.queryExecution().analyzed().toJSON())
        try:
            sql, reads = statement(plan)
        except Untranslatable as error:
            raise Untranslatable(f"{name}: {error}") from error
        self.recorded.append(Recorded(name, sql, reads, needs))

    def table(self, name: str, schema: T.StructType) -> DataFrame:
        """Return an empty view with this name."""
        self.spark.createDataFrame([], schema).createOrReplaceTempView(f"`{name}`")
        return self.spark.table(f"`{name}`")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recording(Tables):
    """Tables that are planned and never computed."""

    recorder: Recorder

    def keep(self, name: str, frame: DataFrame, *, by: Sequence[str] = ()) -> DataFrame:
        self.recorder.record(name, frame)
        return self.recorder.table(name, frame.schema)

    view = keep

    def keep_all(self, layer: str, made: Mapping[str, Callable[[], DataFrame]]) -> dict[str, DataFrame]:
        return {name: self.keep(f"{layer}/{name}", of()) for name, of in made.items()}


def record(spark: SparkSession) -> list[Recorded]:
    """Return all tables in the order in which they are computed, then the queries."""
    recorder = Recorder(spark)
    kept = _Recording(spark, "", recorder=recorder)

    def rules(tables: Tables, material: evidence.Material, verdicts: DataFrame, *, unfinished: bool) -> DataFrame:
        about = evaluate.settled(verdicts, unfinished=unfinished)
        schema: Any = None
        for name, checks in evaluate.checks_by_table(CHECKS).items():
            frame = evaluate.judge_table(name, material, about, checks)
            recorder.record(f"{RULES}{name}", frame, tuple(sorted(NEEDS.get(name, ()))))
            schema = frame.schema
        return recorder.table(GOLD_RULES, schema)

    bronze = recorder.table(BRONZE, BRONZE_SCHEMA)
    gold = judge(bronze, kept, look=lambda _: Seen(), rules=rules)
    for name, query in FINDINGS.items():
        recorder.record(f"{QUERY}{name}", query(gold))
    return recorder.recorded
