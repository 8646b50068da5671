"""A running lab: its traces are judged up to an instant, and what is not known is reported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from analytics.follow import Export, follow
from analytics.ingest.bronze import read_lines
from analytics.ingest.silver import Unfinished, silver
from analytics.ingest.tables import Tables
from tests.support.judged_traces import Judged
from traces.segments import END_TYPE, close_segment

ENDS = ("node.stopped", "run.ended")


def lines_of(traces: Path) -> dict[str, list[str]]:
    """Return the lines of each node of a run, in order, without those that end the run."""
    found: dict[str, list[str]] = {}
    for path in sorted(traces.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            if json.loads(line)["type"] not in (*ENDS, END_TYPE):
                found.setdefault(path.name.partition("-")[0], []).append(line)
    return found


def write(place: Path, node: str, lines: Sequence[str]) -> None:
    """Write a closed segment."""
    if lines:
        first = json.loads(lines[0])
        path = place / f"{node}-{first['incarnation']}-{first['seq']}.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        close_segment(path)


def handed(place: Path, at: str, events: int, away: Sequence[str] = ()) -> Export:
    return Export("edit-1", str(place), at, events, away)


@pytest.mark.long
@pytest.mark.xdist_group("long analytics")
def test_a_verdict_is_kept_current(spark: SparkSession, judged: Judged, tmp_path: Path) -> None:
    """During replication a store lacks changes. When all have arrived the folders have converged, although the run has no
    end. If nothing has happened since, the verdict also applies to the later instant."""
    place = tmp_path / "edit-1"
    place.mkdir()
    all_lines = lines_of(judged.root / "suite" / "edit" / "traces")
    applied = [index for index, line in enumerate(all_lines["B"]) if json.loads(line)["type"] == "version.applied"]
    kept, later = all_lines["B"][: applied[0]], all_lines["B"][applied[0] :]
    for node, lines in all_lines.items():
        write(place, node, kept if node == "B" else lines)
    rounds = iter([(handed(place, "first", 1)), (handed(place, "second", 2)), (handed(place, "third", 2))])
    verdicts = follow(spark, str(tmp_path / "tables"), lambda: next(rounds))
    first = next(verdicts)
    assert (first["run"], first["at"], first["judgement"], first["exit_code"]) == (
        "edit-1",
        "first",
        "not converged",
        1,
    )
    witnesses = [witness for folder in first["told"] for witness in folder["witnesses"]]
    assert witnesses
    assert all("B lacks" in witness for witness in witnesses)
    write(place, "B", later)
    second = next(verdicts)
    assert (second["judgement"], second["doubts"], second["violations"]) == ("converged", (), 0)
    assert second["words"][0] == "edit-1, as of second"
    third = next(verdicts)
    assert third == {**second, "at": "third", "words": ["edit-1, as of third", *second["words"][1:]]}


def test_a_store_that_does_not_answer_is_a_doubt(spark: SparkSession, judged: Judged, tmp_path: Path) -> None:
    """A run can be judged before its end; a store whose latest events are unknown is a reason for doubt."""
    for node, lines in lines_of(judged.root / "suite" / "edit" / "traces").items():
        write(tmp_path, node, lines)
    bronze = read_lines(spark, [str(tmp_path)])
    tables = Tables(spark, str(tmp_path / "tables"))
    doubts = silver(bronze, tables, Unfinished(("B",))).doubts.collect()
    assert [row.doubt for row in doubts] == ["B does not answer, and its last events are missing"]
    assert silver(bronze, tables, Unfinished()).doubts.collect() == []
    assert len(silver(bronze, tables).doubts.collect()) > 1
