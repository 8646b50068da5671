"""The check as a Spark job over batches of runs (`pflab check --engine spark`)."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics import batches
from analytics import rows as judged_rows
from analytics.embedded.engine import judge as judge_here
from analytics.embedded.engine import judged as judged_here
from analytics.embedded.task import judge_contents
from analytics.errors import AnalyticsError, NoTraces
from analytics.ingest.places import contents_of
from analytics.ingest.tables import Tables
from analytics.ingest.worker import in_worker
from analytics.published.tables import PUBLISHED
from analytics.report.contents import shown_traces
from analytics.report.queries import FIGURES
from analytics.verdicts.conclusion import conclude
from pflab.analytics import CannotJudge
from pflab.analytics import judge as judge_from_python
from pflab.campaign.seed import run_seed
from tests.support.judged_traces import Judged, assert_same_tables, rows_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analytics.verdicts.result import CheckResult


@pytest.fixture
def judge(spark: SparkSession, tmp_path: Path) -> Judge:
    return Judge(spark, tmp_path)


class Judge:
    """Judges places with the Spark job."""

    def __init__(self, spark: SparkSession, place: Path) -> None:
        self._spark = spark
        self._place = place

    def __call__(self, *places: Path) -> CheckResult:
        def tables(nth: int) -> Tables:
            return Tables(self._spark, str(self._place / str(nth)))

        with batches.judged(self._spark, list(map(str, places)), tables) as found:
            return conclude(found.findings)


def test_batches_give_the_verdict_of_this_process(judged: Judged, judge: Judge) -> None:
    """The job finds the same as the embedded engine, word for word: on planted faults, random runs and running clocks."""
    assert json.loads(json.dumps(judge(judged.root).as_document())) == judged.document


def test_a_place_too_large_for_a_task_is_judged_with_the_others(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's own plans judge a large place; the verdict, the answers to a report's queries and the tables are those of this
    process, also if the plans work at a URL."""
    for seed in (32, 33):
        run_seed(seed, days=1, folder=tmp_path / "runs")
    places = [str(place) for place in sorted((tmp_path / "runs").glob("seed-*"))]
    smaller = min(sum(path.stat().st_size for path in Path(place).rglob("*.jsonl")) for place in places)
    for name in ("here", "job"):
        (tmp_path / name).mkdir()
    with judged_here(contents_of(places)) as here:
        verdict = conclude(here.findings)
        few = {"runs": [(trace,) for trace in sorted(shown_traces(here.findings))]}
        expected = {name: sorted(here.answers(name, few), key=repr) for name in ("lab_events", "store_guids", *FIGURES)}
        here.publish(str(tmp_path / "here"))

    def tables(nth: int) -> Tables:
        return Tables(spark, f"file://{tmp_path}/plans/{nth}")

    with batches.judged(spark, places, tables, report=True, publish=True, large_bytes=smaller) as found:
        assert conclude(found.findings) == verdict
        assert {name: sorted(found.answers(name, few), key=repr) for name in expected} == expected
        found.publish(str(tmp_path / "job"))
    assert (tmp_path / "plans" / "0").is_dir()
    assert_same_tables(f"{tmp_path}/here/{{name}}.parquet", f"{tmp_path}/job/{{name}}.parquet")


def test_a_place_that_is_given_twice_is_read_once(judged: Judged, judge: Judge) -> None:
    """A folder and a folder inside it have the runs of the outer one."""
    place = next((judged.root / "suite").iterdir())
    assert judge(place, place / "traces", place) == judge(place)


def test_segments_do_not_go_through_the_memory_of_java(judged: Judged, judge: Judge, tmp_path: Path) -> None:
    """Tasks open the segments of a run themselves: Java's 3 GB have no room for several copies of two of 300 MB."""
    shutil.copytree(next((judged.root / "suite").iterdir()), tmp_path / "large")
    for number in range(2):
        (tmp_path / "large" / "traces" / f"x.{number}.jsonl").write_bytes((b"x" * 1_000_000 + b"\n") * 300)
    assert judge(tmp_path / "large").runs == conclude(judge_here([str(tmp_path / "large")])).runs


