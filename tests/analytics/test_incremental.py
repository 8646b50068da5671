"""Reading segments as they arrive: each exactly once, also if a run is killed in the middle."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from analytics.ingest import incremental
from analytics.ingest.bronze import parse, read_lines
from analytics.ingest.tables import Tables
from tests.support.judged_traces import Judged

Event = tuple[str, str, int]


def events(rows: object) -> list[Event]:
    return sorted((row.trace, row.node, row.seq) for row in rows.select("trace", "node", "seq").collect())  # type: ignore[attr-defined]


@pytest.fixture
def place(judged: Judged, tmp_path: Path) -> Path:
    place = tmp_path / "runs"
    shutil.copytree(judged.root / "suite" / "edit", place / "edit")
    return place


def test_each_segment_is_read_once(spark: SparkSession, judged: Judged, place: Path, tmp_path: Path) -> None:
    """A second run reads only new segments, and both together read what one run over all would have read."""
    tables = Tables(spark, str(tmp_path / "tables"))
    first = events(incremental.take_new(tables, [str(place)]))
    assert first == events(parse(read_lines(spark, [str(place)])))
    shutil.copytree(judged.root / "suite" / "delete", place / "delete")
    (place / "edit" / "traces" / "A-1-1.jsonl").unlink()  # a segment may go once it was taken
    second = events(incremental.take_new(tables, [str(place)]))
    added = {event for event in second if "/delete#" in event[0]}
    assert added
    assert [event for event in second if event not in added] == first
    assert events(incremental.take_new(tables, [str(place)])) == second


def test_a_killed_run_resumes_without_loss_or_doubling(spark: SparkSession, place: Path, tmp_path: Path) -> None:
    """A run that died after it wrote files of a batch and before it committed them resumes there, and every event is present
    once."""
    tables = Tables(spark, str(tmp_path / "tables"))
    whole = events(incremental.take_new(tables, [str(place)], segments_at_once=1))
    (path,) = (tmp_path / "tables" / "bronze").iterdir()
    (checkpoint,) = (tmp_path / "tables" / "checkpoints").iterdir()
    last = max(int(each.name) for each in (checkpoint / "commits").iterdir() if each.name.isdigit())
    assert last >= 2
    # As a kill leaves it: the last batch was planned and half of its files written; the query had not committed it.
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)
    (path / f"batches={last}-{last}" / "_SUCCESS").unlink()
    assert any((path / f"batches={last}-{last}").rglob("*.parquet"))
    assert events(incremental.take_new(tables, [str(place)], segments_at_once=1)) == whole


def test_a_run_killed_between_batch_and_commit_doubles_nothing(
    spark: SparkSession, place: Path, tmp_path: Path
) -> None:
    """A complete batch that the query does not know is written again in its own place."""
    tables = Tables(spark, str(tmp_path / "tables"))
    whole = events(incremental.take_new(tables, [str(place)], segments_at_once=1))
    (checkpoint,) = (tmp_path / "tables" / "checkpoints").iterdir()
    last = max(int(each.name) for each in (checkpoint / "commits").iterdir() if each.name.isdigit())
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)
    assert events(incremental.take_new(tables, [str(place)], segments_at_once=1)) == whole


def test_small_parts_are_joined(spark: SparkSession, place: Path, tmp_path: Path) -> None:
    """However many batches there were, few folders remain, with every event once, also after a kill during the joining."""
    tables = Tables(spark, str(tmp_path / "tables"))
    whole = events(incremental.take_new(tables, [str(place)], segments_at_once=1, many=100))
    (path,) = (tmp_path / "tables" / "bronze").iterdir()
    batches = len(list(path.iterdir()))
    assert batches >= 4
    assert events(incremental.take_new(tables, [str(place)], many=2)) == whole
    assert len(list(path.iterdir())) == 1
    one = min(path.iterdir())
    shutil.copytree(one, path / "batches=0-0", dirs_exist_ok=True)  # joined, and not yet taken away
    shutil.copytree(one, path / "batches=0-99")  # half joined
    (path / "batches=0-99" / "_SUCCESS").unlink()
    assert events(incremental.take_new(tables, [str(place)], many=2)) == whole
    assert not (path / "batches=0-99").exists()
