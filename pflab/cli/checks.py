"""The verb check: the Spark pipeline over the traces of runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pflab.cli.output import CommandError, Json, print_json, print_lines, progress

if TYPE_CHECKING:
    from analytics.check import Gold
    from analytics.verdict import CheckResult


def check(
    traces: Annotated[
        list[str], typer.Argument(metavar="TRACES...", help="Run folders, folders of them, or segment files (*.jsonl).")
    ],
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="A Spark master; by default this machine's cores, local[*].")
    ] = None,
    tables: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Keep the tables as Parquet below this folder or URL, and read only new segments the next time.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write a report that opens in a browser, offline.")
    ] = None,
    shiviz: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the worst run's events for ShiViz, with vector clocks.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Judge runs from their traces alone, with Spark: converged or not, and who lacks what.

    Needs Java 17 or newer. Exit code 0: all converged; 1: not; 2: nobody can tell.

    Example: pflab check runs/latest
    """
    from analytics.errors import AnalyticsError  # noqa: PLC0415 - Spark is an extra; every other verb works without

    try:
        result = _judged([_place(each) for each in traces], master, tables, report, shiviz)
    except AnalyticsError as error:
        raise CommandError(f"pflab check: {error}") from None
    if as_json:
        print_json(result.as_document())
    else:
        print_lines(result.in_words())
    return result.exit_code


def _judged(
    places: list[str], master: str | None, tables: str | None, report: Path | None, shiviz: Path | None
) -> CheckResult:
    from analytics.session import HELD_UP_TO_BYTES, need_java, session, settings_for  # noqa: PLC0415 - as above

    need_java()
    from analytics.check import STAGES, judge_traces  # noqa: PLC0415 - as above
    from analytics.tables import Tables  # noqa: PLC0415 - as above

    def then(gold: Gold, result: CheckResult) -> None:
        if report is not None:
            from analytics.report import write_report  # noqa: PLC0415 - as above

            write_report(gold, result, report)
        if shiviz is not None:
            from analytics.shiviz import write_worst  # noqa: PLC0415 - as above

            write_worst(gold, shiviz)

    size = bytes_of(places)
    settings = settings_for(size) if master is None else None
    with progress(len(STAGES) + 1, "starting Spark") as bar, _kept(tables) as base:

        def tell(stage: str) -> None:
            bar.update(bar.task_ids[0], advance=1, description=stage)

        with session(master, settings) as spark:
            # A small file takes several processes of the system to write, and a check has some forty tables.
            held = tables is None and master is None and 0 < size <= HELD_UP_TO_BYTES
            return judge_traces(places, Tables(spark, base, held), tell, keep=tables is not None, then=then)


@contextmanager
def _kept(tables: str | None) -> Iterator[str]:
    if tables is not None:
        yield tables
        return
    with tempfile.TemporaryDirectory(prefix="pflab-check-") as folder:
        yield folder


def bytes_of(places: list[str]) -> int:
    """How much there is to read, as far as it lies on this machine."""
    files = (file for place in places for file in (Path(place), *Path(place).rglob("*.jsonl")) if file.is_file())
    return sum(file.stat().st_size for file in files)


def _place(given: str) -> str:
    """A local path without symbolic links (`runs/latest` is one), or a URL as it is."""
    if "://" in given or any(sign in given for sign in "*?[{"):
        return given
    if not Path(given).exists():
        raise CommandError(f"pflab check: {given}: no such file or folder; name run folders or segment files")
    return os.path.realpath(given)
