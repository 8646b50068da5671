"""The base of all labs that run their own nodes: the record of the run, the list of servers, backups, and closing."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack

from node.errors import CannotWrite, NotRunning
from node.state.database import Database
from pflab.errors import LabError, NotThere
from pflab.lab.lab import Lab
from pflab.lab.servers import LabServer, Servers
from pflab.runs.backups import Backups
from pflab.runs.lab_state import LabState, RunSettings, ServerStatus
from topology import changes
from topology.problems import ValueTextError
from topology.recipient_policy import KnownNames, RecipientPolicies, parse_mail_domain, parse_recipient_update
from traces.events import (
    BackupElsewhere,
    BackupMade,
    BackupRestored,
    OrganizationChanged,
    PolicyOfStores,
    RecipientPolicy,
    StoreCreated,
)

if TYPE_CHECKING:
    from pflab.faults.fault_plan import FaultPlan
    from pflab.runs.recorder import Record
    from pflab.runs.run_folder import RunFolder
    from topology.arguments import ConnectorFields, PolicyFields, ServerFields
    from topology.model import Topology
    from traces.events import Event


class RecordedLab(Lab):
    """A lab with a record and a list of its servers. Each driver adds the methods that start and stop servers.

    A store has one life at a time: a server does not start while it stops, and nothing else happens to it meanwhile. A second
    node on one database would write events under the same numbers. So each server has a lock (`LabServer.life`), which `start`,
    `stop`, `kill`, `restore`, `delete_store`, `create_store` and `remove_server` hold from their first check to their end, in
    every driver. A lab that is saved holds the locks of all servers (`_all_lives`).
    """

    faults: FaultPlan
    seed: int
    secret: int | str
    """What the keys and ids of the stores derive from: the seed, or the secret of a lab in containers."""
    _servers: Servers

    def __init__(
        self,
        topology: Topology,
        *,
        seed: int,
        run: str,
        record: Record,
        folder: RunFolder | None,
        settings: RunSettings,
    ) -> None:
        self.topology = topology
        self._organization = topology
        self.seed = seed
        self.secret = seed
        self._run = run
        self.record = record
        self._backups = Backups(folder)
        self._settings = settings
        self._closed = False

    @property
    def run(self) -> str:
        return self._run

    @property
    def names(self) -> tuple[str, ...]:
        return self._servers.names

    @property
    def organization(self) -> Topology:
        return self._organization

    def running(self, name: str) -> bool:
        return self._servers.server(name).status is ServerStatus.RUNNING

    def without_store(self, name: str) -> Literal["not started", "store deleted", ""]:
        """Return why a server has no store in the directory; "" if it has one."""
        if self._servers.server(name).status is ServerStatus.ABSENT:
            return "not started"
        return "store deleted" if self._servers.deleted(name) else ""

    def events(self, since: int = 0) -> Sequence[Event]:
        return self.record.events(since)

    # --- start and stop

    @asynccontextmanager
    async def _life(self, name: str) -> AsyncIterator[LabServer]:
        """Keep everything else from starting or stopping a server. Raises NotRunning if the lab has ended meanwhile."""
        server = self._servers.server(name)
        async with server.life:
            if self._closed:
                raise NotRunning("the lab has ended")
            if self._servers.server(name) is not server:
                raise LabError(f"server {name} was removed, and another of its name was added")
            try:
                yield server
            finally:
                if not self._closed:
                    self._keep_state()

    # --- the state of the lab

    def _state(self) -> LabState:
        """Return what another lab needs in order to continue this one."""
        servers = self._servers
        return LabState(
            run=self.run,
            at=self.now,
            settings=self._settings,
            servers=servers.states,
            joined=servers.joined,
            deleted=servers.deleted_stores,
            created=servers.created_stores,
            directory=servers.directory.state,
            backups=self._backups.state,
            faults=self.faults.as_document(),
            organization=self.organization.as_json() if self.organization.revision else None,
        )

    def _recall(self, state: LabState) -> None:
        """Continue with the state of an earlier lab. Its faults stay in force."""
        self._take(state.organization_of(self.topology))
        self._servers.recall(state)
        self._backups.state = state.backups
        self.faults.recall(state.faults)

    def _keep_state(self) -> None:
        """Write the state of the lab, in a driver that keeps it while the lab runs."""

    @asynccontextmanager
    async def _all_lives(self) -> AsyncIterator[None]:
        """Keep everything else from starting or stopping any server."""
        async with AsyncExitStack() as lives:
            for server in self._servers.all():
                await lives.enter_async_context(server.life)
            yield

    async def start(self, name: str) -> None:
        async with self._life(name) as server:
            if self._servers.lacks_first_store(server):
                self._create(server)
            await _finished(self._start_healed(server))

    async def _start_healed(self, server: LabServer) -> None:
        await self._start(server)
        if server.kill_fault is not None:
            with suppress(NotThere):  # the lab that killed the server was killed before it wrote its state
                self.faults.heal(server.kill_fault)
            server.kill_fault = None

    @abstractmethod
    async def _start(self, server: LabServer) -> None:
        """Start a server that does not run. Raises LabError if the server runs."""

    async def stop(self, name: str) -> None:
        async with self._life(name):
            await _finished(self._stop(name))

    @abstractmethod
    async def _stop(self, name: str) -> None:
        """Stop a server cleanly. Raises NotRunning if it does not run."""

    async def kill(self, name: str) -> None:
        async with self._life(name):
            await _finished(self._kill(name))

    @abstractmethod
    async def _kill(self, name: str) -> None:
        """Kill a server. Raises NotRunning if it does not run."""

    async def delete_store(self, name: str, *, on: str, force: bool = False) -> None:
        async with self._life(name):
            if self.running(name):
                raise LabError(f"server {name} is running; stop it before you delete it")
            if self._servers.deleted(name):
                raise LabError(f"server {name} was already deleted")
            if not force:
                self._check_dispensable(name, on)
            await self.do(on, lambda node, now: node.delete_store(now, name, force=force))
            self._servers.delete(name, on)
            self._update_directories()

    def _check_dispensable(self, name: str, on: str) -> None:
        """Raise LabError if mail takes its way over a server, or a running store knows that the server's store holds a replica
        or has what no other store has yet (spec: RP-6). The store on which it is deleted looks itself."""
        lines = [line.name for line in self.organization.connectors if name in line.bridgeheads]
        if lines:
            raise LabError(
                f"server {name} cannot be deleted: it is a bridgehead of {', '.join(lines)};"
                " give each another bridgehead first, or delete the store by force"
            )
        for other in [other for other in self.names if other != on and self.running(other)]:
            listed = [view.path for view in self.read(other, lambda node: node.folders()) if name in view.replicas]
            left = [view.path for view in self.read(other, lambda node: node.instances()) if name in view.leavers]
            if listed or left:
                raise LabError(
                    f"server {name} cannot be deleted: {other} knows of its replicas of {', '.join(sorted({*listed, *left}))};"
                    " wait until their content has moved, or delete the store by force"
                )

    async def create_store(self, name: str) -> None:
        async with self._life(name) as server:
            self._create(server)
            await _finished(self._start_healed(server))

    def _create(self, server: LabServer) -> None:
        number = self._servers.create(server)
        self._backups.forget(server.name)
        self.record.note(StoreCreated, store=server.name, directory_object=number)

    async def add_site(self, name: str) -> None:
        self._reorganize(partial(changes.site_added, name=name), f"site {name}", "added")

    async def remove_site(self, name: str) -> None:
        self._reorganize(partial(changes.site_removed, name=name), f"site {name}", "removed")

    async def add_server(self, name: str, **fields: Unpack[ServerFields]) -> None:
        self._reorganize(partial(changes.server_added, name=name, fields=fields), f"server {name}", "added")

    async def remove_server(self, name: str) -> None:
        async with self._life(name) as server:
            self._servers.check_removable(server)
            self._reorganize(partial(changes.server_removed, name=name), f"server {name}", "removed")
            self._backups.forget(name)

    async def add_connector(self, name: str, **fields: Unpack[ConnectorFields]) -> None:
        self._reorganize(partial(changes.connector_added, name=name, fields=fields), f"connector {name}", "added")

    async def change_connector(self, name: str, **fields: Unpack[ConnectorFields]) -> None:
        self._reorganize(partial(changes.connector_changed, name=name, fields=fields), f"connector {name}", "changed")

    async def remove_connector(self, name: str) -> None:
        self._reorganize(partial(changes.connector_removed, name=name), f"connector {name}", "removed")

    def _reorganize(
        self, change: Callable[[Topology], Topology], subject: str, how: Literal["added", "changed", "removed"]
    ) -> None:
        """Change the organization, and tell all running stores. Raises LabError if it cannot be changed so."""
        try:
            organization = change(self.organization)
        except changes.ChangeError as error:
            raise LabError(str(error)) from None
        self._check_bridgeheads(organization)
        self.faults.end_without(organization)  # first, so that a lab that is killed here has no fault of what is gone
        self._take(organization)
        topology = self.organization
        self.record.note(  # with the state of the lab, in a driver that keeps it
            OrganizationChanged,
            revision=topology.revision,
            subject=subject,
            change=how,
            topology=topology.as_json(),
        )
        self._update_directories()
        self._keep_state()

    def _check_bridgeheads(self, organization: Topology) -> None:
        """Raise LabError if a connector that is new or changed ends at a server without a store: mail would wait there for
        good."""
        for connector in set(organization.connectors) - set(self.organization.connectors):
            for name in connector.bridgeheads:
                if self._servers.deleted(name) or self._servers.server(name).status is ServerStatus.ABSENT:
                    raise LabError(f"server {name} has no store, so it cannot be the bridgehead of {connector.name}")

    def _take(self, organization: Topology) -> None:
        """Let the lab have this organization. The stores get it as an update."""
        self._organization = organization
        self._servers.reorganize(organization)
        self.faults.reorganize(organization)

    @property
    def recipient_policy(self) -> dict[str, str]:
        """The domain of the recipient policy, and how often the recipient update service runs, as in a topology file."""
        directory = self._servers.directory
        return {"domain": directory.policies.default_domain, "recipient_update": directory.recipient_update}

    @property
    def recipient_policies(self) -> RecipientPolicies:
        """The recipient policies of the organization."""
        return self._servers.directory.policies

    async def set_recipient_policy(
        self, *, recipient_update: str | None = None, domain: str | None = None, at_once: bool = False
    ) -> None:
        directory = self._servers.directory
        interval_us, policies = directory.interval_us, directory.policies
        with _refused():
            if recipient_update is not None:
                interval_us = parse_recipient_update(recipient_update)
            if domain is not None:
                policies = replace(policies, default_domain=parse_mail_domain(domain))
        await self._set_policies(policies, interval_us, at_once=at_once)

    async def add_policy(self, name: str, **fields: Unpack[PolicyFields]) -> None:
        with _refused():
            policies = self.recipient_policies.added(name, fields, self._known_names)
        await self._set_policies(policies, self._servers.directory.interval_us, policy=name, change="added")

    async def change_policy(self, name: str, **fields: Unpack[PolicyFields]) -> None:
        with _refused():
            policies = self.recipient_policies.changed(name, fields, self._known_names)
        await self._set_policies(policies, self._servers.directory.interval_us, policy=name, change="changed")

    async def remove_policy(self, name: str) -> None:
        with _refused():
            policies = self.recipient_policies.removed(name)
        await self._set_policies(policies, self._servers.directory.interval_us, policy=name, change="removed")

    @property
    def _known_names(self) -> KnownNames:
        return KnownNames(self.organization.sites, tuple(self.organization.servers))

    async def _set_policies(
        self,
        policies: RecipientPolicies,
        interval_us: int | None,
        *,
        policy: str = "",
        change: Literal["", "added", "changed", "removed"] = "",
        at_once: bool = False,
    ) -> None:
        """Take other recipient policies, and tell all running stores the addresses that they give.

        interval_us: how often the recipient update service runs.
        policy, change: the policy that was added, changed or removed.
        """
        directory = self._servers.directory
        directory.set_policies(self.now, interval_us=interval_us, policies=policies, at_once=at_once)
        self.record.note(
            RecipientPolicy,
            recipient_update=directory.recipient_update,
            domain=policies.default_domain,
            at_once=at_once,
            policy=policy,
            change=change,
            policies=tuple(
                PolicyOfStores(
                    name=member.name,
                    domain=member.domain,
                    sites=member.filter.sites,
                    servers=member.filter.servers,
                    versions=tuple(map(str, member.filter.versions)),
                )
                for member in policies.others
            ),
        )
        self._update_directories()
        self._keep_state()
        await self._look()

    async def _look(self) -> None:
        """Take the events of what the running servers were told, in a driver whose nodes do not report them by themselves."""

    def _fault_injected(self, fault: str, kind: str, details: Mapping[str, str]) -> None:
        self._keep_state()  # first, so that a lab that is killed here has no event of a fault that it does not know
        self.record.fault_injected(fault, kind, details)
        self._follow_faults()

    def _fault_healed(self, fault: str) -> None:
        self.record.fault_healed(fault)
        self._follow_faults()
        self._keep_state()

    def _follow_faults(self) -> None:
        """Change the directory if a fault of its objects began or ended."""
        if self._servers.directory.damage(self.faults.directory_damage(), self.now):
            self._update_directories()
            self._keep_state()

    @abstractmethod
    def _update_directories(self) -> None:
        """Tell the running servers which stores have joined or were deleted. Stopped servers learn this when they start."""

    @property
    def backups(self) -> Mapping[str, str]:
        """The server of each backup, by the id of the backup."""
        return self._backups.state.stores

    async def backup(self, name: str) -> str:
        if (other := self._servers.server(name).copy_of) is not None:
            raise LabError(f"{name} shows the store of {other}, of which there is a backup already")
        content = self.read(name, lambda node: node.backup())
        backup = self._backups.add(name, content)
        self._keep_state()  # first, so that a lab that is killed here does not give the id again
        self.record.note(BackupMade, store=name, backup=backup, through=Database.recorded_through(content))
        return backup

    async def restore(self, name: str, backup: str) -> None:
        async with self._life(name) as server:
            owner = self._backups.owner(name, backup)
            if owner != name:
                self._check_other(server, owner, backup)
            elif server.copy_of is not None:
                raise LabError(
                    f"{name} shows the store of {server.copy_of}; delete its store and create a new one first"
                )
            await _finished(self._restore(server, backup, owner))

    def _check_other(self, server: LabServer, owner: str, backup: str) -> None:
        """Raise LabError if a server cannot show the store of another one."""  # spec: RP-8
        if server.status is ServerStatus.ABSENT:
            raise LabError(f"{backup} is a backup of {owner}; start {server.name} once before it is restored there")
        self._servers.check_may_start(server)
        servers = self.organization.servers
        versions = servers[server.name].version, servers[owner].version
        if versions[0] != versions[1]:
            raise LabError(f"{backup} is of a store of {versions[1]}, and {server.name} is of {versions[0]}")

    async def _restore(self, server: LabServer, backup: str, owner: str) -> None:
        if self.running(server.name):
            await self._kill(server.name)
        server.backup = backup
        if owner == server.name:
            self.record.note(BackupRestored, store=server.name, backup=backup)
        else:
            number = self._servers.number_of(server.name)
            self.record.note(BackupElsewhere, store=server.name, backup=backup, of=owner, directory_object=number)
            server.copy_of = owner
        try:
            await self._start_healed(server)
        except CannotWrite:
            server.backup = None  # the next start does not use the backup
            raise

    def _backup_of(self, server: LabServer) -> bytes | None:
        """Return the database on which a server starts next, if it is a backup, or the empty one of a store that was created
        again."""
        if server.is_empty:
            return Database.of_new_store(server.name, self._servers.number_of(server.name), self.now)
        return None if server.backup is None else self._backups.content(server.backup)

    # --- closing

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            await self._end()
        finally:
            self.record.run_ended(self.verdict)
            self.record.close()

    @abstractmethod
    async def _end(self) -> None:
        """Stop every server and everything else that the lab has started."""


@contextmanager
def _refused() -> Iterator[None]:
    """Raise LabError for a value that cannot be."""
    try:
        yield
    except ValueTextError as error:
        raise LabError(f"{error.what}; {error.would_be_right}") from None


async def _finished(act: Coroutine[Any, Any, None]) -> None:
    """Await `act` to its end, also if the caller is cancelled meanwhile, as a request at the end of the lab is."""
    task = asyncio.ensure_future(act)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise
