"""Verbs of the analytics: check judges finished runs; follow and verdict judge a lab while it is up."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument, Option

from pflab.cli.judging.failure import analytics_failure_of
from pflab.cli.output import CommandError, Json, err, print_json, print_lines, progress
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client, ClientError
from pflab.errors import LabError
from pflab.terms.verdict import ExitCode
from traces.open_segment import OPEN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analytics.follow import Export
    from analytics.rows import Judged
    from analytics.verdicts.result import CheckResult

Master = Annotated[
    str | None, Option(metavar="URL", help="The Spark master; default: all cores of this machine, local[*].")
]


class EngineName(StrEnum):
    """What computes the tables of a check."""

    SPARK = "spark"
    EMBEDDED = "embedded"


EMBEDDED_UP_TO_BYTES: Final = 64 * 1024 * 1024
"""Up to this size of the traces, the embedded engine judges them unless the user chooses. Above it, Spark uses all cores of the
machine or of a cluster, and its memory does not grow with the traces."""


def check(
    traces: Annotated[
        list[str],
        Argument(
            metavar="TRACES...", help="Run folders, folders that contain run folders, or segment files (*.jsonl)."
        ),
    ],
    master: Master = None,
    tables: Annotated[
        str | None,
        Option(
            metavar="DIR",
            help="Keep the tables as Parquet in this folder or URL; the next check then reads only new segments.",
        ),
    ] = None,
    report: Annotated[
        Path | None, Option(metavar="FILE.html", help="Write a report as a web page that opens offline.")
    ] = None,
    shiviz: Annotated[
        Path | None, Option(metavar="FILE", help="Write the events of the worst run, with vector clocks, for ShiViz.")
    ] = None,
    engine: Annotated[
        EngineName | None,
        Option(
            help="embedded: judge in this process, without Java; spark: with Spark. Default: embedded for up to 64 MB of"
            " local traces, unless an option needs Spark (--master, --tables)."
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Check the traces of runs: whether they converged, and which store lacks which change.

    Both engines compute the same tables and give the same verdict; Spark needs Java 17 or newer. The exit code is 0 if
    all runs converged, 1 if a run did not converge or violated a rule, and 2 if the traces are not complete enough for a
    verdict.

    Example: pflab check runs/latest
    """
    for file in (report, shiviz):
        if file is not None:
            _check_writable(file)
    for place in traces:
        _end_killed_runs(Path(place))
    with analytics_failure_of("check"):
        if report is not None:
            _need("jinja2")
        places = [_location(each) for each in traces]
        needs_spark = [name for name, value in (("--master", master), ("--tables", tables)) if value is not None]
        is_embedded = _is_embedded(engine, places, needs_spark)
        judging = _embedded(places) if is_embedded else _on_spark(places, master, tables, is_report=report is not None)
        with judging as (judged, name):
            result = _written(judged, name, report, shiviz)
    if as_json:
        print_json(result.as_document())
    else:
        print_lines(result.in_words())
    return result.exit_code


def _end_killed_runs(place: Path) -> None:
    """Write the traces of runs whose labs were killed, from what is in their folders."""
    left = [path for depth in ("", "*/", "*/*/") for path in place.glob(f"{depth}traces/*{OPEN}")]
    if not left:
        return
    from pflab.lab.killed_run import end_killed, is_left_behind  # noqa: PLC0415 - a store's code takes long to import

    for run in sorted({path.parent.parent for path in left}):
        if not is_left_behind(run):
            continue
        try:
            end_killed(run)
        except LabError as error:  # the other runs can be judged, and this one too as far as it has traces
            err.print(f"{run}: its lab was killed, and its last events are missing: {error}", markup=False)
        else:
            err.print(f"{run}: its lab was killed; its traces are now written from its databases", markup=False)


def _check_writable(file: Path) -> None:
    """Raise CommandError if a file cannot be written. The verb checks this first, because Spark is slow."""
    if file.is_dir():
        raise CommandError(f"pflab check: {file} cannot be written: it is a folder")
    if not file.parent.is_dir():
        raise CommandError(f"pflab check: {file} cannot be written: there is no folder {file.parent}")


