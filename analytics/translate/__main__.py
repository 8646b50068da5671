"""Write the statements of the embedded engine: make sql, or python -m analytics.translate [FILE]."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from analytics.embedded.product import JUDGE, Product, Statement
from analytics.ingest.schemas import WIDE
from analytics.ingest.session import TINY, new_session
from analytics.translate.record import QUERY, record
from analytics.translate.types import json_shape
from analytics.verdicts.result import counted


def made(spark: SparkSession) -> Product:
    """Record all plans with Spark, and translate them."""
    recorded = record(spark)
    queries = [each for each in recorded if each.name.startswith(QUERY)]
    return Product(
        json_shape(json.loads(WIDE.json())),
        tuple(Statement(each.name, each.sql, each.needs) for each in recorded if each not in queries),
        tuple(Statement(each.name.removeprefix(QUERY), each.sql) for each in queries),
    )


def main() -> int:
    """Write the file."""
    spark = new_session("local[1]", TINY)
    try:
        written = made(spark)
    finally:
        spark.stop()
    file = Path(sys.argv[1]) if sys.argv[1:] else JUDGE
    file.write_text(written.text(), encoding="utf-8")
    print(f"{file.name}: written, {counted(len(written.tables) + len(written.queries), 'statement')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
