"""Measure pflab check on generated traces, beside DuckDB in the same run (`make bench-analytics`).

    python -m bench.scale.analytics                 1 and 10 million events
    python -m bench.scale.analytics 100000          this number of events

Spark has the settings that `pflab check` chooses for this size. The conversion from JSON to Parquet and the checks are measured
separately. DuckDB converts the same files to the same columns, and runs the convergence query. The traces contain faults, and
both engines must find all of them. The memory peaks are those of Spark's Python and Java processes before DuckDB runs.

Processor time is user and system time of all processes of an engine, so it depends less than elapsed time on what else the
machine does. jit_cpu_s is the part of it that Java's compilers used, and classes is the number of classes that Spark generated.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import duckdb
from pyspark.sql import types as T  # noqa: N812 - as everybody names it

from analytics import pipeline
from analytics.generate import Shape, generate
from analytics.ingest import bronze
from analytics.ingest.schemas import WIDE
from analytics.ingest.session import JAVA, LOCAL_JAVA, new_session
from analytics.ingest.tables import Tables
from analytics.verdicts.conclusion import conclude

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIZES = (1_000_000, 10_000_000)
FAULT_EVERY = 500

T_ = TypeVar("T_")

CONVERGENCE = """
with made as (select number, object from read_parquet('{bronze}/family=change/*.parquet') where type = 'change.made'),
     stores as (select distinct node from read_parquet('{bronze}/family=run/*.parquet') where type = 'node.started'),
     had as (select distinct node, number from read_parquet('{bronze}/family=change/*.parquet')
             where type in ('change.made', 'version.applied'))
select count(*) from made cross join stores anti join had on had.node = stores.node and had.number = made.number
"""
"""Counts the changes that a store lacks. Without edits and deletions these are all mismatches."""


_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
_COMPILERS: Final = ("C1 Compiler", "C2 Compiler")
"""How the names of Java's compiler threads begin. Java's own figure for the time of its compilers is elapsed time."""

_DUCKDB_TYPES: Final[Mapping[T.DataType, str]] = {
    T.LongType(): "BIGINT",
    T.StringType(): "VARCHAR",
    T.DoubleType(): "DOUBLE",
    T.BooleanType(): "BOOLEAN",
}


@dataclass(frozen=True, slots=True)
class Used:
    """What an engine used for a step, or since its start: seconds, processor seconds, processor seconds of Java's compilers,
    and generated classes."""

    s: float
    cpu_s: float
    jit_cpu_s: float = 0.0
    classes: int = 0

    def since(self, before: Used) -> Used:
        return Used(
            self.s - before.s,
            self.cpu_s - before.cpu_s,
            self.jit_cpu_s - before.jit_cpu_s,
            self.classes - before.classes,
        )

    def figures(self, step: str) -> Iterator[str]:
        yield f"{step}_s={self.s:.1f}"
        yield f"{step}_cpu_s={self.cpu_s:.1f}"
        if self.jit_cpu_s:
            yield f"{step}_jit_cpu_s={self.jit_cpu_s:.1f}"
            yield f"{step}_classes={self.classes}"


def used_by_python() -> Used:
    """Return what this process has used, and DuckDB in it."""
    times = os.times()
    return Used(time.perf_counter(), times.user + times.system)


def used_by_spark(spark: SparkSession) -> Used:
    """Return what this process and Spark's Java have used."""
    jvm: Any = spark.sparkContext._jvm
    java = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]  # it exists while the session does
    compilers = [stat for stat in Path(f"/proc/{java}/task").glob("*/stat") if _name(stat).startswith(_COMPILERS)]
    sizes = jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_GENERATED_CLASS_BYTECODE_SIZE()
    own = used_by_python()
    return Used(
        own.s, own.cpu_s + _cpu_s(Path(f"/proc/{java}/stat")), sum(map(_cpu_s, compilers)), int(sizes.getCount())
    )


def _name(stat: Path) -> str:
    """Return the name of a process or thread (proc_pid_stat(5))."""
    return stat.read_text().partition("(")[2].rpartition(")")[0]


def _cpu_s(stat: Path) -> float:
    """Return the processor time of a process or thread (proc_pid_stat(5))."""
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def measured(used: Callable[[], Used], work: Callable[[], T_]) -> tuple[Used, T_]:
    """Do this work, and return what it used and its result."""
    before = used()
    done = work()
    return used().since(before), done


def read_with_duckdb(place: Path, to: Path) -> None:
    """Convert the traces to Parquet as Spark does, with the columns of WIDE. DuckDB keeps nested values as JSON."""
    columns = ", ".join(f"'{field.name}': '{_DUCKDB_TYPES.get(field.dataType, 'JSON')}'" for field in WIDE.fields)
    read = f"read_json('{place}/**/*.jsonl', format='newline_delimited', columns={{{columns}}})"
    duckdb.connect().execute(f"copy (select * from {read}) to '{to}' (format parquet)")


def peak_mib(pid: int | str) -> int:
    """Return the peak memory of a process (VmHWM of proc_pid_status(5)), in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024


def measure(events: int) -> None:
    shape = Shape.of_events(events, fault_every=FAULT_EVERY)
    # Java starts compiler threads as it needs them, and the processor time of those that have ended is lost.
    spark = new_session(settings={JAVA: f"{LOCAL_JAVA} -XX:-UseDynamicNumberOfCompilerThreads"})
    with tempfile.TemporaryDirectory(prefix="pflab-bench-") as folder:
        place = Path(folder) / "trace"
        tables = Tables(spark, f"{folder}/tables")
        generate(spark, shape, place)
        read, kept = measured(
            lambda: used_by_spark(spark),
            lambda: tables.keep("bronze", bronze.read_lines(spark, [str(place)]), by=["family"]),
        )
        checks, result = measured(
            lambda: used_by_spark(spark),
            lambda: conclude(pipeline.findings_of(pipeline.judge(kept, tables))),
        )
        java = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]  # it exists while the session does
        python_mib, java_mib = peak_mib("self"), peak_mib(java)
        lacks = spark.read.parquet(tables.path("gold/mismatches")).count()
        duck_read, _ = measured(used_by_python, lambda: read_with_duckdb(place, Path(folder) / "duckdb.parquet"))
        query = CONVERGENCE.format(bronze=f"{folder}/tables/bronze")
        duck, (found,) = measured(used_by_python, lambda: duckdb.connect().execute(query).fetchone() or (None,))
    spark.stop()
    figures = (
        f"events={shape.events}",
        *read.figures("read"),
        *duck_read.figures("duckdb_read"),
        *checks.figures("checks"),
        *duck.figures("duckdb_convergence"),
        f"faults_planted={shape.faults}",
        f"faults_spark={lacks}",
        f"faults_duckdb={found}",
        f"rule_violations={result.violations}",
        f"python_mib={python_mib}",
        f"java_mib={java_mib}",
    )
    print("  ".join(figures), flush=True)
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