def _is_embedded(engine: EngineName | None, places: list[str], needs_spark: list[str]) -> bool:
    """Return whether the embedded engine judges. Raises CommandError if the user wants what it cannot do."""
    far = next((place for place in places if "://" in place), None)
    if engine is EngineName.EMBEDDED and (needs_spark or far):
        why = f"{needs_spark[0]} needs Spark" if needs_spark else f"only Spark reads {far}"
        raise CommandError(f"pflab check: {why}; leave out --engine embedded")
    if engine is None:
        return not needs_spark and far is None and bytes_of(places) <= EMBEDDED_UP_TO_BYTES
    return engine is EngineName.EMBEDDED


@contextmanager
def _embedded(places: list[str]) -> Iterator[tuple[Judged, str]]:
    """Judge in this process. Yield what was found, and the engine's name and version."""
    _need("pyspark", "duckdb", "pyarrow")
    from analytics.embedded.engine import NAME, STAGES, contents_of, judged  # noqa: PLC0415 - an extra

    with _stages("reading the segments", STAGES) as show_stage, judged(contents_of(places), show_stage) as found:
        yield found, NAME


@contextmanager
def _on_spark(
    places: list[str], master: str | None, tables: str | None, *, is_report: bool
) -> Iterator[tuple[Judged, str]]:
    """Judge with Spark: batches of runs with the embedded engine in its tasks, or, if the tables are kept, with its own
    plans."""
    from analytics.ingest.session import QUICK, need_spark, session  # noqa: PLC0415 - an extra

    _need("pyspark", "duckdb", "pyarrow", "pandas")
    need_spark()
    from analytics import batches, pipeline  # noqa: PLC0415 - an extra
    from analytics.ingest.tables import Tables  # noqa: PLC0415 - an extra

    stages = batches.STAGES if tables is None else pipeline.STAGES
    settings = QUICK if tables is not None and 0 < bytes_of(places) <= EMBEDDED_UP_TO_BYTES else None
    with (
        _stages("starting Spark", stages) as show_stage,
        _tables_folder(tables) as base,
        session(master, settings) as spark,
    ):
        name = f"Spark {spark.version}"
        if tables is not None:
            with pipeline.judged(places, Tables(spark, base), show_stage, keep=True) as found:
                yield found, name
            return
        with batches.judged(
            spark, places, lambda nth: Tables(spark, f"{base}/{nth}"), show_stage, report=is_report
        ) as found:
            yield found, name


