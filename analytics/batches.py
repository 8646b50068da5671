"""A check as a Spark job: each task judges a batch of runs with the embedded engine, and the driver puts the findings together.

Spark lists the segments, in any file system that it knows. A task opens those with a path itself, on its own machine; Spark
reads only those at URLs, because their content goes through Java's memory several times. All segments of a place (a folder)
are in one batch, because nothing relates the runs of two places. A place that is too large for a task is judged by Spark's own
plans of the same tables (`analytics.pipeline`).

Example: on 4 cores, 1,000 runs of 100 KB become 4 batches of 25 MB, and 10,000 runs become 32 batches.

What must never happen: a task fails because of the content of a trace; then Spark would end the check of all others.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from analytics.embedded.engine import contents, segments
from analytics.embedded.engine import judged as judged_here
from analytics.embedded.task import RESULT, judge_batch, result_in
from analytics.ingest.bronze import SEGMENTS
from analytics.ingest.lines import is_segment, place_of
from analytics.ingest.tables import Tables
from analytics.ingest.worker import Task, in_worker
from analytics.pipeline import judged as judged_by_plans
from analytics.published.parquet import put_together
from analytics.published.tables import PUBLISHED
from analytics.report.answers import answers_of
from analytics.report.queries import FIGURES
from analytics.rows import Answers, Findings, Judged
from analytics.verdicts.conclusion import together
from analytics.verdicts.findings import FINDINGS
from traces.segments import is_url

BATCH_BYTES: Final = 32 * 1024 * 1024
"""A batch is closed when it has this size: large enough that planning the statements costs little, and small enough for the
memory of a task."""

SMALLEST_BATCH_BYTES: Final = 256 * 1024
"""A smaller batch would take longer to plan than to judge."""

LARGE_BYTES: Final = 700 * 1024 * 1024
"""A place of this size, about three million events, is too large for a task."""

LARGE_AT_URL_BYTES: Final = 100 * 1024 * 1024
"""The same for a place at a URL. Java holds its segments, the rows made of them, and the rows for Python."""

STAGES: Final = ("listing the segments", "judging the runs", "judging what is too large for a task")


@contextmanager
def judged(
    spark: SparkSession,
    places: Sequence[str],
    tables: Callable[[int], Tables],
    progress: Callable[[str], None] = lambda _: None,
    *,
    only: Collection[str] | None = None,
    report: bool = False,
    publish: bool = False,
    large_bytes: int = LARGE_BYTES,
) -> Iterator[Judged]:
    """Judge the traces in these places (paths or URLs of folders and files, or patterns of them).

    spark: any session, also one of Spark Connect.
    tables: returns the tables for the n-th place that is too large for a task.
    progress: called with the name of each stage.
    only: the folders of the runs that are judged; all if it is None.
    report: also compute the figures that a report has of all runs.
    publish: also make the published tables.
    """
    progress(STAGES[0])
    files = _binary(spark, places)
    sizes = {row.file: row.length for row in files.select("file", "length").collect() if is_segment(row.file)}
    of_place: dict[str, list[str]] = defaultdict(list)
    for file in sizes:
        if only is None or place_of(file) in only:
            of_place[place_of(file)].append(file)
    bytes_of = {place: sum(sizes[file] for file in of_place[place]) for place in of_place}
    at_url = min(large_bytes, LARGE_AT_URL_BYTES)
    large = [place for place in of_place if bytes_of[place] > (at_url if is_url(place) else large_bytes)]
    progress(STAGES[1])
    batches = _batches({place: bytes_of[place] for place in of_place if place not in large}, _cores(spark))
    of_batch = [[file for place in batch for file in of_place[place]] for batch in batches]
    figures = tuple(FIGURES) if report else ()
    task = in_worker(judge_batch, figures=figures, is_published=publish)
    with ExitStack() as kept:
        parts = kept.enter_context(tempfile.TemporaryDirectory(prefix="pflab-check-"))
        found = list(_judge_batches(spark, files, of_batch, task, parts))
        plans: list[Judged] = []
        for nth, place in enumerate(large):
            progress(STAGES[2])
            plans.append(kept.enter_context(judged_by_plans([_literal(file) for file in of_place[place]], tables(nth))))
            found.append({**plans[-1].findings, **{name: plans[-1].answers(name, {}) for name in figures}})
            if publish:
                plans[-1].publish(_folder(parts, f"plan-{nth}"))
        every = together(found) if found else {name: [] for name in (*FINDINGS, *figures)}

        def judge_again(few: set[str]) -> Answers:
            chosen = [file for place in few - set(large) for file in of_place[place]]
            again = [kept.enter_context(judged_here(_contents_of(files, chosen))), *plans]
            return lambda name, given: [row for each in again for row in each.answers(name, given)]

        def put(folder: str) -> None:
            for table in PUBLISHED:
                put_together(sorted(map(str, Path(parts).glob(f"*/{table}.parquet"))), f"{folder}/{table}.parquet")

        yield Judged({name: every[name] for name in FINDINGS}, answers_of(every, judge_again), put)


def publish(spark: SparkSession, found: Judged, url: str) -> None:
    """Write the published tables into a folder of any file system that Spark knows, in place of those that are there."""
    with tempfile.TemporaryDirectory(prefix="pflab-check-") as folder:
        found.publish(folder)
        for name in PUBLISHED:
            rows = spark.createDataFrame(pq.read_table(f"{folder}/{name}.parquet"))
            rows.write.mode("overwrite").parquet(f"{url.rstrip('/')}/{name}")


def checksums(spark: SparkSession, places: Sequence[str]) -> dict[str, str]:
    """Map each segment in these places to a checksum of its content; one that is too large for Spark's reader to its length and
    the time when it was written."""
    files = _binary(spark, places).withColumn("written", F.unix_millis("modificationTime").cast("string"))
    small = files.where(F.col("length") <= LARGE_BYTES).select("file", F.sha2("content", 256).alias("mark"))
    large = files.where(F.col("length") > LARGE_BYTES).select(
        "file", F.concat_ws("-", "length", "written").alias("mark")
    )
    return {row.file: row.mark for row in (*small.collect(), *large.collect()) if is_segment(row.file)}


def _binary(spark: SparkSession, places: Sequence[str]) -> DataFrame:
    """Return file, length, content of the segments. The file is a path without a scheme if it is on this machine."""
    read = spark.read.format("binaryFile").options(**SEGMENTS)
    return read.load([_literal(each) for place in places for each in _without_links(place)]).select(
        F.regexp_replace("path", "^file:/+", "/").alias("file"), "length", "modificationTime", "content"
    )


def _without_links(place: str) -> list[str]:
    """Return the place, or its segments if there are links in it: Spark would follow them round and round."""
    folders = os.walk(place) if not is_url(place) else ()
    has_links = any(
        name != "latest" and Path(folder, name).is_symlink() for folder, names, _ in folders for name in names
    )
    return segments([place]) if has_links else [place]


def _literal(place: str) -> str:
    """Return a place for Spark's readers, which take names for patterns. A name that exists on this machine is none."""
    return re.sub(r"([][*?{}\\])", r"\\\1", place) if not is_url(place) and Path(place).exists() else place


