"""Verbs of an analysis that follows a lab while it is up: follow, verdict."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pflab.cli.checks import bytes_of
from pflab.cli.lablink import Lab, client_of
from pflab.cli.output import CommandError, Json, print_json, print_lines
from pflab.client import Client, ClientError
from pflab.verdict import ExitCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analytics.following import Handed

NO_VERDICT: Final = "NoVerdict"
"""What the lab calls it that nobody follows it."""

HOW_TO_JUDGE: Final = (
    "an analysis that follows the lab does: pflab follow, in containers docker compose --profile analytics up"
    "; a run that is over is judged by pflab check"
)

AGAIN_S = 2.0
"""Real time until a lab that does not answer is asked again."""


def follow(
    traces: Annotated[Path, typer.Argument(help="Where the lab's traces are, as its workers see it too.")],
    tables: Annotated[str, typer.Option(metavar="DIR", help="What was taken in is kept below, as Parquet.")],
    lab: Lab = None,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="A Spark master; by default this machine's cores, local[*].")
    ] = None,
    every: Annotated[float, typer.Option(min=0.0, metavar="SECONDS", help="Rest between two rounds.")] = 15.0,
    rounds: Annotated[int | None, typer.Option(min=1, help="End after so many; default: never.")] = None,
) -> int:
    """Keep a verdict on a running lab current, from its traces alone, with Spark.

    Each round lets the lab write out all that has happened up to an instant, takes in what is new, judges the run, and tells
    the lab. pflab verdict prints it. Needs Java 17 or newer, and a lab that pflab coordinate leads.

    Example: pflab follow lab/traces --tables tables --lab http://127.0.0.1:8025
    """
    from analytics.errors import AnalyticsError  # noqa: PLC0415 - Spark is an extra; every other verb works without
    from analytics.session import QUICK, need_java, session  # noqa: PLC0415 - as above

    try:
        need_java()
        with client_of(lab) as client, session(master, QUICK) as spark:
            _rounds(spark, client, _Source(client, traces, spark), tables, every, rounds)
    except AnalyticsError as error:
        raise CommandError(f"pflab follow: {error}") from None
    return ExitCode.GOOD


class _Source:
    """The lab's traces, handed over."""

    def __init__(self, client: Client, traces: Path, spark: SparkSession) -> None:
        self._client = client
        self._traces = traces.absolute()
        self._spark = spark

    def __call__(self) -> Handed:
        from analytics.following import Handed  # noqa: PLC0415 - as above
        from analytics.session import fit_to  # noqa: PLC0415

        shipped = self._shipped()
        place = self._traces / shipped["traces"]
        if not place.is_dir():
            raise CommandError(f"{place}: no such folder; name the folder that the lab writes its traces below")
        fit_to(self._spark, bytes_of([str(place)]))
        return Handed(
            shipped["traces"] or shipped["run"], str(place), shipped["at"], shipped["events"], tuple(shipped["away"])
        )

    def _shipped(self) -> dict[str, Any]:
        while True:
            try:
                return self._client.ship()
            except ClientError as error:
                if error.status:
                    raise
                _say(f"waiting for the lab: {error}")
                time.sleep(AGAIN_S)


def _rounds(
    spark: SparkSession, client: Client, source: _Source, tables: str, every_s: float, rounds: int | None
) -> None:
    from analytics.following import follow as verdicts  # noqa: PLC0415 - as above

    for number, verdict in enumerate(verdicts(spark, tables, source), start=1):
        try:
            client.keep_verdict(verdict)
        except ClientError as error:  # it may have begun another run meanwhile; the next round is on that
            _say(str(error))
        _say(f"{verdict['words'][0]}: {verdict['judgement']}")
        if number == rounds:
            return
        time.sleep(every_s)


def _say(line: str) -> None:
    print_lines([line])
    sys.stdout.flush()


def verdict(lab: Lab = None, as_json: Json = False) -> int:
    """Print what the analysis that follows a running lab says of it, and up to which instant.

    Exit code as of pflab check. In containers it is the profile analytics that follows the lab.

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
