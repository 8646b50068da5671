"""One Spark session and one check for all tests of the analytics: everything to be judged is laid out first, judged in one
run, and the tests look at what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.analytics.corpus import lay_out_scenarios
from tests.analytics.planting import Planted, plant_all
from tests.analytics.rule_faults import plant_rule_faults
from tests.analytics.toy import Toy, lay_out_toys

pytest.importorskip("pyspark", reason="the extra `analytics` is not installed")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analytics.check import Gold

from analytics.session import JAVA_FROM, QUICK, java_version, new_session


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
    session = new_session("local[2]", {**QUICK, "spark.driver.memory": "1g"})
    yield session
    session.stop()


@dataclass(frozen=True, slots=True)
class Judged:
    """Everything that was judged in the one run. `took_s`: how long that took, from segments to verdicts."""

    root: Path
    gold: Gold
    planted: dict[str, Planted]
    toys: dict[str, Toy]
    took_s: float
    judgements: dict[str, dict[str, str]]
    """By place, path to judgement."""

    def place(self, name: str) -> str:
        return f"file:{self.root / name}"

    def verdicts(self, name: str) -> dict[str, str]:
        """Path to judgement of a trace."""
        return self.judgements[self.place(name)]


@pytest.fixture(scope="session")
def judged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    from analytics.bronze import parse, read_lines  # noqa: PLC0415 - only where pyspark is
    from analytics.check import judge  # noqa: PLC0415
    from analytics.tables import Tables  # noqa: PLC0415

    root = tmp_path_factory.mktemp("traces").resolve()
    lay_out_scenarios(root / "suite")
    planted = plant_all(root)
    plant_rule_faults(root)
    toys = lay_out_toys(root / "toys")
    tables = Tables(spark, str(tmp_path_factory.mktemp("tables")))
    began = time.monotonic()
    kept = tables.keep("bronze", parse(read_lines(spark, [str(root)])), by=["family"])
    gold = judge(kept, tables)
    judgements: dict[str, dict[str, str]] = {}
    for row in gold.verdicts.collect():
        judgements.setdefault(row.trace.rpartition("#")[0], {})[row.path] = row.judgement
    return Judged(root, gold, planted, toys, time.monotonic() - began, judgements)
