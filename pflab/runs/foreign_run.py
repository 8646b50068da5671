"""Checks the content of a lab file: a stranger may have made it.

| what | must |
|---|---|
| `lab.json` | be a state of this version, and name only servers and backups that there are |
| `topology.yaml`, `seed` | be read as every topology is, and as a number |
| each database and backup | be one that its store wrote, with this topology (`node.store.foreign_database`) |
| the traces | be whole, of this run and of these servers, and end where the databases end |

So a lab that continues begins as after any other run. What the stores then do with hostile rows that fit the tables is what
they do with hostile mail.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from node.errors import Misuse
from node.store.foreign_database import check_database
from pflab.errors import LabError
from pflab.runs.databases import unexported_events
from pflab.runs.lab_state import STATE, decoded_state
from pflab.runs.recorder import LAB
from pflab.terms.printable import printable
from topology.changes import at_start_of
from topology.file.fields import is_server_name
from topology.file.load import topology_from_text
from topology.problems import ProblemsError, ValueTextError, quoted
from topology.recipient_policy import (
    MAX_POLICIES,
    MAX_POLICY_NAME,
    RecipientPolicy,
    parse_mail_domain,
    parse_policy_name,
)
from traces.events import RunStarted
from traces.labtime import END_AT, LabTime
from traces.reading import read_folder
from traces.segments import SegmentName

if TYPE_CHECKING:
    from node.state.directory import Stamp
    from pflab.runs.lab_state import LabState
    from pflab.runs.run_folder import RunFolder
    from topology.model import Topology

MOST_RUN_ID: Final = 300
"""The longest id of a run, in characters."""

_SEED: Final = re.compile(rb"(0|-?[1-9][0-9]{0,39})\n")
_BACKUP: Final = re.compile(r"backup-([1-9][0-9]{0,8})", re.ASCII)


class ForeignRun:
    """The content of a lab file. Raises LabError for what is wrong.

    state: the bytes of `lab.json`.
    topology, seed: the bytes of these files.
    """

    def __init__(self, state: bytes, topology: bytes, seed: bytes) -> None:
        self.state: LabState = decoded_state(state, Path(STATE))
        self.topology: Topology = _topology(topology)
        if _SEED.fullmatch(seed) is None:
            raise LabError("the seed in the lab file is not a number")
        self.seed = int(seed)
        self._last: dict[str, int] = {}
        self._organization = self.state.organization_of(self.topology)
        _check_state(self.state, self._organization)

    @property
    def stores(self) -> tuple[str, ...]:
        """The servers that have a database."""
        return self.state.stores

    def is_segment(self, name: str) -> bool:
        """Return whether this is the name of a segment of one of the lab's servers."""
        segment = SegmentName.parse(name)
        return segment is not None and str(segment) == name and segment.node in self._writers

    @property
    def _writers(self) -> set[str]:
        """Those who have events in the traces, with the servers that were removed after their stores were deleted."""
        return {LAB, *self._organization.servers, *self.state.deleted}

    def check_database(self, path: str, content: bytes, store: str, *, is_backup: bool) -> None:
        """Check the database of a store, or a backup of it."""
        try:
            seq = check_database(content, store, at_start_of(store, self.topology, self._organization))
        except Misuse as error:
            raise LabError(f"{path} in the lab file is not the database of server {store}: {_line(error)}") from error
        if not is_backup:
            self._last[store] = seq

    def check_traces(self, folder: RunFolder) -> None:
        """Check the traces and the databases of a run folder into which both were written."""
        trace = read_folder(folder.traces)
        # Old segments may have been removed, so the first events of a server may be missing.
        for problem in replace(trace, gaps=[gap for gap in trace.gaps if gap.first > 1]).report():
            raise LabError(f"the traces in the lab file are damaged: {_line(problem)}")
        events = [*trace.events, *unexported_events(folder.path, trace.events)]
        last: dict[str, int] = {}
        for event in events:
            if event.run != self.state.run:
                raise LabError(f"the traces in the lab file are of run {quoted(event.run)}, not {self.state.run}")
            last[event.node] = max(event.seq, last.get(event.node, 0))
            if isinstance(event, RunStarted):
                self._check_began(event)
        _check_known("the traces", last, self._writers)
        for store, seq in self._last.items():
            if last.get(store, 0) != seq:
                raise LabError(
                    f"the traces of server {store} in the lab file do not fit its database: they end at event"
                    f" {last.get(store, 0)}, and the database at {seq}"
                )

    def _check_began(self, event: RunStarted) -> None:
        """Raise LabError if the run began with another topology."""
        topology = None
        with suppress(ProblemsError):
            topology = topology_from_text(event.topology).as_json()
        if topology != self.topology.as_json():
            raise LabError("the run in the lab file began with another topology than the file has")


