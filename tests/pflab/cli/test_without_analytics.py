"""The verbs of the analytics where a package of their extra, or Java, is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.cli.doctor.extras import pip_install
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import LOST_MAIL, play
from tests.support.hidden_packages import pflab_without

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    "order", [["check", "runs/latest", "--engine", "spark"], ["follow", "runs/latest", "--tables", "tables"]]
)
@pytest.mark.parametrize("missing", ["pyspark", "java"])
def test_one_line_says_what_to_install(
    order: list[str], missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Spark or Java there is one line that says what to install, and the exit code 2."""
    monkeypatch.chdir(tmp_path)
    play(LOST_MAIL)
    if missing == "java":
        pytest.importorskip("pyspark")
        done = pflab_without(tmp_path, (), *order, PATH=str(tmp_path), JAVA_HOME="")
        expected = "Spark needs Java 17 or newer, but no Java was found; install a JRE"
    else:
        done = pflab_without(tmp_path, ("pyspark", "py4j"), *order)
        expected = f"pyspark is not installed; install the extra spark: {pip_install([])}"
    assert (done.returncode, done.stdout) == (ExitCode.UNKNOWN, "")
    assert done.stderr.startswith(f"pflab {order[0]}: {expected}")
    assert done.stderr.count("\n") == 1


def test_a_check_needs_no_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict, the report, the tables kept by run, and the choice of rules need neither Spark nor pandas."""
    monkeypatch.chdir(tmp_path)
    play(LOST_MAIL)
    for options in (
        ["--report", "check.html"],
        ["--shiviz", "log.txt"],
        ["--tables", "kept"],
        ["--select", "BF-3", "--json"],
    ):
        done = pflab_without(tmp_path, ("pyspark", "py4j", "pandas", "numpy"), "check", "runs/latest", *options)
        assert done.returncode == ExitCode.GOOD, done.stderr


def test_a_report_needs_the_package_that_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report whose package is missing is refused before Spark begins."""
    monkeypatch.chdir(tmp_path)
    play(LOST_MAIL)
    done = pflab_without(tmp_path, ("jinja2",), "check", "runs/latest", "--report", "check.html")
    assert (done.returncode, done.stdout) == (ExitCode.UNKNOWN, "")
    assert done.stderr.startswith(
        f"pflab check: jinja2 is not installed; install the extra analytics: {pip_install([])}"
    )
    assert "'jinja2>=" in done.stderr


def test_the_demo_says_so_and_ends_well(tmp_path: Path) -> None:
    """The lesson works without DuckDB; at its end one line says what to install for the verdict."""
    done = pflab_without(tmp_path, ("duckdb", "_duckdb"), "demo", "--headless")
    assert done.returncode == ExitCode.GOOD, done.stdout + done.stderr
    assert f"For that, install the extra analytics: {pip_install([])}" in " ".join(done.stdout.splitlines()[-4:])
    assert "Traceback" not in done.stderr
