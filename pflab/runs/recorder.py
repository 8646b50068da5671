"""The record of a run: the events of all nodes in the order of their commits, and the events of the lab itself.

Events of the lab carry the node name "lab".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pflab.runs.checkpoint import Checkpoint
from pflab.terms.event_words import Lexicon
from topology.problems import counted
from traces.events import (
    ClockChanged,
    Event,
    FaultAltered,
    FaultHealed,
    FaultInjected,
    NodeStarted,
    RunEnded,
    RunStarted,
)
from traces.labtime import LabTime, format_instant
from traces.open_segment import OpenSegment
from traces.recorder import Recorder
from traces.segments import SegmentName, write_segment
from traces.trace_version import TRACE_VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from node.store.node import Node
    from pflab.runs.run_folder import RunFolder
    from topology.model import Topology
    from transport.envelope import Transmission

MOST_HELD: Final = 50_000
"""The largest number of events that a lab that may run for days keeps in memory, about 50 MB; older ones are in the traces, and
what they have led to is in a checkpoint."""

LAB = "lab"
"""The node name in events of the lab itself."""

WAITERS_NAMED = 5
"""The largest number of servers, and of queued mails of each server, that a NotIdle error names."""


class Record:
    """All events of a run.

    now        returns the lab time
    real_time  returns the real time for event headers; None in the simulator
    most       how many of the newest events are kept in memory; None keeps all. The index of an event does not change when
               older events are forgotten.
    earlier    the events of the run that this one continues, if it does
    durable    whether the segment of the lab survives a power failure once it is closed
    synced     whether each event of the lab survives it at once

    The record calls `collect` before it is read and before the lab adds an event. `collect` adds the events of nodes in other
    processes.
    """

    def __init__(
        self,
        run: str,
        *,
        folder: RunFolder | None,
        now: Callable[[], LabTime],
        real_time: Callable[[], float] | None = None,
        most: int | None = None,
        earlier: Sequence[Event] = (),
        durable: bool = True,
        synced: bool = False,
    ) -> None:
        self._folder = folder
        self._now = now
        own = [event for event in earlier if event.node == LAB]
        self._recorder = Recorder(
            run=run,
            node=LAB,
            incarnation=1 + max((event.incarnation for event in own), default=0),
            seq=max((event.seq for event in own), default=0),
            lamport=max((event.lamport for event in own), default=0),
            real_time=real_time,
        )
        self._segment = SegmentName(LAB, self._recorder.incarnation, self._recorder.seq + 1)
        self._open: OpenSegment | None = None
        self._synced = synced
        self._events: list[Event] = list(earlier)
        self._most = most
        self._durable = durable
        self._first = 0
        self._checkpoint = None if most is None else Checkpoint()
        self._names = Lexicon()
        self._learn(earlier)
        self._forget()
        self.collect: Callable[[], None] = lambda: None

    @property
    def replicas(self) -> dict[str, str]:
        """For each replica GUID with which a store has ever started, the name shown for this store."""
        self.collect()
        return self._names.stores()

    def _learn(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, NodeStarted):
                self._names.learn(event)

    def events(self, since: int = 0) -> Sequence[Event]:
        """Return the events from index `since` on that are still in memory."""
        self.collect()
        return self._events[max(0, since - self._first) :]

    @property
    def first(self) -> int:
        """The index of the oldest event in memory."""
        return self._first

    @property
    def checkpoint(self) -> Checkpoint | None:
        """What the events before the oldest one in memory have led to; None if there are none, or if they are not known."""
        return self._checkpoint if self._first > 0 else None

    @property
    def count(self) -> int:
        """How many events the run has had."""
        self.collect()
        return self._first + len(self._events)

    def extend(self, events: Iterable[Event]) -> None:
        """Append events that a node has committed."""
        fresh = list(events)
        self._learn(fresh)
        self._events.extend(fresh)
        self._forget()

    def _forget(self) -> None:
        # Remove half of the events at once, because removing them one by one would copy the list each time.
        if self._most is not None and len(self._events) > self._most:
            count = len(self._events) - self._most // 2
            if self._checkpoint is not None:
                self._checkpoint.take(self._events[:count])
            del self._events[:count]
            self._first += count

    def note(self, kind: type[Event], /, **fields: object) -> None:
        """Record an event of the lab itself."""
        self.collect()
        self._recorder.begin(self._now())
        self._recorder.record(kind, **fields)
        self._write(self._recorder.take())
        self._learn(self._recorder.events)
        self._events.extend(self._recorder.events)
        self._forget()

    def _write(self, line: bytes) -> None:
        """Write an event of the lab itself, so that it survives a kill."""
        segment = self._opened()
        if segment is not None:
            segment.append(line)

    def _opened(self) -> OpenSegment | None:
        if self._open is None and self._folder is not None:
            self._open = OpenSegment(self._folder.traces, self._segment, durable=self._durable, synced=self._synced)
        return self._open

    def lock(self) -> tuple[int, ...]:
        """Return the file handle by which others see that the run is still going on, even if only a process that inherited it
        is left (`pflab.lab.killed_run`); none without a run folder."""
        segment = self._opened()
        return () if segment is None else (segment.handle,)

    def run_started(self, topology: Topology, seed: int, **settings: str) -> None:
        """Record the first event, and write topology and seed to the run folder.

        settings: values that affect the run.
        """
        self.note(RunStarted, topology=topology.as_json(), seed=str(seed), settings=settings, version=TRACE_VERSION)
        if self._folder is not None:
            self._folder.write_inputs(topology.as_yaml(), seed)

    def run_ended(self, verdict: str) -> None:
        self.note(RunEnded, verdict=verdict)

    def clock_changed(self, how: str, rate: float, to_at: LabTime) -> None:
        self.note(ClockChanged, how=how, rate=rate, to=to_at)

    def fault_injected(self, fault: str, kind: str, details: Mapping[str, str]) -> None:
        self.note(FaultInjected, fault=fault, kind=kind, details=dict(details))

    def fault_altered(self, fault: str, server: str, crossed: Transmission) -> None:
        self.note(
            FaultAltered,
            mail=crossed.message_id,
            fault=fault,
            server=server,
            next_hop=crossed.next_hop,
            recipients=crossed.recipients,
        )

    def fault_healed(self, fault: str) -> None:
        self.note(FaultHealed, fault=fault)

    def close(self) -> None:
        """Close the segment with the events of the lab itself, if there is a run folder."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def own_segment(self) -> tuple[SegmentName, tuple[bytes, ...]]:
        """Return the name and the lines of the segment with the events of the lab itself up to now."""
        return self._segment, () if self._open is None else tuple(self._open.lines())

    def write_copy(self, traces: Path) -> None:
        """Write the events of the lab itself up to now as one closed segment into a folder of traces."""
        name, lines = self.own_segment()
        if lines:
            write_segment(traces, name, lines, durable=self._durable)


def say_who_waits(nodes: Iterable[tuple[str, Node | None]], now: LabTime) -> str:
    """Return which servers still have work due at `now`, in words, for the text of a NotIdle error."""
    waiting = [f"server {name}: {what}" for name, node in nodes if node is not None and (what := _due_of(node, now))]
    at = format_instant(now)
    if not waiting:
        return f"at {at} no server has anything due"
    return f"at {at} not idle: {'; '.join(waiting[:WAITERS_NAMED])}"


def _due_of(node: Node, now: LabTime) -> str:
    due_at = node.next_due()
    if due_at is None or due_at > now:
        return ""
    mails = [mail for mail in node.queue() if mail.due_at <= now]
    lines = [f"mail {mail.subject!r} to {mail.next_hop} since {format_instant(mail.due_at)}" for mail in mails]
    if len(lines) > WAITERS_NAMED:
        lines[WAITERS_NAMED:] = [counted(len(lines) - WAITERS_NAMED, "more mail")]
    return ", ".join(lines) or f"a timer due since {format_instant(due_at)}"
