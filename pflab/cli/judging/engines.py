"""Which engine judges traces, and where it keeps its tables.

The embedded engine judges in this process, without Java. Spark judges on all cores of this machine or on a cluster: its tasks
judge batches of runs with the embedded engine.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from typer import Argument, Option

from pflab.cli.output import CommandError, err, progress
from pflab.errors import LabError
from traces.open_segment import OPEN
from traces.segments import is_url
from traces.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from analytics.rows import Judged

Traces = Annotated[
    list[str],
    Argument(
        metavar="TRACES...",
        help="Run folders, folders that contain run folders, lab files (*.zip), segment files (*.jsonl), or patterns."
        " In a folder, names that begin with . or _ are left out.",
    ),
]
Master = Annotated[
    str | None,
    Option(
        metavar="URL",
        help="The Spark master, or a server of Spark Connect (sc://HOST); default: that of SPARK_REMOTE, or all cores of"
        " this machine, local[*].",
    ),
]


Select = Annotated[
    list[str] | None,
    Option(
        metavar="RULES",
        help="Count only violations of these rules: a rule like BF-3, a group like BF, or a subject like backfill.",
    ),
]
Deselect = Annotated[list[str] | None, Option(metavar="RULES", help="Do not count violations of these rules.")]


class EngineName(StrEnum):
    """What computes the tables of a check."""

    SPARK = "spark"
    EMBEDDED = "embedded"


Engine = Annotated[
    EngineName | None,
    Option(
        help="embedded: judge in this process, without Java; spark: with Spark. Default: embedded for up to 64 MB of"
        " traces on this machine, or if Spark is not installed, unless --master or a URL needs Spark."
    ),
]

EMBEDDED_UP_TO_BYTES: Final = 64 * 1024 * 1024
"""Up to this size of the traces, the embedded engine judges them unless the user chooses. Above it, Spark uses all cores of the
machine or of a cluster."""

_PACKAGES: Final = ("duckdb", "pyarrow")

_OF_PLANS: Final = ".kept/.plans"
_FIRST_STAGE: Final = "reading the segments"


@dataclass(frozen=True, slots=True)
class Request:
    """What to judge.

    verb: the verb that the user gave.
    checks: the ids of the checks that run.
    tables: the folder or URL that keeps the tables, or None.
    is_published: whether tables are written.
    """

    verb: str
    traces: Sequence[str]
    checks: Set[str]
    engine: EngineName | None = None
    master: str | None = None
    tables: str | None = None
    is_report: bool = False
    is_published: bool = False


@contextmanager
def judged(request: Request) -> Iterator[tuple[Judged, str]]:
    """Judge traces. Yield what was found, and the engine's name and version.

    Raises CommandError for an engine that cannot do what is asked, AnalyticsError for a place that does not exist, or if the
    check fails.
    """
    from analytics.ingest.places import named, segments  # noqa: PLC0415 - an extra

    places = named(request.traces)
    urls = [place for place in places if is_url(place)]
    local = [place for place in places if not is_url(place)]
    for place in local:
        _end_killed_runs(Path(place))
    files = segments(local)
    with (
        _embedded(request, files)
        if _is_embedded(request, files, urls)
        else _on_spark(request, files, urls) as judged_runs
    ):
        yield judged_runs


def _end_killed_runs(place: Path) -> None:
    """Write the traces of runs whose labs were killed, from what is in their folders."""
    segments = [path for depth in ("", "*/", "*/*/") for path in place.glob(f"{depth}traces/*{OPEN}")]
    if not segments:
        return
    from pflab.lab.killed_run import end_killed, is_left_behind  # noqa: PLC0415 - a store's code takes long to import

    for run in sorted({path.parent.parent for path in segments}):
        if not is_left_behind(run):
            continue
        try:
            end_killed(run)
        except LabError as error:  # the other runs can be judged, and this one too as far as it has traces
            err.print(f"{run}: its lab was killed, and its last events are missing: {error}", markup=False)
        else:
            err.print(f"{run}: its lab was killed; its traces are now written from its databases", markup=False)


def _is_embedded(request: Request, files: Sequence[str], urls: Sequence[str]) -> bool:
    """Return whether the embedded engine judges. Raises CommandError if the user wants what it cannot do."""
    from analytics.ingest.places import sizes  # noqa: PLC0415 - an extra
    from analytics.ingest.session import is_installed  # noqa: PLC0415 - an extra

    reasons = ["--master needs Spark"] if request.master is not None else []
    if request.tables is not None and is_url(request.tables):
        reasons.append(f"only Spark writes tables to {request.tables}")
    reasons += [f"only Spark reads {url}" for url in urls]
    if request.engine is EngineName.EMBEDDED and reasons:
        raise CommandError(f"pflab {request.verb}: {reasons[0]}; leave out --engine embedded")
    if request.engine is None:
        return not reasons and (sum(sizes(files).values()) <= EMBEDDED_UP_TO_BYTES or not is_installed("pyspark"))
    return request.engine is EngineName.EMBEDDED


@contextmanager
def _embedded(request: Request, listed: Sequence[str]) -> Iterator[tuple[Judged, str]]:
    """Judge in this process."""
    need(*_PACKAGES)
    from analytics.embedded import engine  # noqa: PLC0415 - an extra
    from analytics.ingest.places import checksum, contents  # noqa: PLC0415 - an extra
    from analytics.rules.catalogue import by_table  # noqa: PLC0415 - an extra

    with _stages(_FIRST_STAGE, engine.STAGES) as show_stage:
        if request.tables is None:
            with engine.judged(contents(listed), show_stage, rules=by_table(request.checks)) as judged_runs:
                yield judged_runs, engine.NAME
            return
        from analytics.embedded.product import version  # noqa: PLC0415 - an extra
        from analytics.ingest.lines import place_of  # noqa: PLC0415 - an extra
        from analytics.published import check, table_store  # noqa: PLC0415 - an extra

        files: dict[str, list[str]] = defaultdict(list)
        for file in listed:
            files[place_of(file)].append(file)

        def judge(chosen: Sequence[str]) -> AbstractContextManager[Judged]:
            return engine.judged(contents(file for place in chosen for file in files[place]), show_stage)

        checksums = {file: checksum(file) for file in listed}
        with (
            table_store.opened(request.tables, version()) as tables,
            check.judged(tables, check.fingerprints(checksums), judge) as judged_runs,
        ):
            yield judged_runs, engine.NAME


@contextmanager
def _on_spark(request: Request, files: Sequence[str], urls: Sequence[str]) -> Iterator[tuple[Judged, str]]:
    """Judge with Spark: batches of runs with the embedded engine in its tasks, and what is too large for a task with
    Spark's own plans of the tables."""
    from analytics.ingest.places import sizes  # noqa: PLC0415 - an extra
    from analytics.ingest.session import BATCHES, for_plans, session  # noqa: PLC0415 - an extra

    need(*_PACKAGES, "pyspark", "pandas")
    from analytics import batches  # noqa: PLC0415 - an extra
    from analytics.embedded.product import version  # noqa: PLC0415 - an extra
    from analytics.ingest.tables import Tables  # noqa: PLC0415 - an extra
    from analytics.published import check, table_store  # noqa: PLC0415 - an extra
    from analytics.rules.catalogue import by_table  # noqa: PLC0415 - an extra

    places = [*files, *urls]
    settings = None if urls or batches.too_large(sizes(files)) else BATCHES
    with _stages("starting Spark", batches.STAGES) as show_stage, session(request.master, settings) as spark:
        name = f"Spark {spark.version}"
        is_kept = request.tables is not None

        def judge(base: str, chosen: Sequence[str] | None = None) -> AbstractContextManager[Judged]:
            return batches.judged(
                spark,
                places,
                lambda nth: Tables(for_plans(spark), f"{base}/{nth}"),
                show_stage,
                only=chosen,
                rules=by_table(request.checks),
                report=request.is_report or is_kept,
                publish=request.is_published or is_kept,
            )

        if request.tables is None:
            with temporary_folder("pflab-check-") as base, judge(base) as judged_runs:
                yield judged_runs, name
        elif is_url(request.tables):
            batches.need_own_tables(spark, request.tables)
            with judge(f"{request.tables.rstrip('/')}/{_OF_PLANS}") as judged_runs:
                if judged_runs.findings["lines"]:
                    batches.publish(spark, judged_runs, request.tables)
                yield judged_runs, name
        else:
            with (
                table_store.opened(request.tables, version()) as tables,
                _plans_below(tables.folder) as base,
                check.judged(
                    tables, check.fingerprints(batches.checksums(spark, places)), partial(judge, base)
                ) as judged_runs,
            ):
                yield judged_runs, name


@contextmanager
def _plans_below(tables: Path) -> Iterator[str]:
    """Yield the folder for what Spark's own plans keep while they judge: below the tables, where all workers of a cluster can
    see it. Only one check at a time has the tables open."""
    place = tables / _OF_PLANS
    try:
        yield str(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _stages(first: str, stages: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Show a bar of progress inside the block. Yield a function that shows the next stage."""
    with progress(len(stages) + 1, first) as bar:
        yield lambda stage: bar.update(bar.task_ids[0], advance=1, description=stage)


def can_judge() -> bool:
    """Return whether the embedded engine is installed."""
    from analytics.ingest.session import is_installed  # noqa: PLC0415 - an extra

    return all(map(is_installed, _PACKAGES))


def need(*packages: str) -> None:
    """Raise PackageMissing if one of these packages is not installed."""
    from analytics.ingest.session import need_packages  # noqa: PLC0415 - an extra

    need_packages(*packages)
