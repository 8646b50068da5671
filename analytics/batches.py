"""A check as a Spark job: each task judges a batch of runs with the embedded engine, and the driver puts the findings together.

A task opens segments with a path itself, on its own machine. Spark lists and reads only those at URLs, in any file system that
it knows, because their content goes through Java's memory several times. All segments of a place (a folder) are in one batch,
because nothing relates the runs of two places. A place that is too large for a task is judged by Spark's own plans of the same
tables (`analytics.pipeline`).

Example: on 4 cores, 1,000 runs of 100 KB become 4 batches of 25 MB, and 10,000 runs become 32 batches.

What must never happen: a task fails because of the content of a trace; then Spark would end the check of all others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq  # type: ignore[import-untyped]
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from analytics.embedded.engine import judged as judged_here
from analytics.embedded.product import Rules
from analytics.embedded.task import MARKS, RESULT, checksum_files, judge_contents, judge_files, result_in
from analytics.errors import AnalyticsError
from analytics.ingest.bronze import SEGMENTS
from analytics.ingest.file_system import FileSystem
from analytics.ingest.lines import is_segment, place_of
from analytics.ingest.places import contents, segments, sizes
from analytics.ingest.session import in_a_line
from analytics.ingest.tables import Tables
from analytics.ingest.worker import in_worker
from analytics.pipeline import judged as judged_by_plans
from analytics.published.parquet import put_together
from analytics.published.tables import PUBLISHED
from analytics.report.answers import answers_of
from analytics.report.queries import FIGURES
from analytics.rows import Answers, Findings, Judged
from analytics.verdicts.conclusion import together
from analytics.verdicts.findings import FINDINGS
from traces.segments import is_url
from traces.temporary_folder import temporary_folder

BATCH_BYTES: Final = 32 * 1024 * 1024
"""A batch is closed when it has this size: large enough that planning the statements costs little, and small enough for the
memory of a task."""

SMALLEST_BATCH_BYTES: Final = 256 * 1024
"""A smaller batch would take longer to plan than to judge."""

LARGE_BYTES: Final = 700 * 1024 * 1024
"""A place of this size, about three million events, is too large for a task."""

LARGE_AT_URL_BYTES: Final = 100 * 1024 * 1024
"""The same for a place at a URL. Java holds its segments, the rows made of them, and the rows for Python."""

_OF_SPARK: Final = re.compile(r"part-|_SUCCESS$|_temporary$|\.part-.*\.crc$|\._SUCCESS\.crc$")
"""Begins the names of the files that Spark writes for a table."""

STAGES: Final = ("listing the segments", "judging the runs", "judging what is too large for a task")


@contextmanager
def judged(
    spark: SparkSession,
    places: Sequence[str],
    tables: Callable[[int], Tables],
    progress: Callable[[str], None] = lambda _: None,
    *,
    only: Collection[str] | None = None,
    rules: Rules | None = None,
    report: bool = False,
    publish: bool = False,
    large_bytes: int = LARGE_BYTES,
) -> Iterator[Judged]:
    """Judge the traces in these places: paths of folders and files on this machine, and URLs, which may be patterns.

    spark: any session, also one of Spark Connect.
    tables: returns the tables for the n-th place that is too large for a task.
    progress: called with the name of each stage.
    only: the folders of the runs that are judged; all if it is None.
    rules: the chosen checks; None for all.
    report: also compute the figures that a report has of all runs.
    publish: also make the published tables.
    """
    progress(STAGES[0])
    urls = [place for place in places if is_url(place)]
    listed = sizes(segments(place for place in places if not is_url(place))) | _lengths(spark, urls)
    length = {file: size for file, size in listed.items() if only is None or place_of(file) in only}
    of_place: dict[str, list[str]] = defaultdict(list)
    for file in length:
        of_place[place_of(file)].append(file)
    bytes_of = _bytes_of(length)
    large = too_large(length, large_bytes)
    progress(STAGES[1])
    cores = cache(partial(_cores, spark))

    def batched(of: Callable[[str], bool]) -> list[list[str]]:
        small = {place: bytes_of[place] for place in of_place if of(place) and place not in large}
        return [[file for place in batch for file in of_place[place]] for batch in _batches(small, cores)]

    figures = tuple(FIGURES) if report else ()
    options = {"figures": figures, "is_published": publish, "rules": rules}
    with ExitStack() as resources:
        parts = resources.enter_context(temporary_folder("pflab-check-"))
        jobs = (
            _judging_files(spark, batched(lambda place: not is_url(place)), options),
            _judging_contents(spark, urls, batched(is_url), options),
        )
        rows = (row for job in jobs if job is not None for row in job.collect())
        judgements = [_findings_in(bytes(row[0]), _folder(parts, str(nth))) for nth, row in enumerate(rows)]
        plans: list[Judged] = []
        for nth, place in enumerate(large):
            progress(STAGES[2])
            plans.append(
                resources.enter_context(
                    judged_by_plans([_literal(file) for file in of_place[place]], tables(nth), rules=rules)
                )
            )
            judgements.append({**plans[-1].findings, **{name: plans[-1].answers(name, {}) for name in figures}})
            if publish:
                plans[-1].publish(_folder(parts, f"plan-{nth}"))
        every = together(judgements) if judgements else {name: [] for name in (*FINDINGS, *figures)}

        def judge_again(few: set[str]) -> Answers:
            chosen = [file for place in few - set(large) for file in of_place[place]]
            again = [resources.enter_context(judged_here(_contents_of(spark, urls, chosen))), *plans]
            return lambda name, parameters: [row for results in again for row in results.answers(name, parameters)]

        def put(folder: str) -> None:
            for table in PUBLISHED:
                put_together(sorted(map(str, Path(parts).glob(f"*/{table}.parquet"))), f"{folder}/{table}.parquet")

        yield Judged({name: every[name] for name in FINDINGS}, answers_of(every, judge_again), put)


def too_large(length: Mapping[str, int], large_bytes: int = LARGE_BYTES) -> list[str]:
    """Return the places that are too large for a task.

    length: the size of each segment.
    """
    at_url = min(large_bytes, LARGE_AT_URL_BYTES)
    return [place for place, size in _bytes_of(length).items() if size > (at_url if is_url(place) else large_bytes)]


def _bytes_of(length: Mapping[str, int]) -> dict[str, int]:
    """Map each place to the size of its segments."""
    bytes_of: dict[str, int] = defaultdict(int)
    for file, size in length.items():
        bytes_of[place_of(file)] += size
    return bytes_of


def need_own_tables(spark: SparkSession, url: str) -> None:
    """Raise AnalyticsError if the folder of a table at this URL has a file that Spark has not written: `publish` would delete
    it."""
    try:
        files = FileSystem(spark.sparkContext)
    except AttributeError as error:
        raise AnalyticsError(
            f"{url}: tables at a URL are written in a classic session, not over Spark Connect"
        ) from error
    for table in PUBLISHED:
        folder = f"{url.rstrip('/')}/{table}"
        with _listing([folder]):
            names = files.names(folder)
        foreign = next((name for name in names if not _OF_SPARK.match(name)), None)
        if foreign is not None:
            raise AnalyticsError(
                f"{folder}/{foreign}: pflab did not write this file, and would delete it; move it, or give another URL with"
                " --tables"
            )


def publish(spark: SparkSession, outcome: Judged, url: str) -> None:
    """Write the published tables into a folder of any file system that Spark knows, in place of those that are there
    (`need_own_tables`)."""
    with temporary_folder("pflab-check-") as folder:
        outcome.publish(folder)
        for name in PUBLISHED:
            rows = spark.createDataFrame(pq.read_table(f"{folder}/{name}.parquet"))
            rows.write.mode("overwrite").parquet(f"{url.rstrip('/')}/{name}")


def checksums(spark: SparkSession, places: Sequence[str]) -> dict[str, str]:
    """Map each segment in these places to a checksum of its content. A segment that is too large for Spark's reader is mapped
    to its length and the time when it was written."""
    local = segments(place for place in places if not is_url(place))
    checksums_of = in_worker(checksum_files, files=local)
    marks = {row.file: row.mark for row in spark.range(len(local)).mapInArrow(checksums_of, MARKS).collect()}
    urls = [place for place in places if is_url(place)]
    if not urls:
        return marks
    files = _at(spark, urls).withColumn("written", F.unix_millis("modificationTime").cast("string"))
    small = files.where(F.col("length") <= LARGE_BYTES).select("file", F.sha2("content", 256).alias("mark"))
    large = files.where(F.col("length") > LARGE_BYTES).select(
        "file", F.concat_ws("-", "length", "written").alias("mark")
    )
    with _listing(urls):
        rows = (*small.collect(), *large.collect())
    return marks | {row.file: row.mark for row in rows if is_segment(row.file)}


def _lengths(spark: SparkSession, urls: Sequence[str]) -> dict[str, int]:
    """Map each segment at these URLs to its size."""
    if not urls:
        return {}
    with _listing(urls):
        rows = _at(spark, urls).select("file", "length").collect()
    return {row.file: row.length for row in rows if is_segment(row.file)}


def _at(spark: SparkSession, urls: Sequence[str]) -> DataFrame:
    """Return file, length, modificationTime, content of the segments at these URLs."""
    return spark.read.format("binaryFile").options(**SEGMENTS).load(list(urls)).withColumnRenamed("path", "file")


@contextmanager
def _listing(urls: Sequence[str]) -> Iterator[None]:
    """Raise AnalyticsError with one line if Spark cannot list these URLs inside the block."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise AnalyticsError(f"Spark failed: {', '.join(urls)}: {in_a_line(error)}") from error


