"""Records the plan of every table of a check, and of every query about the tables, from the code that Spark runs.

Spark analyses each plan without data. In place of each table that a check keeps, there is an empty view with the table's name,
so the plans of later tables show which tables they read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812

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
from analytics.translate.operators import Translation
from analytics.translate.plan import Untranslatable, parsed
from analytics.translate.types import columns, duckdb_type
from analytics.verdicts import evaluate
from analytics.verdicts.findings import FINDINGS


@dataclass(frozen=True, slots=True)
class Recorder(Tables):
    """Tables that are planned and never computed.

    statements: those of the tables so far.
    """

    base: str = ""
    statements: list[Statement] = field(default_factory=list)

    def keep(self, name: str, frame: DataFrame, *, by: Sequence[str] = (), needs: Sequence[str] = ()) -> DataFrame:
        """Record a table, and return an empty view with its name."""
        statement = translated(name, frame)
        self.statements.append(replace(statement, needs=tuple(sorted(needs)), columns=columns(frame.schema)))
        return self.empty(name, frame.schema)

    view = keep

    def keep_all(self, layer: str, plans: Mapping[str, Callable[[], DataFrame]]) -> dict[str, DataFrame]:
        return {name: self.keep(f"{layer}/{name}", of()) for name, of in plans.items()}

    def empty(self, name: str, schema: T.StructType | str) -> DataFrame:
        """Return an empty view with this name."""
        self.spark.createDataFrame([], schema).createOrReplaceTempView(f"`{name}`")
        return self.spark.table(f"`{name}`")


def record(spark: SparkSession) -> Product:
    """Return the statements of all tables, in the order in which they are computed, and of the queries."""
    recorder = Recorder(spark)

    def rules(tables: Tables, material: Material, verdicts: DataFrame, *, unfinished: bool) -> DataFrame:
        about = evaluate.settled(verdicts, unfinished=unfinished)
        for name, checks in evaluate.checks_by_table(CHECKS).items():
            frame = evaluate.judge_table(name, material, about, checks)
            schema = recorder.keep(f"{RULES}{name}", frame, needs=NEEDS.get(name, ())).schema
        return recorder.empty(GOLD_RULES, schema)

    lines = recorder.empty("bronze", bronze.typed(spark.createDataFrame([], bronze.LINES)).schema)
    gold = judge(lines, recorder, look=lambda _: Seen(), rules=rules)
    parameters = {name: recorder.empty(f"{GIVEN_LAYER}{name}", ddl) for name, ddl in GIVEN.items()}
    return Product(
        shape={field.name: duckdb_type(field.dataType) for field in WIDE.fields},
        given=dict(GIVEN),
        tables=tuple(recorder.statements),
        findings=tuple(translated(name, query(gold)) for name, query in FINDINGS.items()),
        figures=tuple(translated(name, query(gold, parameters)) for name, query in FIGURES.items()),
        details=tuple(translated(name, query(gold, parameters)) for name, query in DETAILS.items()),
        published=tuple(translated(name, query(gold)) for name, query in PUBLISHED.items()),
    )


def translated(name: str, frame: DataFrame) -> Statement:
    """Return the statement of a table or a query. Raises Untranslatable, which names the table."""
    analyzed = frame._jdf.queryExecution().analyzed()  # a private name: PySpark itself shows a plan only as text
    try:
        return Statement(name, Translation().statement(parsed(iter(json.loads(analyzed.toJSON())), lambda: analyzed)))
    except Untranslatable as error:
        raise Untranslatable(f"{name}: {error}") from error
