"""A store that this process runs: its database opened, its listener up, its clock set."""

from __future__ import annotations

import logging
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from node.api.values import ServerUnknown
from node.codec.signing import LabAuthority, derived_seed
from node.errors import CannotWrite
from node.host.clock import LabClock
from node.host.host import Address, Host
from node.process.fault_client import FaultClient
from node.store.node import Node
from topology import Topology
from traces.labtime import LabTime
from transport.smtp.tls import Tls, load_tls

DRAIN_S: Final = 2.5
"""Real time that mails in flight get at an orderly end, which shall take 5 s at most."""

EXPORT_FROM: Final = 20_000
"""So many events wait for a segment; an orderly end writes the rest."""


log = logging.getLogger("pflab.process")


@dataclass(frozen=True, slots=True)
class Begin:
    """How a store begins: in which run, when, how fast its clock goes, held or not, and on which backup if on one."""

    topology: Topology
    run: str
    at: LabTime
    rate: float
    held: bool
    restore: bytes | None = None
    traces: str = ""
    """The folder of its segments, below that of all."""


class RunningStore:
    """One store from its first transaction to its last. Made by `begun`."""

    def __init__(self, run: str, node: Node, host: Host, smtp: Address) -> None:
        self.run = run
        self.host = host
        self.smtp = smtp
        self._node = node
        self._written = 0  # nobody knows; what is in a segment already is not written again

    @classmethod
    async def begun(cls, given: Namespace, begin: Begin, faults: FaultClient, idle: Callable[[], None]) -> Self:
        """Open the database and listen for mail. Raises NodeError, OSError."""
        node, clock = _opened(given, begin)
        host = Host(
            node,
            clock=clock,
            address_of=faults.address_of,
            decide=faults.decide,
            idle=idle,
            tls=None if given.tls is None else _tls_in(given.tls, given.name),
        )
        if begin.held:
            await host.hold()
        try:
            smtp = await host.start(given.smtp_host, given.smtp_port)
        except OSError:
            await host.stop(0.0)
            raise
        faults.lost = host.lost
        return cls(begin.run, node, host, smtp)

    def export(self) -> None:
        """Write a segment if enough waits for one."""
        if self._node.seq - self._written >= EXPORT_FROM:
            try:
                self._node.export()
            except CannotWrite as error:  # they wait where they are
                log.warning("%s", error)
                return
            self._written = self._node.seq

    def ship(self) -> int:
        """Write a segment of whatever waits; the number of the last event written."""
        if self._node.seq > self._written:
            self._node.export()
            self._written = self._node.seq
        return self._written

    async def stop(self, drain_s: float = DRAIN_S) -> None:
        """End in order: mails in flight get a while, what is left of the events is written."""
        await self.host.stop(drain_s)


def data_folders(given: Namespace, below: str = "") -> tuple[Path, Path]:
    """The database of this process, and where its segments go; the folders exist."""
    traces = (given.traces or given.data / "traces") / below
    for folder in (given.data, traces):
        folder.mkdir(parents=True, exist_ok=True)
    return given.data / f"{given.name}.sqlite", traces


def _opened(given: Namespace, begin: Begin) -> tuple[Node, LabClock]:
    secret = given.lab_secret_file.read_text("utf-8").strip()
    servers = begin.topology.servers
    if given.name not in servers:
        raise ServerUnknown(f"the topology has no server {given.name!r}; it has {', '.join(servers)}")
    database, traces = data_folders(given, begin.traces)
    node = Node(
        given.name,
        topology=begin.topology,
        database=database,
        run=begin.run,
        seed=derived_seed(secret, f"node {given.name}"),
        identity=LabAuthority(derived_seed(secret, "authority")).identity(given.name),
        durability=given.durability,
        real_time=time.time,
        traces_dir=traces,
    )
    if begin.restore is not None:
        node.restore(begin.at, begin.restore)
    else:
        node.open(begin.at)
    # What has happened here has happened: a store that is told no time goes on from its last.
    return node, LabClock(max(begin.at, node.last_at), rate=begin.rate, monotonic=time.monotonic)


def _tls_in(folder: Path, name: str) -> Tls:
    return load_tls(folder / f"{name}.crt", folder / f"{name}.key", folder / "authority.crt")
