"""A run whose lab was killed: its traces and its state are written from what the lab left behind (spec: DU-1).

| what | where it is after a kill, also one for lack of memory, or a power failure |
|---|---|
| the committed events of each store | in its database, or in its segments |
| the events of the lab itself | in its open segment (`traces.open_segment`) |
| servers, directory, backups and faults | in `lab.json`, as of the last change that was written |
| which faults were in force, which stores ran, the organization and recipient policies after the last change | in the events |

Example: a lab in one process is killed after it has stopped B, and before it has written this into `lab.json`. The last event
of B's life is node.stopped, so B is stopped in the state that is written here, and a lab that continues the run does not start
B.

What must never happen: an event of a run that still goes on is in a closed segment written here, and again in one that its lab
writes. So a run whose open segment is locked is refused.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from node.errors import NodeError
from node.store.trace_export import export_file
from pflab.errors import LabError
from pflab.faults.fault import Kill, Skew, kind_of
from pflab.faults.fault_plan import faults_at_end
from pflab.lab.directory import OrganizationDirectory
from pflab.runs.databases import RunReader
from pflab.runs.events import RunEvents
from pflab.runs.lab_state import DirectoryState, LabState, ServerState, ServerStatus, read_state, write_state
from topology.enums import ServerVersion
from topology.file.load import topology_from_text
from topology.recipient_policy import PolicyFilter, RecipientPolicies, RecipientPolicy, parse_recipient_update
from traces.errors import SegmentError
from traces.events import (
    Event,
    FaultHealed,
    FaultInjected,
    NodeStarted,
    NodeStopped,
    OrganizationChanged,
    RunStarted,
)
from traces.events import RecipientPolicy as PolicyEvent
from traces.labtime import parse_duration
from traces.open_segment import adopt, is_being_written, list_open

if TYPE_CHECKING:
    from pathlib import Path

    from traces.labtime import LabTime


PATIENCE_S: Final = 5.0
"""Servers that are processes stop when their lab is killed, and need up to some seconds for it."""

_RETRY_S: Final = 0.1


def is_left_behind(run: Path) -> bool:
    """Return whether this is the folder of a run whose lab was killed."""
    open_segments = list_open(run / "traces")
    return bool(open_segments) and not any(is_being_written(path) for _, path in open_segments)


def end_killed(run: Path, *, wait_s: float = PATIENCE_S) -> None:
    """Write the traces and the last state of a run whose lab was killed; do nothing for a run that has ended.

    wait_s: the real time within which the processes of its servers must end. Raises LabError if the lab still runs, or if the
    run cannot be ended.
    """
    traces = run / "traces"
    open_segments = list_open(traces)
    until_s = time.monotonic() + wait_s
    while any(is_being_written(path) for _, path in open_segments):
        if time.monotonic() >= until_s:
            raise LabError(f"the lab of {run} is still running; stop it first")
        time.sleep(_RETRY_S)
    if not open_segments:
        return
    state = read_state(run)
    if state.settings.driver == "simulator":
        raise LabError(f"{run} cannot be continued: its lab was killed, and its databases were in memory")
    try:
        write_state(run, _last_state(run, state))
        for database in sorted((run / "databases").glob("*.sqlite")):
            with suppress(sqlite3.DatabaseError):  # a damaged file is named when the run is continued
                export_file(database, database.stem, traces)
        for name, path in open_segments:  # last, because an open segment says that all this is still to be done
            adopt(name, path)
    except (OSError, NodeError, SegmentError) as error:
        raise LabError(f"the traces of {run} cannot be written: {error}") from error


def _last_state(run: Path, state: LabState) -> LabState:
    events = RunEvents.at(run).events
    active = _active(events)
    changes = [event for event in events if isinstance(event, OrganizationChanged)]
    servers = _servers(state, changes)
    statuses = _statuses(events, stopped_by_kill=state.settings.driver == "processes")
    for name, status in statuses.items():
        servers[name] = replace(servers[name], status=status)
    for fault in active.values():
        if fault.kind == kind_of(Kill):
            name = str(fault.details["server"])
            servers[name] = replace(servers[name], status=ServerStatus.KILLED, kill_fault=fault.fault)
    injected = sum(isinstance(event, FaultInjected) for event in events)
    state = replace(
        state,
        at=max([state.at, *_lab_times(events, run)]),
        servers=servers,
        faults=faults_at_end(state.faults, injected, active),
        organization=changes[-1].topology if changes else state.organization,
    )
    return replace(state, directory=_directory(state, events))


def _directory(state: LabState, events: Sequence[Event]) -> DirectoryState:
    """Return the directory, with the recipient policies of the last event if the lab was killed before it had written them."""
    began = next((event for event in events if isinstance(event, RunStarted)), None)
    changes = [event for event in events if isinstance(event, PolicyEvent)]
    if began is None or not changes:
        return state.directory
    directory = OrganizationDirectory(state.organization_of(topology_from_text(began.topology)))
    directory.recall(state.directory)
    last = changes[-1]
    policies, interval_us = _policies(last), parse_recipient_update(last.recipient_update)
    if (policies, interval_us) != (directory.policies, directory.interval_us):
        directory.set_policies(last.at, interval_us=interval_us, policies=policies, at_once=last.at_once)
    return directory.state


def _policies(event: PolicyEvent) -> RecipientPolicies:
    others = [
        RecipientPolicy(
            policy.name,
            policy.domain,
            PolicyFilter(policy.sites, policy.servers, tuple(map(ServerVersion, policy.versions))),
        )
        for policy in event.policies
    ]
    return RecipientPolicies(event.domain, tuple(others))


def _servers(state: LabState, changes: Sequence[OrganizationChanged]) -> dict[str, ServerState]:
    """Return the states of the servers after these changes, of which the state has the first ones."""
    servers = dict(state.servers)
    known = 0 if state.organization is None else json.loads(state.organization)["revision"]
    for change in changes:
        if change.revision > known and change.removed_server is not None:
            servers.pop(change.removed_server, None)
        elif change.revision > known and change.added_server is not None:
            servers[change.added_server] = ServerState()
    return servers


def _active(events: Sequence[Event]) -> Mapping[str, FaultInjected]:
    """Return the faults that were in force at the end of these events, by id."""
    active: dict[str, FaultInjected] = {}
    for event in events:
        if isinstance(event, FaultInjected):
            active[event.fault] = event
        elif isinstance(event, FaultHealed):
            active.pop(event.fault, None)
    return active


def _statuses(events: Sequence[Event], *, stopped_by_kill: bool) -> Mapping[str, ServerStatus]:
    """Return the status of each server that has ever started.

    stopped_by_kill: leave out those that stopped, because the processes of all servers stop when their lab is killed.
    """
    statuses: dict[str, ServerStatus] = {}
    for event in events:
        if isinstance(event, OrganizationChanged) and event.removed_server is not None:
            statuses.pop(event.removed_server, None)
        elif isinstance(event, NodeStarted):
            statuses[event.node] = ServerStatus.RUNNING
        elif isinstance(event, NodeStopped) and stopped_by_kill:
            statuses.pop(event.node, None)
        elif isinstance(event, NodeStopped):
            statuses[event.node] = ServerStatus.STOPPED
    return statuses


def _lab_times(events: Sequence[Event], run: Path) -> Iterator[LabTime]:
    """Yield the lab times of events, and of each store's last stimulus, which may have had no event. The times of a store whose
    clock was ever fast are yielded as early as they can have been."""
    fast_us: dict[str, int] = {}
    for event in events:
        if isinstance(event, FaultInjected) and event.kind == kind_of(Skew):
            name, by_us = str(event.details["server"]), parse_duration(str(event.details["by"]))
            fast_us[name] = max(fast_us.get(name, 0), by_us)
    yield from (event.at - fast_us.get(event.node, 0) for event in events)
    reader = RunReader.at(run)
    for name in reader.stores():
        with suppress(LabError), reader.reading(name) as store:
            yield store.last_at - fast_us.get(name, 0)
