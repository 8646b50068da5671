"""The embedded engine says what Spark says, of every trace of the tests, and its statements are those of the tables."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from analytics.embedded.engine import FOR_SESSION, judge, opened
from analytics.embedded.engine import judged as judged_here
from analytics.embedded.product import FUNCTIONS, JUDGE, Product, Statement, product
from analytics.errors import NoTraces
from analytics.ingest.places import contents_of
from analytics.ingest.tables import Tables
from analytics.pipeline import judged as by_plans
from analytics.rules.catalogue import by_table, chosen
from analytics.verdicts.conclusion import conclude, together
from pflab.campaign.seed import run_seed
from pflab.cli.verbs.analytics import tables as pflab_tables
from tests.support.judged_traces import PATIENCE_S, PFLAB, Judged, assert_same_tables, pflab_check, rows_in
from tests.support.rule_faults import place_of
from tests.support.time_limits import SLOW_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


def test_both_engines_give_the_same_verdict_word_for_word(spark: SparkSession, judged: Judged, tmp_path: Path) -> None:
    """Spark's own plans find the same cases, violations, verdicts, witnesses and doubts as the embedded engine, and the same
    rows of all tables: in all scenarios, random runs, labs with running clocks, altered and damaged traces, and traces with
    planted faults."""
    with by_plans([str(judged.root)], Tables(spark, str(tmp_path / "tables"))) as found:
        assert json.loads(json.dumps(conclude(found.findings).as_document())) == judged.document
        found.publish(str(tmp_path))
    assert_same_tables(f"{tmp_path}/{{name}}.parquet", f"{judged.tables}/{{name}}/*.parquet")


def test_chosen_checks_need_few_tables(spark: SparkSession, judged: Judged, tmp_path: Path) -> None:
    """Spark's own plans find what the embedded engine finds with the same checks, and compute nothing else."""
    places = [str(judged.root / "suite" / name) for name in ("edit", "reissued-counters")]
    selected, deselected = ["CN-1", "CN-2"], ["CN-3"]
    rules, tables = by_table(chosen(selected, deselected)), Tables(spark, str(tmp_path))
    with by_plans(places, tables, rules=rules) as by_spark, judged_here(contents_of(places), rules=rules) as here:
        assert conclude(by_spark.findings) == conclude(here.findings)
        assert [row for row in here.findings["rules"] if row.violations]
        by_spark.publish(str(tmp_path))
    assert pflab_tables(places, tmp_path / "here", select=selected, deselect=deselected) == 0
    assert_same_tables(f"{tmp_path}/{{name}}.parquet", f"{tmp_path}/here/{{name}}.parquet")
    assert Path(tables.path("evidence/versions")).exists()
    assert not Path(tables.path("evidence/candidates")).exists()


@pytest.mark.parametrize(
    ("selected", "deselected"), [(["agreement"], []), ([], ["agreement"])], ids=["alone", "left out"]
)
def test_agreement_is_judged_alone_or_left_out(
    spark: SparkSession, judged: Judged, tmp_path: Path, selected: list[str], deselected: list[str]
) -> None:
    """`--select agreement` and `--deselect agreement`: in both engines the chosen checks find what they find among all checks,
    and the tables of the others are not computed."""
    place = judged.place(place_of("events agree with each other"))
    checks = chosen(selected, deselected)
    rules = by_table(checks)
    with by_plans([place], Tables(spark, str(tmp_path)), rules=rules) as by_spark:
        verdict = conclude(by_spark.findings, checks)
    with judged_here(contents_of([place]), rules=rules) as here:
        assert conclude(here.findings, checks) == verdict
    with judged_here(contents_of([place])) as every:
        assert conclude(every.findings, checks) == verdict
    assert ("events agree with each other" in {rule.check for rule in verdict.rules if rule.violations}) == bool(
        selected
    )
    computed = {table.name for table in product().tables_for(rules)}
    assert ("rules/facts" in computed, "evidence/candidates" in computed) == (bool(selected), bool(deselected))
    assert Path(tmp_path, "evidence", "candidates").exists() == bool(deselected)


