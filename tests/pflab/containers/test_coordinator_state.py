"""What outlives a lab's coordinator: the newest events at their places, and whose each replica GUID is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.containers import coordinator_state
from pflab.containers.coordinator_state import DurableRecord, LabState
from pflab.drivers.event_collector import EventCollector
from pflab.runs.run_folder import RunFolder
from traces.events import Event, FaultHealed, NodeStarted, NodeStopped

FIRST, SECOND = "0" * 31 + "1", "0" * 31 + "2"


def record_in(folder: RunFolder) -> DurableRecord:
    state = LabState(folder.path / "lab.sqlite", run="test", topology="{}")
    return DurableRecord(state, folder=folder, now=lambda: 5, real_time=lambda: 0.0, changed=lambda: None)


def header(seq: int) -> dict[str, int | str]:
    return {"run": "test", "node": "A", "incarnation": 1, "seq": seq, "at": seq, "lamport": seq}


def started(seq: int, guid: str, reason: str = "first") -> Event:
    return NodeStarted(**header(seq), version="2003", replica_guid=guid, reason=reason)  # type: ignore[arg-type]


def others(first: int, last: int) -> list[Event]:
    return [NodeStopped(**header(seq), how="stop") for seq in range(first, last + 1)]  # type: ignore[arg-type]


def killed(record: DurableRecord) -> None:
    """Nothing is said any more, and nothing written."""
    record._state.close()


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.at(tmp_path / "run")


def test_events_outlive_the_coordinator_at_their_places(folder: RunFolder) -> None:
    """Stores' events and the lab's own are there again in the order in which they were told, and what comes goes on after."""
    record = record_in(folder)
    record.extend([started(1, FIRST), *others(2, 3)])
    record.note(FaultHealed, fault="F1")
    record.extend(others(4, 4))
    told = list(record.events())
    killed(record)
    again = record_in(folder)
    assert (again.first, again.count, list(again.events())) == (0, 5, told)
    again.note(FaultHealed, fault="F2")
    last = again.events(5)[0]
    assert (last.seq, last.incarnation) == (2, 2)
    assert last.lamport > told[3].lamport


def test_only_the_newest_events_are_held(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a lab stays up its file holds the newest events alone, each under the same number as ever; whose a replica
    GUID is, is known of all."""
    monkeypatch.setattr(coordinator_state, "MOST_HELD", 10)
    record = record_in(folder)
    record.extend([started(1, FIRST), started(2, SECOND, "restored")])
    for seq in range(3, 40):
        record.extend(others(seq, seq))
    first, count, told = record.first, record.count, list(record.events())
    assert len(told) <= 10
    assert count == 39
    killed(record)
    state = LabState(folder.path / "lab.sqlite", run="test", topology="{}")
    state.keep(replicas={FIRST: "A", SECOND: "A2"})  # as the lab does whenever anything was told
    state.close()
    again = record_in(folder)
    assert (again.first, again.count, list(again.events())) == (first, count, told)
    assert again.replicas == record.replicas == {FIRST: "A", SECOND: "A2"}


def test_what_was_recorded_last_is_not_recorded_again(folder: RunFolder) -> None:
    """Killed between an event's record and that of its number, the next coordinator knows it by the event itself; what was
    gathered and not yet recorded it asks for again."""
    record = record_in(folder)
    gathered = EventCollector(record, folder, ["A"])
    record.extend(others(1, 2))
    gathered.resume({"A": 1}, record.events())
    assert gathered.last_seq == gathered.recorded == {"A": 2}
    lines = [b'{"type":"node.stopped","run":"test","node":"A","incarnation":1,"seq":3,"at":3,"lamport":3,"how":"stop"}']
    assert gathered.add("A", lines) == 3
    assert gathered.recorded == {"A": 2}
    gathered.flush()
    assert gathered.recorded == {"A": 3}
    assert record.count == 3
