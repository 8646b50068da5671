"""Reading segments as they arrive: each exactly once, also if a run is killed in the middle."""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
from pathlib import Path

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from analytics.errors import AnalyticsError, TablesDamaged
from analytics.ingest import incremental
from analytics.ingest.bronze import read_lines
from analytics.ingest.session import in_a_line
from analytics.ingest.table_lock import locked
from analytics.ingest.tables import Tables
from analytics.pipeline import judged
from tests.support.scenario_traces import SCENARIOS, play_scenario
from traces.events import EVENT_TYPES

Event = tuple[str, str, int]


def events(rows: object) -> list[Event]:
    return sorted((row.trace, row.node, row.seq) for row in rows.select("trace", "node", "seq").collect())  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The traces of two scenarios, in `edit` and `delete`."""
    suite = tmp_path_factory.mktemp("suite")
    for path in SCENARIOS:
        if path.stem in {"edit", "delete"}:
            play_scenario(path, suite)
    return suite


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which each test finds `runs` and `tables`. The same for all: a checkpoint has absolute paths."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def place(suite: Path, home: Path) -> Path:
    """A new folder with the traces of one scenario, in `edit`, and no tables."""
    for each in home.iterdir():
        shutil.rmtree(each)
    shutil.copytree(suite / "edit", home / "runs" / "edit")
    return home / "runs"


class Taken:
    """Tables with all segments of `place`, read in one batch or one a batch. Each kind is read once, and then copied."""

    def __init__(self, spark: SparkSession, home: Path, copies: Path) -> None:
        self._spark, self._home, self._copies = spark, home, copies
        self._events: dict[int, list[Event]] = {}

    def __call__(self, segments_at_once: int = incremental.SEGMENTS_AT_ONCE) -> tuple[Tables, list[Event]]:
        """Make the folder `tables`. Return the tables, and the events that they have."""
        tables = Tables(self._spark, str(self._home / "tables"))
        copy = self._copies / str(segments_at_once)
        if segments_at_once not in self._events:
            read = incremental.take_new(tables, [str(self._home / "runs")], segments_at_once=segments_at_once)
            self._events[segments_at_once] = events(read)
            shutil.copytree(self._home / "tables", copy)
        else:
            shutil.copytree(copy, self._home / "tables")
        return tables, self._events[segments_at_once]


@pytest.fixture(scope="module")
def takes(spark: SparkSession, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Taken:
    return Taken(spark, home, tmp_path_factory.mktemp("taken"))


@pytest.fixture
def taken(takes: Taken, place: Path) -> Taken:
    """What reads all segments of `place`, which are as at its beginning."""
    assert place.is_dir()
    return takes


def test_each_segment_is_read_once(spark: SparkSession, taken: Taken, suite: Path, place: Path) -> None:
    """A second run reads only new segments, and both together read what one run over all would have read."""
    tables, first = taken()
    assert first == events(read_lines(spark, [str(place)]))
    shutil.copytree(suite / "delete", place / "delete")
    (place / "edit" / "traces" / "A-1-1.jsonl").unlink()  # a segment may go once it was taken
    second = events(incremental.take_new(tables, [str(place)]))
    added = {event for event in second if "/delete#" in event[0]}
    assert added
    assert [event for event in second if event not in added] == first
    assert events(incremental.take_new(tables, [str(place)])) == second


def test_a_killed_run_resumes_without_loss_or_doubling(taken: Taken, place: Path, home: Path) -> None:
    """A run that died after it wrote files of a batch and before it committed them resumes there, and every event is present
    once."""
    tables, whole = taken(1)
    (path,) = (home / "tables" / "bronze").iterdir()
    (checkpoint,) = (home / "tables" / "checkpoints").iterdir()
    last = max(int(each.name) for each in (checkpoint / "commits").iterdir() if each.name.isdigit())
    assert last >= 2
    # As a kill leaves it: the last batch was planned and half of its files written; the query had not committed it.
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)
    (path / f"batches={last}-{last}" / "_SUCCESS").unlink()
    assert any((path / f"batches={last}-{last}").rglob("*.parquet"))
    assert events(incremental.take_new(tables, [str(place)], segments_at_once=1)) == whole


def test_a_run_killed_between_batch_and_commit_doubles_nothing(taken: Taken, place: Path, home: Path) -> None:
    """A complete batch that the query does not know is written again in its own place."""
    tables, whole = taken(1)
    (checkpoint,) = (home / "tables" / "checkpoints").iterdir()
    last = max(int(each.name) for each in (checkpoint / "commits").iterdir() if each.name.isdigit())
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)
    assert events(incremental.take_new(tables, [str(place)], segments_at_once=1)) == whole


def test_a_late_segment_may_be_old(spark: SparkSession, taken: Taken, suite: Path, place: Path) -> None:
    """A segment that arrives late is read, even if it was written weeks before the others, as on a disk that was away."""
    tables, _ = taken()
    late = shutil.copytree(suite / "delete", place / "delete")
    for path in late.rglob("*.jsonl"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert events(incremental.take_new(tables, [str(place)])) == events(read_lines(spark, [str(place)]))


def test_a_run_killed_while_it_plans_the_first_batch_resumes(taken: Taken, place: Path, home: Path) -> None:
    """A run that died while it wrote the plan of its first batch leaves an unfinished file; the next run starts."""
    tables, whole = taken()
    (path,) = (home / "tables" / "bronze").iterdir()
    (checkpoint,) = (home / "tables" / "checkpoints").iterdir()
    shutil.rmtree(path)
    shutil.rmtree(checkpoint / "commits")
    (checkpoint / "offsets" / "0").rename(checkpoint / "offsets" / ".0.01234567-89ab-cdef-0123-456789abcdef.tmp")
    assert events(incremental.take_new(tables, [str(place)])) == whole


def test_a_segment_may_go_before_it_was_read(spark: SparkSession, taken: Taken, place: Path, home: Path) -> None:
    """A segment that the lab removed after it was planned into a batch does not stop the reading of the others."""
    tables, _ = taken()
    (checkpoint,) = (home / "tables" / "checkpoints").iterdir()
    (checkpoint / "commits" / "0").unlink()
    (checkpoint / "commits" / ".0.crc").unlink()
    (place / "edit" / "traces" / "A-1-1.jsonl").unlink()
    assert events(incremental.take_new(tables, [str(place)])) == events(read_lines(spark, [str(place)]))


def test_a_segment_that_was_written_again_is_read_again(
    spark: SparkSession, taken: Taken, suite: Path, place: Path
) -> None:
    """If a folder gets the traces of another run under the same names, the events are those of the segments that are there
    now."""
    tables, first = taken()
    shutil.rmtree(place / "edit")
    shutil.copytree(suite / "delete", place / "edit", copy_function=shutil.copyfile)
    second = events(incremental.take_new(tables, [str(place)]))
    assert second != first
    assert second == events(read_lines(spark, [str(place)]))
    assert events(incremental.take_new(tables, [str(place)])) == second


@pytest.mark.parametrize("lost", ["bronze", "checkpoints"])
def test_a_table_and_its_checkpoint_belong_together(taken: Taken, place: Path, home: Path, lost: str) -> None:
    """If a user deletes the table or its checkpoint, all segments are read again, each once."""
    tables, whole = taken(1)
    shutil.rmtree(home / "tables" / lost)
    assert events(incremental.take_new(tables, [str(place)])) == whole


def test_a_part_that_was_deleted_is_read_again(taken: Taken, place: Path, home: Path) -> None:
    """If a user deletes a part of the table, all segments are read again. Foreign files beside the parts do no harm."""
    tables, whole = taken(1)
    (path,) = (home / "tables" / "bronze").iterdir()
    shutil.rmtree(path / "batches=1-1")
    (path / "notes.txt").write_text("of a user")
    assert events(incremental.take_new(tables, [str(place)])) == whole


@pytest.mark.parametrize("damaged", ["checkpoints/*/metadata", "checkpoints/*/offsets/0"])
def test_a_damaged_checkpoint_is_named(taken: Taken, place: Path, home: Path, damaged: str) -> None:
    """If a file of the checkpoint was cut, the message names it and says which folders can be deleted if the segments are still
    there. After that all segments are read again."""
    tables, whole = taken()
    for file in (home / "tables").glob(damaged):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        (file.parent / f".{file.name}.crc").unlink()  # otherwise Spark says only that the checksum is wrong
    both = [next((home / "tables" / name).iterdir()) for name in ("bronze", "checkpoints")]
    with pytest.raises(
        TablesDamaged, match=f"{damaged.rpartition('*/')[2]} was cut .*all segments, delete {both[0]} and {both[1]},"
    ):
        incremental.take_new(tables, [str(place)])
    for folder in both:
        shutil.rmtree(folder)
    assert events(incremental.take_new(tables, [str(place)])) == whole


def test_a_damaged_table_is_named(taken: Taken, place: Path, home: Path) -> None:
    """If a file of the table was overwritten, a check names this file and says what to delete."""
    tables, _ = taken()
    file = next((home / "tables" / "bronze").rglob("family=run/*.parquet"))
    file.write_bytes(bytes(file.stat().st_size))
    is_named = pytest.raises(TablesDamaged, match=f"is damaged: .*{file.name}.*Restore this file")
    with is_named, judged([str(place)], tables, keep=True):
        pass


def test_tables_of_another_version_are_not_read(
    taken: Taken, place: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If another version of pflab divides the events into other families, it reads all segments into tables of its own."""
    tables, whole = taken()
    monkeypatch.setattr(incremental, "FAMILIES", {"all": frozenset(EVENT_TYPES)})
    assert events(incremental.take_new(tables, [str(place)])) == whole
    assert len(list((home / "tables" / "bronze").iterdir())) == 2


