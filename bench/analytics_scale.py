"""Measure pflab check, and DuckDB with the same convergence query, on generated traces (`make bench-analytics`).

    python -m bench.analytics_scale                 1 and 10 million events
    python -m bench.analytics_scale 100000          this number of events

The conversion from JSON to Parquet and the checks are timed separately. The traces contain faults, and both engines must
find all of them. The memory peaks are those of Spark's Python and Java processes before DuckDB runs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb

from analytics import pipeline
from analytics.generate import Shape, generate
from analytics.ingest import bronze
from analytics.ingest.session import new_session
from analytics.ingest.tables import Tables

SIZES = (1_000_000, 10_000_000)
FAULT_EVERY = 500

T = TypeVar("T")

CONVERGENCE = """
with made as (select number, object from read_parquet('{bronze}/family=change/*.parquet') where type = 'change.made'),
     stores as (select distinct node from read_parquet('{bronze}/family=run/*.parquet') where type = 'node.started'),
     had as (select distinct node, number from read_parquet('{bronze}/family=change/*.parquet')
             where type in ('change.made', 'version.applied'))
select count(*) from made cross join stores anti join had on had.node = stores.node and had.number = made.number
"""
"""Counts the changes that a store lacks. Without edits and deletions these are all mismatches."""


def timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    done = work()
    return time.perf_counter() - began, done


def peak_mib(pid: int | str) -> int:
    """Return the peak memory of a process (VmHWM of proc_pid_status(5)), in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024


def measure(events: int) -> None:
    spark = new_session()
    shape = Shape.of_events(events, fault_every=FAULT_EVERY)
    with tempfile.TemporaryDirectory(prefix="pflab-bench-") as folder:
        place = Path(folder) / "trace"
        tables = Tables(spark, f"{folder}/tables")
        generated_s, _ = timed(lambda: generate(spark, shape, place))
        parquet_s, kept = timed(
            lambda: tables.keep("bronze", bronze.parse(bronze.read_lines(spark, [str(place)])), by=["family"])
        )
        checks_s, result = timed(lambda: pipeline.conclude(pipeline.judge(kept, tables)))
        java = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]  # it exists while the session does
        python_mib, java_mib = peak_mib("self"), peak_mib(java)
        lacks = spark.read.parquet(tables.path("gold/mismatches")).count()
        query = CONVERGENCE.format(bronze=f"{folder}/tables/bronze")
        duck_s, (found,) = timed(lambda: duckdb.connect().execute(query).fetchone() or (None,))
    spark.stop()
    figures = {
        "events": shape.events,
        "generated_s": round(generated_s, 1),
        "json_to_parquet_s": round(parquet_s, 1),
        "json_to_parquet_events_s": round(shape.events / parquet_s),
        "checks_s": round(checks_s, 1),
        "checks_events_s": round(shape.events / checks_s),
        "duckdb_convergence_s": round(duck_s, 2),
        "faults_planted": shape.faults,
        "faults_spark": lacks,
        "faults_duckdb": found,
        "rule_violations": result.violations,
        "python_mib": python_mib,
        "java_mib": java_mib,
    }
    print("  ".join(f"{name}={value}" for name, value in figures.items()), flush=True)
    if not shape.faults == lacks == found:
        sys.exit("the engines did not find the planted faults")


def main(args: list[str]) -> None:
    sizes = [int(arg) for arg in args] or list(SIZES)
    if len(sizes) == 1:
        measure(sizes[0])
        return
    for size in sizes:  # a new process for each, because memory peaks never fall
        if subprocess.run([sys.executable, "-m", __spec__.name, str(size)], check=False).returncode:
            sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