@pytest.mark.timeout(SLOW_S)
def test_both_engines_read_segments_in_the_same_way(spark: SparkSession, tmp_path: Path) -> None:
    """A byte order mark, numbers in other forms at the end of a segment, long lines, signs in the names of a run and a folder:
    each engine reads the same lines, and says the same of them."""
    run_seed(32, days=1, folder=tmp_path / "made")
    (made,) = (tmp_path / "made").glob("*/traces")

    def altered(name: str, change: Callable[[bytes], bytes]) -> None:
        shutil.copytree(made, tmp_path / "runs" / name / "traces")
        segment = min((tmp_path / "runs" / name / "traces").glob("*.jsonl"))
        segment.write_bytes(change(segment.read_bytes()))

    def with_end(name: str, pattern: str, text: str) -> None:
        altered(name, lambda content: re.sub(pattern.encode(), text.encode(), content))

    altered("good", lambda content: content)
    altered("mark", lambda content: b"\xef\xbb\xbf" + content)
    altered("carriage returns", lambda content: content.replace(b"\n", b"\r\n"))
    with_end("point", r'"events":(\d+)', r'"events":\1.0')
    with_end("twice", r'"events":(\d+)', r'"events":1,"events":\1')
    with_end("text", r'"events":(\d+)', r'"events":"\1"')
    with_end("none", r'"crc32_sum":\d+', r'"crc32_sum":null')
    with_end("no end", r'\{"type":"segment.end".*\n', "")
    altered("long", lambda content: content + b'{"type":"x","y":"' + b"z" * 21_000_000 + b'"}\n')
    altered("only noise", lambda _: b"noise\n")
    altered("a line of noise", lambda content: content + b"noise\n")
    shutil.copytree(made, tmp_path / "runs" / "x#y%23" / "traces")
    for segment in (tmp_path / "runs" / "x#y%23" / "traces").iterdir():
        segment.write_bytes(segment.read_bytes().replace(b'"run":"', b'"run":"a#b%23'))
    (tmp_path / "runs" / "noise").mkdir()
    (tmp_path / "runs" / "noise" / "A-1-1.jsonl").write_bytes(b"noise\n")

    for name in ("here", "plans"):
        (tmp_path / name).mkdir()
    with judged_here(contents_of([str(tmp_path / "runs")])) as found:
        here = conclude(found.findings)
        found.publish(str(tmp_path / "here"))
    with by_plans([str(tmp_path / "runs")], Tables(spark, str(tmp_path / "tables"))) as found:
        assert conclude(found.findings) == here
        found.publish(str(tmp_path / "plans"))
    assert_same_tables(f"{tmp_path}/plans/{{name}}.parquet", f"{tmp_path}/here/{{name}}.parquet")
    rows = rows_in(f"{tmp_path}/here/runs.parquet")
    judgements = {row.place.rpartition("/")[2]: row.judgement for row in rows}
    assert len(rows) == len(judgements) == len(list((tmp_path / "runs").iterdir()))
    unknown = {name for name, judgement in judgements.items() if judgement == "unknown"}
    assert unknown == {"point", "text", "none", "no end", "long", "only noise", "a line of noise", "x#y%23", "noise"}
    (signs,) = (row for row in rows if "%" in row.place)
    assert signs.run.startswith("a#b%23")


@pytest.mark.long
def test_findings_of_parts_together_are_the_findings_of_all(judged: Judged) -> None:
    """Runs that are judged apart have the same verdict as runs that are judged together: a good one, one with violations, and
    one with doubts."""
    parts = [str(judged.root / name) for name in ("suite/edit", "suite/reissued-counters", "planted/cut")]
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


def test_the_engine_draws_nothing() -> None:
    """The output of a long check is the verdict alone: DuckDB draws no bar of its own progress on stdout."""
    connection = duckdb.connect()
    connection.execute(FOR_SESSION)
    assert connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)


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


@pytest.mark.parametrize(
    "error",
    [
        duckdb.InterruptException("INTERRUPT Error: Interrupted!"),
        RuntimeError("Query interrupted"),
        duckdb.InvalidInputException("Invalid Input Error: reading the stream failed: KeyboardInterrupt: "),
    ],
)
def test_each_error_of_a_stopped_statement_means_the_signal(error: Exception) -> None:
    """DuckDB has three errors for a statement that a signal ends; each becomes KeyboardInterrupt."""
    with pytest.raises(KeyboardInterrupt), opened():
        raise error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_check_that_is_stopped_says_so(
    judged: Judged, project_root: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """A check that a signal ends in the middle of its statements says so in one line, and leaves no file."""
    env = {**os.environ, "PYTHONPATH": str(project_root), "TMPDIR": str(tmp_path)}
    order = [*PFLAB, str(judged.root), "--engine", "embedded"]
    with subprocess.Popen(order, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as check:
        until = time.monotonic() + PATIENCE_S
        while not any(tmp_path.glob("pflab-check-*")) and check.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        check.send_signal(number)
        said, told = check.communicate(timeout=PATIENCE_S)
    assert (check.returncode, said, told) == (130, "", "pflab: stopped\n")
    assert list(tmp_path.iterdir()) == []
