"""What survives a restart of the coordinator: the newest events with their numbers, and the store of each replica GUID."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

import pytest

from pflab.containers import durable_record
from pflab.containers.durable_record import DurableRecord, RecordFile
from pflab.drivers.event_collector import EventCollector
from pflab.runs.run_folder import RunFolder
from tests.support.disk import no_file_grows
from traces.events import Event, FaultHealed, NodeStarted, NodeStopped
from traces.reading import read_folder

FIRST, SECOND = "0" * 31 + "1", "0" * 31 + "2"


def record_in(folder: RunFolder) -> DurableRecord:
    file = RecordFile(folder.path / "lab.sqlite", run="test", topology="{}")
    now = count(start=int(file.fact("at") or 0) + 1)
    record = DurableRecord(
        file,
        folder=folder,
        now=lambda: next(now),
        real_time=lambda: 0.0,
        facts=lambda: {"at": max([0, *(each.at for each in record.events())]), "replicas": dict(record.replicas)},
        changed=lambda: save(record),
    )
    return record


def save(record: DurableRecord) -> None:
    """Save what can be saved, as the lab does."""
    with suppress(sqlite3.OperationalError):
        record.save()


def header(seq: int) -> dict[str, int | str]:
    return {"run": "test", "node": "A", "incarnation": 1, "seq": seq, "at": seq, "lamport": seq}


def started(seq: int, guid: str, reason: str = "first") -> Event:
    return NodeStarted(**header(seq), version="2003", replica_guid=guid, reason=reason)  # type: ignore[arg-type]


def others(first: int, last: int) -> list[Event]:
    return [NodeStopped(**header(seq), how="stop") for seq in range(first, last + 1)]  # type: ignore[arg-type]


def kill(record: DurableRecord) -> None:
    """Close the state as a kill does, without a last write."""
    record._file.close()


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.at(tmp_path / "run")


def test_events_survive_a_restart_with_their_numbers(folder: RunFolder) -> None:
    """Events of the stores and of the lab are read back in their order, and new ones follow them."""
    record = record_in(folder)
    record.extend([started(1, FIRST), *others(2, 3)])
    record.note(FaultHealed, fault="F1")
    record.extend(others(4, 4))
    events = list(record.events())
    kill(record)
    again = record_in(folder)
    assert (again.first, again.count, list(again.events())) == (0, 5, events)
    again.note(FaultHealed, fault="F2")
    last = again.events(5)[0]
    assert (last.seq, last.incarnation) == (2, 2)
    assert last.lamport > events[3].lamport


def test_only_the_newest_events_are_held(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file holds only the newest events, each under its old number; the store of each replica GUID stays known."""
    monkeypatch.setattr(durable_record, "MOST_HELD", 10)
    record = record_in(folder)
    record.extend([started(1, FIRST), started(2, SECOND, "restored")])
    for seq in range(3, 40):
        record.extend(others(seq, seq))
    first, count, events = record.first, record.count, list(record.events())
    assert len(events) <= 10
    assert count == 39
    kill(record)
    again = record_in(folder)
    assert (again.first, again.count, list(again.events())) == (first, count, events)
    assert again.replicas == record.replicas == {FIRST: "A", SECOND: "A.2"}


def test_a_kill_between_an_event_and_its_facts_loses_both(folder: RunFolder) -> None:
    """Lab time is saved in the transaction of the event. If it were saved later, a coordinator that is killed between the two
    would continue at an earlier time than that of its last event."""
    record = record_in(folder)
    record.note(FaultHealed, fault="F1")
    with closing(sqlite3.connect(folder.path / "lab.sqlite")) as other:
        other.execute("CREATE TRIGGER kill BEFORE INSERT ON fact BEGIN SELECT RAISE(ABORT, 'killed here'); END")
    with pytest.raises(sqlite3.IntegrityError, match="killed here"):
        record.note(FaultHealed, fault="F2")
    kill(record)
    with closing(sqlite3.connect(folder.path / "lab.sqlite", isolation_level=None)) as other:
        other.execute("DROP TRIGGER kill")
    again = record_in(folder)
    assert [(each.seq, each.at) for each in again.events()] == [(1, 1)]
    assert again._file.fact("at") == 1


def test_what_was_recorded_last_is_not_recorded_again(folder: RunFolder) -> None:
    """If the process is killed between writing an event and its number, the next coordinator recognizes the event. It reads
    again what it had not yet recorded."""
    record = record_in(folder)
    gathered = EventCollector(record, folder)
    record.extend(others(1, 2))
    gathered.resume({"A": 1}, record.events())
    assert gathered.last_seq == gathered.recorded == {"A": 2}
    lines = [b'{"type":"node.stopped","run":"test","node":"A","incarnation":1,"seq":3,"at":3,"lamport":3,"how":"stop"}']
    assert gathered.add("A", lines) == 3
    assert gathered.recorded == {"A": 2}
    gathered.flush()
    assert gathered.recorded == {"A": 3}
    assert record.count == 3


def test_events_wait_while_the_disk_is_full(folder: RunFolder) -> None:
    """The record goes on, and saves everything in its order when there is room again."""
    record = record_in(folder)
    record.extend(others(1, 2))
    with no_file_grows(0):
        record.note(FaultHealed, fault="F1")
        record.extend(others(3, 4))
    record.note(FaultHealed, fault="F2")
    events = list(record.events())
    kill(record)
    again = record_in(folder)
    assert (again.first, again.count, list(again.events())) == (0, 6, events)
    again.close()
    assert [each.seq for each in read_folder(folder.traces).events if each.node == "lab"] == [1, 2]


def test_numbers_of_events_that_were_never_saved_are_used_again(folder: RunFolder) -> None:
    """If the coordinator is killed on a full disk, the trace has no gap, and the events of the stores are read again."""
    record = record_in(folder)
    record.note(FaultHealed, fault="F1")
    with no_file_grows(0):
        record.note(FaultHealed, fault="F2")
        record.extend(others(1, 2))
        kill(record)
    again = record_in(folder)
    assert again.count == 1
    again.note(FaultHealed, fault="F3")
    again.close()
    trace = read_folder(folder.traces)
    assert (trace.report(), len(trace.events)) == ([], 2)
