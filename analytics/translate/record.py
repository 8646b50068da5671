"""Records the plan of every table of a check, and of every query about the tables, from the code that Spark runs.

Spark analyses each plan without data. In place of each table that a check keeps, there is an empty view with the table's name,
so the plans of later tables show which tables they read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.classic.dataframe import DataFrame as OfJava

from analytics.embedded.product import GIVEN as GIVEN_LAYER
from analytics.embedded.product import GOLD_RULES, RULES, Product, Statement
from analytics.evidence.material import Material
from analytics.ingest import bronze
from analytics.ingest.schemas import WIDE
from analytics.ingest.silver import Seen
from analytics.ingest.tables import Tables
from analytics.pipeline import judge
from analytics.published.tables import PUBLISHED
from analytics.report.queries import DETAILS, FIGURES, GIVEN
from analytics.rules.catalogue import CHECKS
from analytics.rules.required_events import NEEDS
from analytics.translate.operators import statement
from analytics.translate.plan import Untranslatable
from analytics.translate.types import duckdb_type, fields_of, json_shape, quoted
from analytics.verdicts import evaluate
from analytics.verdicts.findings import FINDINGS


@dataclass(slots=True)
class Recorder:
    """Takes the place of `Tables` while the tables are planned.

    tables: their statements so far.
    """

    spark: SparkSession
    tables: list[Statement] = field(default_factory=list)

    def record(self, name: str, frame: DataFrame, needs: tuple[str, ...] = ()) -> None:
        columns = ", ".join(
            f"{quoted(each)} {duckdb_type(of)}" for each, of in fields_of(json.loads(frame.schema.json()))
        )
        self.tables.append(replace(translated(name, frame), needs=needs, columns=columns))

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


def record(spark: SparkSession) -> Product:
    """Return the statements of all tables, in the order in which they are computed, and of the queries."""
    recorder = Recorder(spark)

    def rules(tables: Tables, material: Material, verdicts: DataFrame, *, unfinished: bool) -> DataFrame:
        about = evaluate.settled(verdicts, unfinished=unfinished)
        schema: Any = None
        for name, checks in evaluate.checks_by_table(CHECKS).items():
            frame = evaluate.judge_table(name, material, about, checks)
            recorder.record(f"{RULES}{name}", frame, tuple(sorted(NEEDS.get(name, ()))))
            schema = frame.schema
        return recorder.table(GOLD_RULES, schema)

    lines = bronze.typed(spark.createDataFrame([], bronze.LINES))
    kept = _Recording(spark, "", recorder=recorder)
    gold = judge(recorder.table("bronze", lines.schema), kept, look=lambda _: Seen(), rules=rules)
    findings = tuple(translated(name, query(gold)) for name, query in FINDINGS.items())
    given = {name: recorder.table(f"{GIVEN_LAYER}{name}", _schema(spark, columns)) for name, columns in GIVEN.items()}
    figures, details = (
        tuple(translated(name, query(gold, given)) for name, query in queries.items()) for queries in (FIGURES, DETAILS)
    )
    published = tuple(translated(name, query(gold)) for name, query in PUBLISHED.items())
    shape = json_shape(json.loads(WIDE.json()))
    return Product(shape, dict(GIVEN), tuple(recorder.tables), findings, figures, details, published)


def _schema(spark: SparkSession, columns: str) -> T.StructType:
    return spark.createDataFrame([], columns).schema


def translated(name: str, frame: DataFrame) -> Statement:
    """Return the statement of a table or a query. Raises Untranslatable, which names the table."""
    if not isinstance(frame, OfJava):
        raise TypeError("only a classic session shows its plans")
    plan = json.loads(frame._jdf.queryExecution().analyzed().toJSON())
    try:
        return Statement(name, statement(plan))
    except Untranslatable as error:
        raise Untranslatable(f"{name}: {error}") from error
