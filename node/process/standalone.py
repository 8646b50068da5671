"""One store: its life as a process, from the first listener to the last commit."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
from contextlib import suppress
from typing import Final

from fastapi import APIRouter

from node.api.app import make_app
from node.api.control import Peers, control_router
from node.api.http_server import HttpServer, OpenToAll
from node.api.values import ServerUnknown
from node.errors import NotRunning
from node.host.host import Address, Host
from node.process.fault_client import FaultClient
from node.process.running_store import Begin, RunningStore
from topology.file.load import load_topology

EXPORT_S: Final = 5.0
"""Real time between two looks at whether events wait to be written out."""


class NodeProcess:
    """One store as a process that begins it at once (a node.api.hosts.Hosts)."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._store: RunningStore | None = None
        self._idle = asyncio.Event()
        self._end = asyncio.Event()
        self._faults = FaultClient(options.name)
        self.names = (options.name,)

    # --- node.api.hosts.Hosts

    def host(self, name: str) -> Host:
        self._check_name(name)
        if self._store is None:
            raise self._not_running()
        return self._store.host

    def _check_name(self, name: str) -> None:
        if name != self._options.name:
            raise ServerUnknown(f"here is server {self._options.name} alone, and no {name!r}")

    def _not_running(self) -> NotRunning:
        return NotRunning(f"server {self._options.name} has not begun yet")

    @property
    def waits(self) -> str:
        return "" if self._store is not None else str(self._not_running())

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
        """Until it is told to end."""
        given = self._options
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end.set)
        if given.leashed:
            loop.add_reader(sys.stdin, self._end.set)
        token = await self._token()
        if self.ending:
            return
        self._faults = FaultClient(given.name, token)
        self._faults.meet(Peers(addresses=dict(given.peer), coordinator=given.coordinator))
        server = await self._served(token)
        ready = {
            "name": given.name,
            "http": server.address,
            "smtp": self._smtp(),
            "took_s": round(time.monotonic() - began_s, 3),
        }
        print(json.dumps(ready), flush=True)
        while not self._end.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(EXPORT_S):
                    await self._end.wait()
            if self._store is not None:
                self._store.export()
        await server.stop()
        if self._store is not None:
            await self._store.stop()
        self._faults.close()

    async def _token(self) -> str | None:
        file = self._options.token_file
        return None if file is None else file.read_text("utf-8").strip()

    async def _served(self, token: str | None) -> HttpServer:
        """The store first: who finds the address of its API finds a store."""
        given = self._options
        topology = load_topology(given.topology)
        begin = Begin(
            topology,
            run=given.run,
            at=topology.start_at if given.at is None else given.at,
            rate=given.rate,
            held=given.held,
            restore=None if given.restore is None else given.restore.read_bytes(),
        )
        self._store = await RunningStore.begun(given, begin, self._faults, self._idle.set)
        try:
            return await self._serve(token)
        except (OSError, OpenToAll):
            await self._store.stop(0.0)
            raise

    async def _serve(self, token: str | None, *more: APIRouter) -> HttpServer:
        given = self._options
        control = control_router(self, self.rest, self._faults.meet)
        app = make_app(self, control, *more, title=f"pflab server {given.name}")
        app.state.stop = self._end.set
        server = HttpServer(app, host=given.http_host, port=given.http_port, token=token)
        await server.start()
        return server

    def _smtp(self) -> Address | None:
        return None if self._store is None else self._store.smtp