def test_tables_are_used_by_one_check_at_a_time(spark: SparkSession, tmp_path: Path) -> None:
    """While another process uses the tables, a check waits, and then says which folder is in use. The lock ends with
    its process, so it never has to be removed."""
    tables = Tables(spark, str(tmp_path / "tables"))
    with locked(tables):
        pass
    with (tmp_path / "tables" / ".lock").open("wb") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        with (
            pytest.raises(AnalyticsError, match="another pflab follow uses the tables in"),
            locked(tables, wait_s=0.0),
        ):
            raise AssertionError
    with locked(tables, wait_s=0.0), (tmp_path / "tables" / ".lock").open("wb") as file, pytest.raises(OSError):
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_full_disk_is_named(spark: SparkSession, place: Path, tmp_path: Path) -> None:
    """If a table cannot be written, the message says why, not only that a task has failed. When there is room again, nothing
    is lost or doubled."""
    tables = Tables(spark, str(tmp_path / "tables"))
    java = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    before = resource.prlimit(java, resource.RLIMIT_FSIZE)
    resource.prlimit(java, resource.RLIMIT_FSIZE, (3000, before[1]))  # as a full disk, but for large files only
    try:
        with pytest.raises((PySparkException, Py4JError)) as failed:
            incremental.take_new(tables, [str(place)])
    finally:
        resource.prlimit(java, resource.RLIMIT_FSIZE, before)
    assert in_a_line(failed.value).endswith(": File too large")
    assert events(incremental.take_new(tables, [str(place)])) == events(read_lines(spark, [str(place)]))


def test_what_is_whole_is_not_called_damaged(spark: SparkSession, taken: Taken, place: Path, home: Path) -> None:
    """If the new segments cannot be read for another reason, the message has this reason. Nobody is told to delete tables."""
    tables, whole = taken()
    shutil.copytree(place / "edit", place / "more")
    java = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    before = resource.prlimit(java, resource.RLIMIT_FSIZE)
    resource.prlimit(java, resource.RLIMIT_FSIZE, (10, before[1]))  # too little even for a file of the checkpoint
    try:
        with pytest.raises((PySparkException, Py4JError)) as failed:
            incremental.take_new(tables, [str(place)])
    finally:
        resource.prlimit(java, resource.RLIMIT_FSIZE, before)
    line = in_a_line(failed.value)
    assert "File too large" in line
    assert "STREAM_FAILED" not in line
    shutil.rmtree(place / "more")
    assert events(incremental.take_new(tables, [str(place)])) == whole


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
