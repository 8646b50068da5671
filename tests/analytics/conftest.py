"""One run of `pflab check` and one Spark session for all tests of the analytics: everything to be judged is laid out first and
judged in one run of the command, and the tests look at what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.extra_runs import lay_out_stories
from tests.support.random_traces import Toy, lay_out_toys
from tests.support.rule_faults import plant_rule_faults
from tests.support.scenario_traces import lay_out_campaign, lay_out_scenarios
from tests.support.trace_faults import Planted, plant_all

pytest.importorskip("pyspark", reason="the extra `analytics` is not installed")

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

from analytics.ingest.session import JAVA_FROM, TINY, java_version, new_session

PFLAB = [sys.executable, "-c", "from pflab.cli import main; main()", "check"]
PATIENCE_S = 1800.0


@pytest.hookimpl(tryfirst=True)  # Before xdist reads the groups.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker has the Spark session; without Java there is nothing to run."""
    version = java_version()
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        item.add_marker(pytest.mark.xdist_group("spark"))
        # Each answer of Spark leaves its socket to the garbage collector.
        item.add_marker(pytest.mark.filterwarnings("ignore:.*socket.*:pytest.PytestUnraisableExceptionWarning"))
        if version is None or version < JAVA_FROM:
            item.add_marker(pytest.mark.skip(reason=f"Spark needs Java {JAVA_FROM} or newer"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = new_session("local[2]", {**TINY, "spark.driver.memory": "1g"})
    yield session
    session.stop()


def pflab_check(root: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The command as a user calls it, in a process of its own with a Spark of its own."""
    return subprocess.run(
        [*PFLAB, *args], capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        env={**os.environ, "PYTHONPATH": str(root), **env},
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """Everything that was judged in the one run. told: what --json said; tables, report, shiviz: what it left."""

    root: Path
    spark: SparkSession
    planted: dict[str, Planted]
    toys: dict[str, Toy]
    told: dict[str, Any]
    exit_code: int
    tables: Path
    report: str
    shiviz: str
    judgements: dict[str, dict[str, str]]
    """By place, path to judgement."""
    complaints: str
    """What the check wrote to its standard error."""

    def table(self, name: str) -> DataFrame:
        return self.spark.read.parquet(str(self.tables / name))

    def place(self, name: str) -> str:
        return f"file:{self.root / name}"

    def verdicts(self, name: str) -> dict[str, str]:
        """Path to judgement of a trace."""
        return self.judgements[self.place(name)]

    def runs(self, group: str) -> dict[str, dict[str, Any]]:
        """The verdicts of all runs below a folder of the root, by the name under which they are told."""
        return {each["trace"]: each for each in self.told["runs"] if each["trace"].startswith(f"{group}/")}


@pytest.fixture(scope="session")
def judged(spark: SparkSession, project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    from tests.support.generated_traces import lay_out_made  # noqa: PLC0415 - only where pyspark is

    root = tmp_path_factory.mktemp("traces").resolve()
    lay_out_scenarios(root / "suite")
    planted = plant_all(root)
    plant_rule_faults(root)
    toys = lay_out_toys(root / "toys")
    lay_out_campaign(root / "campaign")
    lay_out_stories(root / "stories")
    lay_out_made(spark, root / "made")
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
    for row in spark.read.parquet(str(tables / "gold" / "verdicts")).collect():
        judgements.setdefault(row.trace.rpartition("#")[0], {})[row.path] = row.judgement
    page = report.read_text(encoding="utf-8")
    return Judged(
        root,
        spark,
        planted,
        toys,
        json.loads(done.stdout),
        done.returncode,
        tables,
        page,
        (left / "shiviz.log").read_text("utf-8"),
        judgements,
        done.stderr,
    )
