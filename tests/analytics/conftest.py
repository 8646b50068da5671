"""One run of `pflab check` for all tests of the analytics, and one Spark session for those that need Spark (`make test-spark`).

The fixture `judged` writes all traces first, checks them in one run of the command, and gives the tests its results.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.extra_runs import write_extra_runs
from tests.support.judged_traces import Judged, pflab_check, rows_of
from tests.support.random_traces import write_random_runs
from tests.support.rule_faults import plant_rule_faults
from tests.support.running_clocks import write_running_clocks
from tests.support.scenario_traces import SCENARIOS, SEEDS, write_campaign, write_scenarios
from tests.support.suite_sample import SAMPLE
from tests.support.time_limits import SLOW_S
from tests.support.trace_faults import plant_all, read_trace

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

from analytics.ingest.session import JAVA_FROM, QUICK, java_version, new_session


@pytest.hookimpl(tryfirst=True)  # Before pytest chooses by markers, and xdist reads the groups.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need Spark. One worker has the traces, because they take long to write and to judge."""
    version = java_version()
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        fixtures: Sequence[str] = getattr(item, "fixturenames", ())
        if "spark" in fixtures:
            item.add_marker(pytest.mark.spark)
        if "judged" in fixtures:
            item.add_marker(pytest.mark.xdist_group("judged"))
            item.add_marker(pytest.mark.timeout(SLOW_S))  # the first one waits for the traces and the check of all
        if item.get_closest_marker("spark") is None:
            continue
        # Each answer of Spark leaves its socket to the garbage collector.
        item.add_marker(pytest.mark.filterwarnings("ignore:.*socket.*:pytest.PytestUnraisableExceptionWarning"))
        if version is None or version < JAVA_FROM:
            item.add_marker(pytest.mark.skip(reason=f"Spark needs Java {JAVA_FROM} or newer"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = new_session("local[2]", QUICK)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def judged(request: pytest.FixtureRequest, project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Return the verdicts on all traces; on fewer scenarios and running clocks if only tests of `make test` run."""
    from tests.tamper.tamper import write_few  # noqa: PLC0415 - the same

    root = tmp_path_factory.mktemp("traces").resolve()
    thorough = any(item.get_closest_marker(name) for item in request.session.items for name in ("long", "spark"))
    write_scenarios(root / "suite", SCENARIOS if thorough else SAMPLE)
    write_extra_runs(root / "stories")
    planted = plant_all(root)
    plant_rule_faults(root)
    random_runs = write_random_runs(root / "random")
    write_campaign(root / "campaign", SEEDS)
    write_running_clocks(root / "running", (False, True) if thorough else (True,))
    write_few(read_trace(root / "suite" / "lost-mail" / "traces"), root / "tampered")
    left = tmp_path_factory.mktemp("left")
    tables, report = left / "tables", left / "report.html"
    done = pflab_check(
        project_root,
        str(root),
        "--json",
        "--tables",
        str(tables),
        "--report",
        str(report),
        "--shiviz",
        str(left / "shiviz.log"),
    )
    assert done.returncode in {0, 1}, done.stderr
    judgements: dict[str, dict[str, str]] = {}
    for row in rows_of(tables, "verdicts"):
        judgements.setdefault(row.trace.rpartition("#")[0], {})[row.path] = row.judgement
    page = report.read_text(encoding="utf-8")
    return Judged(
        root,
        planted,
        random_runs,
        json.loads(done.stdout),
        done.returncode,
        tables,
        page,
        (left / "shiviz.log").read_text("utf-8"),
        judgements,
        done.stderr,
    )
