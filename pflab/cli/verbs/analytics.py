"""Verbs of the analytics: check judges finished runs, and tables writes them; follow and verdict judge a lab while it is up."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Set
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument, Option

from pflab.cli.judging.engines import Deselect, Engine, Master, Request, Select, Traces, judged, need
from pflab.cli.judging.failure import analytics_failure_of
from pflab.cli.judging.lab_file_traces import unpacked_traces
from pflab.cli.output import CommandError, Json, print_json, print_lines
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client, ClientError
from pflab.terms.verdict import ExitCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analytics.follow import Export
    from analytics.rows import Judged
    from analytics.verdicts.result import CheckResult


def check(
    traces: Traces,
    master: Master = None,
    tables: Annotated[
        str | None,
        Option(
            metavar="DIR",
            help="Keep the tables as Parquet in this folder or URL. In a folder, the next check judges only runs that are new"
            " or have changed.",
        ),
    ] = None,
    report: Annotated[
        Path | None, Option(metavar="FILE.html", help="Write a report as a web page that opens offline.")
    ] = None,
    shiviz: Annotated[
        Path | None, Option(metavar="FILE", help="Write the events of the worst run, with vector clocks, for ShiViz.")
    ] = None,
    select: Select = None,
    deselect: Deselect = None,
    engine: Engine = None,
    as_json: Json = False,
) -> int:
    """Check the traces of runs: whether they converged, and which store lacks which change.

    Both engines compute the same tables and give the same verdict; Spark needs Java 17 or newer. The exit code is 0 if
    all runs converged, 1 if a run did not converge or violated a rule, and 2 if the traces are not complete enough for a
    verdict.

    Example: pflab check runs/latest
    """
    if (select or deselect) and (report or shiviz):
        raise CommandError("pflab check: --report and --shiviz show all rules; leave out --select and --deselect")
    for file in (report, shiviz):
        if file is not None:
            _check_writable(file)
    with analytics_failure_of("check"):
        if report is not None:
            need("jinja2")
        from analytics.rules.catalogue import EVERY, chosen  # noqa: PLC0415 - an extra

        checks = chosen(select or [], deselect or [])
        # Tables that are kept have all checks, for the next check may choose others.
        judged_checks = checks if tables is None else EVERY
        with unpacked_traces(traces) as places:
            request = Request("check", places, judged_checks, engine, master, tables, is_report=report is not None)
            with judged(request) as (judged_runs, name):
                result = _written(judged_runs, checks, name, report, shiviz)
    if as_json:
        print_json(result.as_document())
    else:
        print_lines(result.in_words())
    return result.exit_code


def tables(
    traces: Traces,
    folder: Annotated[
        Path, Option("--output", "-o", metavar="DIR", help="The folder for the tables; pflab creates it.")
    ],
    master: Master = None,
    select: Select = None,
    deselect: Deselect = None,
    engine: Engine = None,
) -> int:
    """Write the tables of a check of these runs as Parquet, a file for each, for DuckDB, pandas, Spark and others.

    There are tables of runs, folders, mails, versions, rule checks and more. Files of the same names are replaced.

    Example: pflab tables runs/latest -o tables
    """
    _check_room("tables", folder, next(place for place in (folder, *folder.absolute().parents) if place.is_dir()))
    with analytics_failure_of("tables"):
        from analytics.ingest.places import need_utf_8  # noqa: PLC0415 - an extra
        from analytics.rules.catalogue import chosen  # noqa: PLC0415 - an extra

        checks = chosen(select or [], deselect or [])
        need_utf_8(str(folder), "so DuckDB cannot write tables there; give another folder with --output")
    with (
        analytics_failure_of("tables"),
        unpacked_traces(traces) as places,
        judged(Request("tables", places, checks, engine, master, is_published=True)) as (judged_runs, _),
    ):
        from analytics.published.check import write  # noqa: PLC0415 - an extra
        from analytics.verdicts.conclusion import conclude  # noqa: PLC0415 - an extra
        from analytics.verdicts.result import counted  # noqa: PLC0415 - an extra

        result = conclude(judged_runs.findings)
        names = write(judged_runs, folder)
    print_lines([f"{counted(len(names), 'table')} of {counted(result.traces, 'run')} in {folder}: {', '.join(names)}"])
    return ExitCode.GOOD


def _check_writable(file: Path) -> None:
    """Raise CommandError if a file cannot be written. The verb checks this first, because judging may take long."""
    if file.is_dir():
        raise CommandError(f"pflab check: {file} cannot be written: it is a folder")
    if not file.parent.is_dir():
        raise CommandError(f"pflab check: {file} cannot be written: there is no folder {file.parent}")
    if file.exists() and not os.access(file, os.W_OK):
        raise CommandError(f"pflab check: {file} cannot be written: its permissions do not allow it")
    if not file.exists():
        _check_room("check", file, file.parent)


def _check_room(verb: str, place: Path, folder: Path) -> None:
    """Raise CommandError if no file can be created in a folder.

    place: what the user wants to be written.
    """
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise CommandError(
            f"pflab {verb}: {place} cannot be written: no file can be created in {folder}: {why}"
        ) from None


def _written(
    judged_runs: Judged, checks: Set[str], engine: str, report: Path | None, shiviz: Path | None
) -> CheckResult:
    """Write the files that the user asked for, and return the verdict.

    checks: the ids of those that count.
    """
    from analytics.verdicts.conclusion import conclude  # noqa: PLC0415 - an extra

    result = conclude(judged_runs.findings, checks)
    if report is not None:
        from analytics.report.page import write_report  # noqa: PLC0415 - an extra

        write_report(judged_runs.answers, judged_runs.findings, result, engine, report)
    if shiviz is not None:
        from analytics.report.shiviz import write_worst  # noqa: PLC0415 - an extra

        write_worst(judged_runs.answers, judged_runs.findings, shiviz)
    return result


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

        answer = self._write_traces()
        place = self._traces / answer["traces"]
        if not place.is_dir():
            raise CommandError(f"{place}: no such folder; name the folder below which the lab writes its traces")
        return Export(
            answer["traces"] or answer["run"], str(place), answer["at"], answer["events"], tuple(answer["away"])
        )

    def _write_traces(self) -> dict[str, Any]:
        while True:
            try:
                return self._client.export()
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
            latest_verdict = client.verdict()
        except ClientError as error:
            if error.kind != NO_VERDICT:
                raise
            raise CommandError(f"{error}; {HOW_TO_JUDGE}") from None
    if as_json:
        print_json(latest_verdict)
    else:
        print_lines(latest_verdict["words"])
    return int(latest_verdict["exit_code"])