@contextmanager
def _stages(first: str, stages: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Show a bar of progress inside the block. Yield a function that shows the next stage."""
    with progress(len(stages) + 1, first) as bar:
        yield lambda stage: bar.update(bar.task_ids[0], advance=1, description=stage)


def _written(judged: Judged, engine: str, report: Path | None, shiviz: Path | None) -> CheckResult:
    """Write the files that the user asked for, and return the verdict."""
    from analytics.verdicts.conclusion import conclude  # noqa: PLC0415 - an extra

    result = conclude(judged.findings)
    if report is not None:
        from analytics.report.page import write_report  # noqa: PLC0415 - an extra

        write_report(judged.answers, judged.findings, result, engine, report)
    if shiviz is not None:
        from analytics.report.shiviz import write_worst  # noqa: PLC0415 - an extra

        write_worst(judged.answers, judged.findings, shiviz)
    return result


def _need(*packages: str) -> None:
    from analytics.ingest.session import need_packages  # noqa: PLC0415 - an extra

    need_packages(*packages)


@contextmanager
def _tables_folder(tables: str | None) -> Iterator[str]:
    if tables is not None:
        yield tables
        return
    with tempfile.TemporaryDirectory(prefix="pflab-check-") as folder:
        yield folder


def bytes_of(places: list[str]) -> int:
    """Return the size of the trace files that are on this machine."""
    files = (file for place in places for file in (Path(place), *Path(place).rglob("*.jsonl")) if file.is_file())
    return sum(file.stat().st_size for file in files)


def _location(given: str) -> str:
    """Return a URL unchanged, and a local path with symbolic links resolved (`runs/latest` is a link)."""
    if "://" in given or any(sign in given for sign in "*?[{"):
        return given
    if not Path(given).exists():
        raise CommandError(f"pflab check: {given}: no such file or folder; name run folders or segment files")
    return os.path.realpath(given)


NO_VERDICT: Final = "NoVerdict"
"""The type of the error with which a lab answers if no analysis follows the lab."""

HOW_TO_JUDGE: Final = (
    "start an analysis with pflab follow, or in containers with docker compose --profile analytics up"
    "; for a finished run use pflab check"
)

RETRY_S = 2.0
"""Real time between two requests to a lab that does not answer."""


def follow(
    traces: Annotated[
        Path, Argument(help="The folder of the lab's traces. Spark workers must see it under the same path.")
    ],
    tables: Annotated[
        str, Option(metavar="DIR", help="The folder or URL for the Parquet tables with the events that were read.")
    ],
    lab: Lab = None,
    master: Master = None,
    every: Annotated[
        float, Option(min=0.0, max=86_400.0, metavar="SECONDS", help="Real time between two rounds.")
    ] = 15.0,
    rounds: Annotated[int | None, Option(min=1, help="Stop after N rounds; default: never.")] = None,
) -> int:
    """Read the traces of a running lab with Spark, and keep the verdict on the lab up to date.

    In each round the lab writes all its events to traces. pflab follow reads the new events, judges the run, and sends
    the verdict to the lab. pflab verdict prints this verdict. pflab follow needs Java 17 or newer, and a lab that pflab
    coordinate runs.

    Example: pflab follow lab/traces --tables tables --lab http://127.0.0.1:8025
    """
    from analytics.ingest.session import (  # noqa: PLC0415 - Spark is an extra; every other verb works without
        QUICK,
        need_spark,
        session,
    )

    with analytics_failure_of("follow"):
        need_spark()
        with client_of(lab) as client, session(master, QUICK) as spark:
            _rounds(spark, client, _Source(client, traces), tables, every, rounds)
    return ExitCode.GOOD


class _Source:
    """Makes the lab write its traces, and returns where they are."""

    def __init__(self, client: Client, traces: Path) -> None:
        self._client = client
        self._traces = traces.absolute()

    def __call__(self) -> Export:
        from analytics.follow import Export  # noqa: PLC0415 - as above

        written = self._write_traces()
        place = self._traces / written["traces"]
        if not place.is_dir():
            raise CommandError(f"{place}: no such folder; name the folder below which the lab writes its traces")
        return Export(
            written["traces"] or written["run"], str(place), written["at"], written["events"], tuple(written["away"])
        )

    def _write_traces(self) -> dict[str, Any]:
        while True:
            try:
                return self._client.ship()
            except ClientError as error:
                if error.status:
                    raise
                _say(f"waiting for the lab: {error}")
                time.sleep(RETRY_S)


def _rounds(
    spark: SparkSession, client: Client, source: _Source, tables: str, every_s: float, rounds: int | None
) -> None:
    from analytics.follow import follow as verdicts  # noqa: PLC0415 - as above

    for number, verdict in enumerate(verdicts(spark, tables, source), start=1):
        try:
            client.keep_verdict(verdict)
        except ClientError as error:  # if the lab has started another run, the next round judges that run
            _say(str(error))
        _say(f"{verdict['words'][0]}: {verdict['judgement']}")
        if number == rounds:
            return
        time.sleep(every_s)


def _say(line: str) -> None:
    print_lines([line])
    sys.stdout.flush()


def verdict(lab: Lab = None, as_json: Json = False) -> int:
    """Print the latest verdict of pflab follow on a running lab, and the lab time of the verdict.

    The exit codes are those of pflab check. In containers, the compose profile analytics starts pflab follow.

    Example: pflab verdict --lab http://127.0.0.1:8025
    """
    with client_of(lab) as client:
        try:
            found = client.verdict()
        except ClientError as error:
            if error.kind != NO_VERDICT:
                raise
            raise CommandError(f"{error}; {HOW_TO_JUDGE}") from None
    if as_json:
        print_json(found)
    else:
        print_lines(found["words"])
    return int(found["exit_code"])
