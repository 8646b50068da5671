"""The verdict on traces does not depend on how Spark compiles and divides the work. `make test-long` runs it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from analytics.rows import Findings
from tests.support.extra_runs import write_extra_runs
from tests.support.rule_faults import plant_rule_faults
from tests.support.scenario_traces import write_scenarios
from tests.support.suite_sample import SAMPLE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("long analytics")]  # one Java

_COMPILED: Final = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "3",
}
_SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "compiled": _COMPILED,
    "compiled without stages": {**_COMPILED, "spark.sql.codegen.wholeStage": "false"},
}
_EVERY: Final = 24
"""One in so many checks is enough: how expressions are compiled does not depend on the check."""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write traces with violations of different checks."""
    root = tmp_path_factory.mktemp("planted").resolve()
    write_scenarios(root / "suite", SAMPLE)
    write_extra_runs(root / "stories")
    plant_rule_faults(root)
    every = sorted((root / "rules").iterdir())
    for folder in every:
        if every.index(folder) % _EVERY:
            shutil.rmtree(folder)
    return root / "rules"


@pytest.fixture(scope="module")
def as_tiny(spark: SparkSession, planted: Path, tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return _judge(spark, planted, tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def changed(spark: SparkSession) -> Iterator[SparkSession]:
    """Return the session, and restore its settings after the test."""
    names = {name for settings in _SETTINGS.values() for name in settings}
    before = {name: spark.conf.get(name, None) for name in names}
    yield spark
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)


@pytest.mark.parametrize("name", _SETTINGS)
def test_a_verdict_is_the_same_under_all_settings(
    changed: SparkSession, as_tiny: Findings, planted: Path, tmp_path: Path, name: str
) -> None:
    """Judgements, mismatches, counts of each check and witnesses are the same with compiled and interpreted expressions, with
    and without adaptive plans, and in one or several partitions."""
    for key, value in _SETTINGS[name].items():
        changed.conf.set(key, value)
    found = _judge(changed, planted, tmp_path)
    assert any(row.violations for row in found["rules"])
    assert {query: len(rows) for query, rows in found.items()} == {query: len(rows) for query, rows in as_tiny.items()}
    assert found == as_tiny


def _judge(spark: SparkSession, traces: Path, folder: Path) -> Findings:
    from analytics.ingest.tables import Tables  # noqa: PLC0415 - only where pyspark is
    from analytics.pipeline import judged  # noqa: PLC0415

    with judged([str(traces)], Tables(spark, str(folder / "tables"))) as found:
        return {name: sorted(rows, key=repr) for name, rows in found.findings.items()}