def _line(text: object) -> str:
    """Return a text as one line."""
    return printable(" ".join(str(text).split()))


def _topology(content: bytes) -> Topology:
    try:
        return topology_from_text(content.decode("utf-8"), "topology.yaml in the lab file")
    except UnicodeDecodeError as error:
        raise LabError("topology.yaml in the lab file is not UTF-8") from error
    except ProblemsError as error:
        raise LabError(_line(error.lines[0])) from error


def _check_state(state: LabState, organization: Topology) -> None:
    """Raise LabError if a state names what there is not."""
    servers, directory, backups = set(organization.servers), state.directory, state.backups
    if set(state.servers) != servers:
        raise LabError("lab.json in the lab file has other servers than its topology")
    if not 0 < len(state.run) <= MOST_RUN_ID or not state.run.isprintable():
        raise LabError("lab.json in the lab file has no proper id of its run")
    for name in state.deleted:
        if name not in servers and not is_server_name(name):
            raise LabError(
                f"lab.json in the lab file has removed the server {quoted(name)}, which no server can be called"
            )
    for name, server in state.servers.items():
        named = [*server.known, *server.known_deleted]
        _check_known(f"the directory of server {name}", named, servers.union(state.deleted))
        if server.backup is not None and backups.stores.get(server.backup) != name:
            raise LabError(f"lab.json in the lab file starts server {name} on a backup that it does not have")
    if any(not 0 <= server.revision <= organization.revision for server in state.servers.values()):
        raise LabError("lab.json in the lab file has a change of the organization that was not made")
    damage = directory.damage
    damaged = [*damage.unstamped, *damage.unlinked, *damage.doubled]
    _check_known("the directory", [*directory.stamps, *damaged, *directory.changed], servers)
    _check_known("the list of late stores", state.joined, servers)
    _check_known("the list of backups", backups.stores.values(), servers)
    for backup in backups.stores:
        number = _BACKUP.fullmatch(backup)
        if number is None or int(number[1]) > backups.number:
            raise LabError(f"lab.json in the lab file has the backup {quoted(backup)}, which no lab made")
    stamps = [stamp for entries in _entries(state) for stamp in entries]
    restarts = [server.restarts_at for server in state.servers.values() if server.restarts_at is not None]
    _check_times([state.at, *restarts, *(stamp.at for stamp in stamps)])
    try:
        of_policies = {policy.domain for policy in directory.policies}
        for domain in sorted({directory.domain, *of_policies, *(stamp.domain for stamp in stamps)}):
            parse_mail_domain(domain)
        _check_policies(directory.policies)
    except ValueTextError as error:
        raise LabError(f"lab.json in the lab file: {error}") from error


def _check_policies(policies: Sequence[RecipientPolicy]) -> None:
    """Raise ValueTextError if recipient policies are none that a lab has. A filter may name a site or a server that is gone."""
    names = [parse_policy_name(policy.name).casefold() for policy in policies]
    filters = [policy.filter for policy in policies]
    named = [name for filter_ in filters for name in (*filter_.sites, *filter_.servers)]
    is_list = len(set(names)) == len(names) <= MAX_POLICIES and not any(filter_.is_empty for filter_ in filters)
    if not is_list or not all(name.isprintable() and len(name) <= MAX_POLICY_NAME for name in named):
        raise ValueTextError("its recipient policies are no list of policies", "take the file from a running lab")


def _entries(state: LabState) -> Iterable[Iterable[Stamp]]:
    yield from state.directory.stamps.values()
    for server in state.servers.values():
        yield from (known.stamps for known in server.known.values())


def _check_times(times: Iterable[LabTime]) -> None:
    if not all(0 <= at <= END_AT for at in times):
        raise LabError("lab.json in the lab file has an instant that is not in lab time")


def _check_known(what: str, named: Iterable[str], servers: Collection[str]) -> None:
    for name in sorted(set(named) - set(servers)):
        raise LabError(f"{what} in the lab file names the server {quoted(name)}, which its topology does not have")