def _literal(file: str) -> str:
    """Return a file for Spark's text reader, which takes names for patterns. A name on this machine is none."""
    return file if is_url(file) else re.sub(r"([][*?{}\\])", r"\\\1", file)


def _cores(spark: SparkSession) -> int:
    """Return how many tasks run at the same time: so many partitions has a range."""
    return len({row.part for row in spark.range(10_000).select(F.spark_partition_id().alias("part")).collect()})


def _batches(bytes_of: Mapping[str, int], cores: Callable[[], int]) -> list[list[str]]:
    """Return batches of places, of about the same size: one for each core, fewer if they would be small, more if large.

    cores: returns how many tasks run at the same time. A check of few traces does not ask.
    """
    total = sum(bytes_of.values())
    most = -(-total // SMALLEST_BATCH_BYTES)  # rounded up
    count = max(-(-total // BATCH_BYTES), min(cores(), most) if most > 1 else 1)
    batches: list[list[str]] = [[] for _ in range(count)]
    filled = [0] * count
    for place in sorted(bytes_of, key=lambda name: (-bytes_of[name], name)):
        smallest = filled.index(min(filled))
        batches[smallest].append(place)
        filled[smallest] += bytes_of[place]
    return [batch for batch in batches if batch]


def _judging_files(
    spark: SparkSession, batches: Sequence[Sequence[str]], options: Mapping[str, Any]
) -> DataFrame | None:
    """Return the job that judges these batches of files, which each task opens itself; None if there are none.

    A task gets the number of its batch. It knows all batches by value, so no row is sent or shuffled.
    """
    if not batches:
        return None
    numbers = spark.range(0, len(batches), 1, len(batches))
    return numbers.mapInArrow(in_worker(judge_files, batches=batches, **options), f"{RESULT} binary")


def _judging_contents(
    spark: SparkSession, urls: Sequence[str], batches: Sequence[Sequence[str]], options: Mapping[str, Any]
) -> DataFrame | None:
    """Return the job that judges these batches of files, which Spark reads; None if there are none.

    urls: where the files are.
    """
    if not batches:
        return None
    chosen = [(file, key) for key, batch in zip(_keys(spark, len(batches)), batches, strict=True) for file in batch]
    keyed = F.broadcast(spark.createDataFrame(chosen, "file string, key bigint"))
    rows = _at(spark, urls).select("file", "content").join(keyed, "file").repartition(len(batches), "key")
    return rows.select("file", "content").mapInArrow(in_worker(judge_contents, **options), f"{RESULT} binary")


def _findings_in(result: bytes, folder: str) -> Findings:
    """Return the findings and the figures in the row of a task, and write its tables into a folder."""
    findings, tables = result_in(result)
    for name, content in tables.items():
        Path(folder, f"{name}.parquet").write_bytes(content)
    return findings


def _contents_of(spark: SparkSession, urls: Sequence[str], chosen: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Yield these segments and their content."""
    elsewhere = [file for file in chosen if is_url(file)]
    yield from contents(sorted(set(chosen).difference(elsewhere)))
    if elsewhere:
        rows = _at(spark, urls).where(F.col("file").isin(elsewhere)).select("file", "content").dropDuplicates(["file"])
        yield from ((row.file, bytes(row.content)) for row in rows.collect())


def _folder(parts: str, name: str) -> str:
    folder = Path(parts, name)
    folder.mkdir(exist_ok=True)
    return str(folder)


def _keys(spark: SparkSession, count: int) -> list[int]:
    """Return a number for each of `count` partitions that Spark puts into this partition."""
    if count == 1:
        return [0]
    part = F.pmod(F.hash("id"), F.lit(count))
    rows = spark.range(64 * count + 64).groupBy(part.alias("part")).agg(F.min("id").alias("key")).collect()
    return [row.key for row in rows]
