"""A node as a process of its own: what a container runs, and what `pflab up --processes` starts.

    python -m node NAME --topology FILE --data DIR --lab-secret-file FILE

It listens for mail and for HTTP, says where on stdout in one line of JSON, and runs until SIGTERM or SIGINT. Where its
peers are it learns from its coordinator (PUT /nodes/NAME/peers) or from options. Killed, it comes back with everything
that it had acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from node.api import make_app
from node.api_control import Peers, control_router
from node.api_values import ServerUnknown
from node.asking import Asking
from node.core import Node
from node.errors import NodeError
from node.host import Host
from node.keys import LabAuthority, derived_seed
from node.labclock import ClockError, LabClock
from node.serving import HttpServer, OpenToAll
from topology.load import load_topology
from topology.problems import ProblemsError
from traces.errors import TraceError
from traces.labtime import parse_instant
from transport.smtp_tls import Tls, load_tls

DRAIN_S: Final = 2.5
"""Real time that mails in flight get at an orderly end, which shall take 5 s at most."""

EXPORT_S: Final = 5.0
"""Real time between two looks at whether events wait to be written out."""

EXPORT_FROM: Final = 20_000
"""So many events wait for a segment; an orderly end writes the rest."""

MISUSE: Final = 2

log = logging.getLogger("pflab.process")


class OneNode:
    """The house of one node (node.api_house.House), its life as a process."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._host: Host | None = None
        self._idle = asyncio.Event()
        self._end = asyncio.Event()
        self._written = 0
        self.names = (options.name,)

    # --- the house

    def host(self, name: str) -> Host:
        if name != self._options.name or self._host is None:
            raise ServerUnknown(f"here is server {self._options.name} alone, and no {name!r}")
        return self._host

    @property
    def ending(self) -> bool:
        return self._end.is_set()

    async def rest(self, wait_s: float) -> None:
        """Wait until the node may be idle."""
        self._idle.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._idle.wait()

    # --- life

    async def run(self, began_s: float) -> None:
        """From the first listener to the last commit."""
        given = self._options
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end.set)
        if given.leashed:
            loop.add_reader(sys.stdin, self._end.set)
        token = None if given.token_file is None else given.token_file.read_text("utf-8").strip()
        asking = Asking(given.name, token)
        asking.meet(Peers(addresses=dict(given.peer), coordinator=given.coordinator))
        node, clock = self._opened(asking)
        host = Host(
            node,
            clock=clock,
            address_of=asking.address_of,
            gate=asking,
            idle=self._idle.set,
            tls=None if given.tls is None else _tls_in(given.tls, given.name),
            arriving=asking.arriving,
        )
        if given.held:
            await host.hold()
        try:
            smtp = await host.start(given.smtp_host, given.smtp_port)
            self._host = host
            app = make_app(self, control_router(self, self.rest, asking.meet), title=f"pflab server {given.name}")
            app.state.stop = self._end.set
            server = HttpServer(app, host=given.http_host, port=given.http_port, token=token)
            http = await server.start()
        except (OSError, OpenToAll):
            await host.stop(0.0)
            raise
        ready = {"name": given.name, "http": http, "smtp": smtp, "took_s": round(time.monotonic() - began_s, 3)}
        print(json.dumps(ready), flush=True)
        while not self._end.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(EXPORT_S):
                    await self._end.wait()
            self._export(node)
        await server.stop()
        await host.stop(DRAIN_S)
        asking.close()

    def _opened(self, asking: Asking) -> tuple[Node, LabClock]:
        given = self._options
        secret = given.lab_secret_file.read_text("utf-8").strip()
        topology = load_topology(given.topology)
        if given.name not in topology.servers:
            raise ServerUnknown(f"{given.topology} has no server {given.name!r}; it has {', '.join(topology.servers)}")
        traces = given.traces or given.data / "traces"
        for folder in (given.data, traces):
            folder.mkdir(parents=True, exist_ok=True)
        node = Node(
            given.name,
            topology=topology,
            database=given.data / f"{given.name}.sqlite",
            run=given.run,
            seed=derived_seed(secret, f"node {given.name}"),
            identity=LabAuthority(derived_seed(secret, "authority")).identity(given.name),
            durability=given.durability,
            arrivals=asking,
            real_time=time.time,
            traces_dir=traces,
        )
        at = topology.start_at if given.at is None else given.at
        if given.restore is not None:
            node.restore(at, given.restore.read_bytes())
        else:
            node.open(at)
        # What has happened here has happened: a store that is told no time goes on from its last.
        clock = LabClock(max(at, node.last_at), rate=given.rate, monotonic=time.monotonic)
        self._written = node.seq
        return node, clock

    def _export(self, node: Node) -> None:
        if node.seq - self._written >= EXPORT_FROM:
            node.export()
            self._written = node.seq


def _tls_in(folder: Path, name: str) -> Tls:
    return load_tls(folder / f"{name}.crt", folder / f"{name}.key", folder / "authority.crt")


def main(arguments: Sequence[str] | None = None) -> int:
    """The process; its exit code."""
    began_s = time.monotonic()
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s", stream=sys.stderr)
    try:
        asyncio.run(OneNode(options).run(began_s))
    except (NodeError, ServerUnknown, OpenToAll, ProblemsError, ClockError, OSError) as error:
        print(f"pflab node {options.name}: {error}", file=sys.stderr)
        return MISUSE
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pflab node",
        description="One public folder store as a process.",
        epilog="Example: pflab node A --topology lab.yaml --data /data --lab-secret-file /run/secrets/lab",
    )
    parser.add_argument("name", help="the server's name in the topology")
    parser.add_argument("--topology", type=Path, required=True, metavar="FILE")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="where its database lies")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="where its segments go; default DATA/traces")
    parser.add_argument("--lab-secret-file", type=Path, required=True, metavar="FILE", help="the same for all stores")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="what whoever asks must know, and tells others")
    parser.add_argument("--smtp-host", default="127.0.0.1")
    parser.add_argument("--smtp-port", type=int, default=0, help="0: a free one")
    parser.add_argument("--http-host", default="127.0.0.1")
    parser.add_argument("--http-port", type=int, default=0, help="0: a free one")
    parser.add_argument(
        "--tls", type=Path, metavar="DIR", help="NAME.crt, NAME.key and authority.crt: STARTTLS is a must"
    )
    parser.add_argument("--peer", type=_peer, action="append", default=[], metavar="NAME=HOST:PORT")
    parser.add_argument("--coordinator", metavar="HOST:PORT", help="whom to ask about faults")
    parser.add_argument("--run", default="lab", help="the run's id in the trace")
    parser.add_argument("--at", type=_instant, metavar="INSTANT", help="the lab time at its start")
    parser.add_argument("--rate", type=float, default=1.0, help="lab seconds per real second; 0: the clock stands")
    parser.add_argument("--held", action="store_true", help="do nothing before the coordinator has said go")
    parser.add_argument("--restore", type=Path, metavar="FILE", help="start on this backup")
    parser.add_argument("--leashed", action="store_true", help="end in order when stdin does")
    parser.add_argument("--durability", choices=("full", "normal"), default="full")
    return parser


def _peer(text: str) -> tuple[str, tuple[str, int]]:
    name, _, address = text.partition("=")
    host, _, port = address.rpartition(":")
    if not (name and host and port.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no peer; write B=b.lab:25")
    return name, (host, int(port))


def _instant(text: str) -> int:
    try:
        return parse_instant(text)
    except TraceError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