def _cores(spark: SparkSession) -> int:
    """Return how many tasks run at the same time: so many partitions has a range."""
    return spark.range(10_000).select(F.spark_partition_id().alias("part")).distinct().count()


def _batches(bytes_of: Mapping[str, int], cores: int) -> list[list[str]]:
    """Return batches of places, of about the same size: one for each core, fewer if they would be small, more if large."""
    total = sum(bytes_of.values())
    count = max(-(-total // BATCH_BYTES), min(cores, -(-total // SMALLEST_BATCH_BYTES)), 1)  # rounded up
    batches: list[list[str]] = [[] for _ in range(count)]
    filled = [0] * count
    for place in sorted(bytes_of, key=lambda name: (-bytes_of[name], name)):
        smallest = filled.index(min(filled))
        batches[smallest].append(place)
        filled[smallest] += bytes_of[place]
    return [batch for batch in batches if batch]


def _judge_batches(
    spark: SparkSession, files: DataFrame, batches: Sequence[Sequence[str]], task: Task, parts: str
) -> Iterator[Findings]:
    """Yield the findings and the figures of each batch of files.

    parts: the folder for the published tables.
    """
    if not batches:
        return
    keys = _keys(spark, len(batches))
    chosen = [(file, key) for key, batch in zip(keys, batches, strict=True) for file in batch]
    at_urls = [(file, key) for file, key in chosen if is_url(file)]
    keyed = _keyed(spark, [(file, key) for file, key in chosen if not is_url(file)])
    keyed = keyed.withColumn("content", F.lit(None).cast("binary"))
    if at_urls:
        keyed = keyed.unionByName(files.select("file", "content").join(F.broadcast(_keyed(spark, at_urls)), "file"))
    rows = keyed.repartition(len(batches), "key").select("file", "content").mapInArrow(task, f"{RESULT} binary")
    for nth, row in enumerate(rows.collect()):
        findings, tables = result_in(bytes(row[0]))
        for name, content in tables.items():
            Path(_folder(parts, str(nth)), f"{name}.parquet").write_bytes(content)
        yield findings


def _keyed(spark: SparkSession, chosen: Sequence[tuple[str, int]]) -> DataFrame:
    return spark.createDataFrame(chosen, "file string, key bigint")


def _contents_of(files: DataFrame, chosen: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Yield these segments and their content, on this machine if they are there."""
    elsewhere = [file for file in chosen if is_url(file) or not Path(file).exists()]
    yield from contents(sorted(set(chosen).difference(elsewhere)))
    if elsewhere:
        rows = files.where(F.col("file").isin(elsewhere)).select("file", "content").dropDuplicates(["file"])
        yield from ((row.file, bytes(row.content)) for row in rows.collect())


def _folder(parts: str, name: str) -> str:
    folder = Path(parts, name)
    folder.mkdir(exist_ok=True)
    return str(folder)


def _keys(spark: SparkSession, count: int) -> list[int]:
    """Return a number for each of `count` partitions that Spark puts into this partition."""
    part = F.pmod(F.hash("id"), F.lit(count))
    rows = spark.range(64 * count + 64).groupBy(part.alias("part")).agg(F.min("id").alias("key")).collect()
    return [row.key for row in rows]
