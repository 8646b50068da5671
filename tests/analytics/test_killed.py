"""`pflab follow` killed with SIGKILL at random points, while segments come late, twice, and from a store that was away."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from analytics.ingest import incremental
from analytics.ingest.bronze import read_lines
from analytics.ingest.silver import Unfinished
from analytics.ingest.tables import Tables
from analytics.pipeline import judged
from analytics.verdicts.conclusion import conclude
from tests.support.replayed_lab import ReplayedLab, in_exports
from tests.support.scenario_traces import SCENARIOS, play_scenario

PFLAB = "from pflab.cli import main; main()"
READ = """
import sys
from analytics.ingest.incremental import take_new
from analytics.ingest.session import QUICK, new_session
from analytics.ingest.table_lock import locked
from analytics.ingest.tables import Tables
tables = Tables(new_session("local[2]", {**QUICK, "spark.driver.memory": "1g"}), sys.argv[2])
with locked(tables):
    take_new(tables, [sys.argv[1]], segments_at_once=1, many=3)
"""
"""Reads the segments in small batches, so that a kill often comes in the middle of one, or of the joining of parts."""

LOOK_EACH_S = 0.02


def run_until(command: Sequence[str], root: Path, tables: Path, changes: int) -> None:
    """Run this program of Python until it ends, or until its tables have changed so many times; then kill it. Return when its
    Java has ended too."""
    with (tables.parent / "output.txt").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "PYTHONPATH": str(root)},
        )
    java: set[str] = set()
    seen, before = 0, files_of(tables)
    while seen < changes and not _ends_within(process, LOOK_EACH_S):
        now = files_of(tables)
        seen, before = seen + len(now ^ before), now
        java |= _children(process.pid)
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    code = process.wait()
    assert code in {0, -signal.SIGKILL}, (tables.parent / "output.txt").read_text("utf-8")
    while any(map(_lives, java)):
        time.sleep(LOOK_EACH_S)


def _ends_within(process: subprocess.Popen[bytes], time_s: float) -> bool:
    try:
        process.wait(time_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def files_of(folder: Path) -> set[str]:
    return {f"{at}/{name}" for at, folders, files in os.walk(folder) for name in [*folders, *files]}


def _children(pid: int) -> set[str]:
    try:
        return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    except OSError:
        return set()


def _lives(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The traces of a run that violates rules."""
    place = tmp_path_factory.mktemp("recorded")
    (scenario,) = [path for path in SCENARIOS if path.stem == "reissued-counters"]
    play_scenario(scenario, place)
    return next(place.rglob("traces"))


def lines_of(bronze: DataFrame) -> list[Any]:
    return sorted(bronze.select("file", "hash", "trace", "node", "seq", "family").collect(), key=str)


@pytest.mark.long
@pytest.mark.kills
@pytest.mark.parametrize("seed", range(1, 4))
def test_each_line_is_read_once_however_often_the_reader_is_killed(
    spark: SparkSession, traces: Path, project_root: Path, tmp_path: Path, seed: int
) -> None:
    """Killed in the middle of batches, commits and joins, with segments that come late, twice and after an absence, the
    incremental reader has each line of each segment once."""
    chosen = random.Random(seed)
    tables = tmp_path / "tables"
    lab = ReplayedLab(tmp_path / "traces", in_exports(traces, 9, seed))
    with lab:
        while lab.left:
            lab.export()
            run_until([READ, str(lab.folder), str(tables)], project_root, tables, chosen.randrange(1, 150))
        found = incremental.take_new(Tables(spark, str(tables)), [str(lab.folder)], many=3)
        assert lines_of(found) == lines_of(read_lines(spark, [str(lab.folder)]))


@pytest.mark.long
@pytest.mark.kills
@pytest.mark.parametrize("seed", range(1, 3))
def test_the_verdict_of_a_killed_follower_is_that_of_a_check(
    spark: SparkSession, traces: Path, project_root: Path, tmp_path: Path, seed: int
) -> None:
    """Killed at random points and started again with the same tables, pflab follow reaches the verdict of one check of all
    segments."""
    chosen = random.Random(seed)
    tables = tmp_path / "tables"
    with ReplayedLab(tmp_path / "traces", in_exports(traces, 9, seed)) as lab:
        follow = [PFLAB, "follow", str(lab.folder.parent), "--tables", str(tables), "--lab", lab.url, "--every", "0"]
        for _ in range(5):
            run_until(follow, project_root, tables, chosen.randrange(1, 600))
        while lab.left:
            lab.export()
        run_until([*follow, "--rounds", "1"], project_root, tables, sys.maxsize)
        last = lab.verdicts[-1]
        fresh = Tables(spark, str(tmp_path / "fresh"))
        with judged([str(lab.folder)], fresh, unfinished=Unfinished()) as found:
            whole = conclude(found.findings)
    document = json.loads(json.dumps(whole.as_document()))
    assert last["violations"] > 0
    assert {key: last[key] for key in document} == document