def test_segments_at_a_url_are_read_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Tasks cannot open the segments of another file system than this machine's: Spark reads them, beside those at a path, and
    also for the details of a report."""
    run_seed(32, days=1, folder=tmp_path / "runs")
    run_seed(33, days=1, folder=tmp_path / "near")
    mounted = "fs.viewfs.mounttable.pflab.link./runs"
    spark.sparkContext._jsc.hadoopConfiguration().set(mounted, (tmp_path / "runs").as_uri())
    places = ["viewfs://pflab/runs", str(tmp_path / "near")]
    with judged_here(contents_of([str(tmp_path)])) as here:
        verdict = conclude(here.findings)
        events = len(here.answers("lab_events", {"runs": [(trace,) for trace in shown_traces(here.findings)]}))
    with batches.judged(spark, places, lambda nth: Tables(spark, str(tmp_path / str(nth))), report=True) as found:
        result = conclude(found.findings)
        shown = {"runs": [(trace,) for trace in shown_traces(found.findings)]}
        assert len(found.answers("lab_events", shown)) == events > 0
    assert (result.traces, result.events, result.folders) == (2, verdict.events, verdict.folders)


def test_a_url_that_spark_cannot_read_is_an_error_of_one_line(spark: SparkSession) -> None:
    """A scheme, a folder or a pattern at a URL that Spark refuses gives the error of the library, and no traceback of Java."""
    for url in ("nowhere://a/runs", "viewfs://pflab/[a", "viewfs://pflab/nothing"):
        with pytest.raises(CannotJudge, match=r"^Spark failed: ") as failed:
            judge_from_python(url, spark=spark)
        assert url in str(failed.value) and "\n" not in str(failed.value)


def test_tables_at_a_url_replace_only_tables(spark: SparkSession, tmp_path: Path) -> None:
    """A second check writes its tables in place of those of the first. A file or folder of another program is named before
    anything is judged, and stays: also the log of a Delta table, whose name begins with `_`."""
    url = f"file://{tmp_path}/tables"

    def publish(folder: str) -> None:
        for name in PUBLISHED:
            pq.write_table(pa.table({"trace": ["a#r"]}), f"{folder}/{name}.parquet")

    for _ in range(2):
        batches.need_own_tables(spark, url)
        batches.publish(spark, judged_rows.Judged({}, lambda *_: [], publish), url)
        assert {name: len(rows_in(f"{tmp_path}/tables/{name}/*.parquet")) for name in PUBLISHED} == dict.fromkeys(
            PUBLISHED, 1
        )
    for name in ("2024.parquet", "_delta_log"):
        foreign = tmp_path / "tables" / "runs" / name
        foreign.write_text("mine", "ascii")
        with pytest.raises(AnalyticsError, match=rf"tables/runs/{name}: pflab did not write this file"):
            batches.need_own_tables(spark, url)
        assert foreign.read_text("ascii") == "mine"
        foreign.unlink()


def test_no_segments_are_no_verdict(tmp_path: Path, judge: Judge) -> None:
    """A folder without segments gives the error of the embedded engine."""
    with pytest.raises(NoTraces, match="no segment"):
        judge(tmp_path)


def test_a_path_with_signs_is_the_same_in_both_engines(judged: Judged, judge: Judge, tmp_path: Path) -> None:
    """A place is named in the verdict as the user wrote it, with spaces, letters of any language and signs of patterns."""
    place = tmp_path / "Läufe von [heute] +1% #2*"
    place.symlink_to(next((judged.root / "suite").iterdir()))
    assert judge(place).runs == conclude(judge_here([str(place)])).runs


@given(st.dictionaries(st.text(min_size=1), st.integers(0, 5_000_000), max_size=60), st.integers(1, 16))
def test_each_place_is_in_one_batch(bytes_of: dict[str, int], cores: int) -> None:
    """All segments of a place are judged together, no batch is empty, and no task does much more than another."""
    made = batches._batches(bytes_of, lambda: cores)
    assert sorted(place for batch in made for place in batch) == sorted(bytes_of)
    assert all(made)
    sizes = [sum(bytes_of[place] for place in batch) for batch in made]
    assert max(sizes, default=0) - min(sizes, default=0) <= max(bytes_of.values(), default=0)


def test_a_task_leaves_the_modules_of_the_session_s_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker may have imported a module `traces` of its owner's. It has the same one after a task, and ours is gone."""
    theirs, path = ModuleType("traces"), list(sys.path)
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in {"analytics", "traces"}}
    with monkeypatch.context() as patch:
        for name in before:
            patch.delitem(sys.modules, name)
        patch.setitem(sys.modules, "traces", theirs)
        assert list(in_worker(judge_contents, figures=(), is_published=False)([])) == []
        names = {name for name in sys.modules if name.partition(".")[0] in {"analytics", "traces"}}
        assert names == {"traces"}
        assert sys.modules["traces"] is theirs
        assert sys.path == path
