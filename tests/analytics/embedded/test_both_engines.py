"""The embedded engine says what Spark says, of every trace of the tests, and its statements are those of the tables."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from analytics.embedded.engine import FOR_SESSION, judge, segments
from analytics.embedded.product import FUNCTIONS, JUDGE, Product, Statement, product
from analytics.errors import AnalyticsError, NoTraces
from analytics.ingest.tables import Tables
from analytics.pipeline import judged as by_plans
from analytics.verdicts.conclusion import conclude, together
from tests.support.judged_traces import PATIENCE_S, PFLAB, Judged, assert_same_tables, pflab_check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_both_engines_give_the_same_verdict_word_for_word(spark: SparkSession, judged: Judged, tmp_path: Path) -> None:
    """Spark's own plans find the same cases, violations, verdicts, witnesses and doubts as the embedded engine, and the same
    rows of all tables: in all scenarios, random runs, labs with running clocks, altered and damaged traces, and traces with
    planted faults."""
    with by_plans([str(judged.root)], Tables(spark, str(tmp_path / "tables"))) as found:
        assert json.loads(json.dumps(conclude(found.findings).as_document())) == judged.document
        found.publish(str(tmp_path))
    assert_same_tables(f"{tmp_path}/{{name}}.parquet", f"{judged.tables}/{{name}}/*.parquet")


def test_findings_of_parts_together_are_the_findings_of_all(judged: Judged) -> None:
    """Runs that are judged apart have the same verdict as runs that are judged together."""
    parts = [str(judged.root / name) for name in ("stories", "planted", "rules")]
    assert conclude(together([judge([part]) for part in parts])) == conclude(judge(parts))


def test_the_statements_are_those_of_the_tables(spark: SparkSession) -> None:
    """judge.sql is what `make sql` writes from the tables as they are."""
    from analytics.translate.record import record  # noqa: PLC0415 - only where pyspark is

    assert record(spark).text() == JUDGE.read_text("utf-8"), "the tables have changed: run make sql"


def test_the_statements_are_read_as_they_were_written() -> None:
    """What the build writes is read back: the types of events that a table needs, its name, and its statement."""
    tables = (Statement("a/b", "SELECT '-- table'", ("x.y", "z")), Statement("c", "SELECT 1\nFROM d"))
    findings, figures, details = ((Statement(name, f"SELECT '{name}'"),) for name in ("f", "g", "d"))
    written = Product({"a": "BIGINT"}, {"runs": "trace string"}, tables, findings, figures, details)
    assert Product.parse(written.text()) == written
    assert product().tables
    assert FUNCTIONS.is_file()


def test_a_folder_without_segments_is_no_verdict(tmp_path: Path) -> None:
    """Without a segment there is nothing to judge, and an error says so."""
    with pytest.raises(NoTraces, match="no segment"):
        conclude(judge([str(tmp_path)]))


def test_the_link_to_the_latest_run_is_not_read_twice(tmp_path: Path) -> None:
    """`latest` names a run that is in the folder too. Hidden files are left out, as Spark does."""
    run = tmp_path / "one" / "traces"
    run.mkdir(parents=True)
    (tmp_path / "latest").symlink_to("one")
    for name in ("A-1-1.jsonl", "_A-1-1.jsonl", ".A-1-1.jsonl", "A-1-1.jsonl.part"):
        (run / name).touch()
    assert segments([str(tmp_path), str(run)]) == [str(run / "A-1-1.jsonl")]
    assert segments([f"{tmp_path}/o*/traces/*.jsonl"]) == [str(run / "A-1-1.jsonl")]


def test_a_name_that_exists_is_no_pattern(tmp_path: Path) -> None:
    """A folder may have signs of patterns in its name, and is read whether it is named or found."""
    path = tmp_path / "run[1]*" / "traces" / "A-1-1.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()
    for place in (str(tmp_path), str(tmp_path / "run[1]*"), str(path), f"{tmp_path}/run?1?*"):
        assert segments([place]) == [str(path)]


def test_links_are_followed_once(tmp_path: Path) -> None:
    """A linked run is judged, a loop ends, and what a link shows a second time is not judged again. A real folder may be named
    `latest`."""
    for name in ("runs/a", "runs/latest", "elsewhere/b"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "A-1-1.jsonl").touch()
    for link, target in (("runs/0", "a"), ("runs/a/loop", ".."), ("runs/link", "../elsewhere/b")):
        (tmp_path / link).symlink_to(target)
    found = segments([str(tmp_path / "runs")])
    assert found == [str(tmp_path / "runs" / name / "A-1-1.jsonl") for name in ("a", "latest", "link")]


def test_what_cannot_be_read_is_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that may not be listed, and a pipe, are errors: without them the others could have another verdict."""
    os.mkfifo(tmp_path / "A-1-1.jsonl")
    with pytest.raises(AnalyticsError, match="no regular file"):
        judge([str(tmp_path)])

    def refuse(path: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(AnalyticsError, match="Permission denied"):
        segments([str(tmp_path)])


def test_the_engine_draws_nothing() -> None:
    """The output of a long check is the verdict alone: DuckDB draws no bar of its own progress on stdout."""
    connection = duckdb.connect()
    connection.execute(FOR_SESSION)
    assert connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)


def test_a_segment_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A segment that the system does not open gives one line with its name."""
    (tmp_path / "A-1-1.jsonl").symlink_to("nowhere")
    with pytest.raises(AnalyticsError, match=r"A-1-1\.jsonl: cannot be read"):
        judge([str(tmp_path)])


@pytest.mark.parametrize(
    ("option", "why"),
    [
        (("--master", "local[1]"), "--master needs Spark"),
        (("--tables", "hdfs://a/t"), "only Spark writes tables to hdfs://a/t"),
        (("hdfs://a/runs",), "only Spark reads hdfs://a/runs"),
    ],
)
def test_what_only_spark_can_is_said_in_one_line(
    option: tuple[str, ...], why: str, project_root: Path, tmp_path: Path
) -> None:
    """An option that needs Spark beside --engine embedded is a mistake, which one line explains."""
    done = pflab_check(project_root, str(tmp_path), "--engine", "embedded", *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"pflab check: {why}; leave out --engine embedded\n"


@pytest.mark.spark
def test_a_small_check_needs_no_java(judged: Judged, project_root: Path, tmp_path: Path) -> None:
    """A few runs are judged without Java, with the same words as by Spark."""
    traces = str(judged.root / "suite" / "lost-mail")
    small = pflab_check(project_root, traces, JAVA_HOME=str(tmp_path))
    large = pflab_check(project_root, traces, "--engine", "spark")
    assert (small.returncode, small.stdout) == (large.returncode, large.stdout)
    assert small.stderr == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_check_that_is_stopped_says_so(
    judged: Judged, project_root: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """A check that a signal ends in the middle of its statements says so in one line, and leaves no file."""
    env = {**os.environ, "PYTHONPATH": str(project_root), "TMPDIR": str(tmp_path)}
    order = [*PFLAB, str(judged.root), "--engine", "embedded"]
    with subprocess.Popen(order, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as check:
        until = time.monotonic() + PATIENCE_S
        while not any(tmp_path.iterdir()) and check.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        check.send_signal(number)
        said, told = check.communicate(timeout=PATIENCE_S)
    assert (check.returncode, said, told) == (130, "", "pflab: stopped\n")
    assert list(tmp_path.iterdir()) == []
