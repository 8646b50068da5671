"""A store that runs in this process: an open database, a listener for mail, a clock."""

from __future__ import annotations

import logging
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from node.api.values import ServerUnknown
from node.codec.signing import LabAuthority, derived_seed
from node.errors import CannotWrite, Misuse, NodeError
from node.host.clock import LabClock
from node.host.host import Address, Host
from node.host.tls_files import tls_of
from node.process.fault_client import FaultClient
from node.store.node import Node
from topology.model import Topology
from traces.labtime import LabTime
from transport.file_handles import NO_HANDLE, refusal_words
from transport.smtp.listener import check_free

if TYPE_CHECKING:
    from node.imap.listener import ImapListener

EXPORT_FROM: Final = 20_000
"""How many waiting events make a segment. A clean stop writes the rest."""

log = logging.getLogger("pflab.process")


@dataclass(frozen=True, slots=True)
class Begin:
    """How a store begins.

    restore: the backup to begin on.
    traces: the folder of its segments, below the folder of all traces.
    tls: it offers STARTTLS, with a certificate that it derives from the lab's secret, and refuses unencrypted mail.
    imap: it also listens for IMAP, on the address of SMTP; the users' password, and the port.
    skew_us: how far its clock is ahead of lab time.
    """

    topology: Topology
    run: str
    at: LabTime
    restore: bytes | None = None
    traces: str = ""
    tls: bool = False
    imap: tuple[str, int] | None = None
    skew_us: int = 0


class RunningStore:
    """One store between its start and its stop. Made by `begun`."""

    def __init__(self, run: str, node: Node, host: Host, smtp: Address) -> None:
        self.run = run
        self.host = host
        self.smtp = smtp
        self.imap: Address | None = None
        self._imap_listener: ImapListener | None = None
        self._node = node
        self._written = 0  # not known yet; an export never writes an event twice

    @classmethod
    async def begun(cls, options: Namespace, begin: Begin, faults: FaultClient, idle: Callable[[], None]) -> Self:
        """Open the database and listen for mail. The host begins paused.

        Raises Misuse if the port is taken, and another NodeError if the store does not open.
        """
        for protocol, port in (("SMTP", options.smtp_port), ("IMAP", 0 if begin.imap is None else begin.imap[1])):
            try:
                check_free(options.smtp_host, port)
            except OSError as error:
                raise _taken(options, protocol, port, error) from error
        node, clock = _opened(options, begin)
        host = Host(
            node,
            clock=clock,
            address_of=faults.address_of,
            decide=faults.decide,
            idle=idle,
            tls=tls_of(options.data / "tls", _secret_of(options), options.name) if begin.tls else None,
            skew_us=begin.skew_us,
        )
        await host.hold()
        try:
            smtp = await host.start(options.smtp_host, options.smtp_port)
        except OSError as error:
            await host.stop()
            raise _taken(options, "SMTP", options.smtp_port, error) from error
        faults.lost = host.lost
        store = cls(begin.run, node, host, smtp)
        if begin.imap is not None:
            try:
                await store._serve_imap(options, *begin.imap)
            except OSError as error:
                await host.stop()
                raise _taken(options, "IMAP", begin.imap[1], error) from error
            except ImportError as error:
                await host.stop()
                raise Misuse("cannot listen for IMAP: pymap is not installed") from error
        return store

    async def _serve_imap(self, options: Namespace, token: str, port: int) -> None:
        from node.imap.listener import ImapListener  # noqa: PLC0415 - the extra imap need not be installed

        self._imap_listener = ImapListener(options.name, self.host, token)
        self.imap = await self._imap_listener.start(options.smtp_host, port)

    def export_if_many(self) -> None:
        """Write a segment if EXPORT_FROM events wait for one."""
        if self._node.seq - self._written >= EXPORT_FROM:
            try:
                self._node.export()
            except CannotWrite as error:  # the events stay in the database
                log.warning("%s", error)
                return
            self._written = self._node.seq

    def export(self) -> int:
        """Write all waiting events into a segment; return the number of the last one."""
        if self._node.seq > self._written:
            self._node.export()
            self._written = self._node.seq
        return self._written

    async def stop(self) -> None:
        """Stop cleanly: wait for the mails in flight, then write the remaining events."""
        if self._imap_listener is not None:
            await self._imap_listener.stop()
        await self.host.stop()


def _taken(options: Namespace, protocol: str, port: int, error: OSError) -> NodeError:
    if error.errno in NO_HANDLE:
        return CannotWrite(options.name, refusal_words(error), starting=True)
    return Misuse(
        f"cannot listen for {protocol} on {options.smtp_host} port {port}: {error.strerror or error}; free the port or choose"
        " another"
    )


def data_folders(options: Namespace, below: str = "") -> tuple[Path, Path]:
    """Return the path of the database and the folder of the segments; create the folders."""
    traces = (options.traces or options.data / "traces") / below
    for folder in (options.data, traces):
        folder.mkdir(parents=True, exist_ok=True)
    return options.data / f"{options.name}.sqlite", traces


def _opened(options: Namespace, begin: Begin) -> tuple[Node, LabClock]:
    secret = _secret_of(options)
    servers = begin.topology.servers
    if options.name not in servers:
        raise ServerUnknown(f"the topology has no server {options.name!r}; it has {', '.join(servers)}")
    database, traces = data_folders(options, begin.traces)
    node = Node(
        options.name,
        topology=begin.topology,
        database=database,
        run=begin.run,
        seed=derived_seed(secret, f"node {options.name}"),
        identity=LabAuthority(derived_seed(secret, "authority")).identity(options.name),
        durability=options.durability,
        real_time=time.time,
        traces_dir=traces,
    )
    shown_at = begin.at + begin.skew_us
    if begin.restore is not None:
        node.restore(shown_at, begin.restore)
    else:
        node.open(shown_at)
    # The clock is paused: if it ran until the host is held, requests before `go` would be later than the start, and what came
    # due before would be of then.
    return node, LabClock(begin.at, monotonic=time.monotonic)


def _secret_of(options: Namespace) -> str:
    return str(options.lab_secret_file.read_text("utf-8").strip())
