"""A store's process: it serves HTTP, and its coordinator decides when the store runs.

States of the process:

| from | request | to |
|---|---|---|
| waiting | `POST /nodes/NAME/begin`: open the database, start listening for mail, clock paused | running |
| running | `POST /nodes/NAME/end`: stop the store cleanly | waiting |
| any | `POST /nodes/NAME/kill`, SIGKILL | ended; whoever keeps the process alive starts it again, in the state waiting |
| any | SIGTERM, SIGINT | ended, after a running store has stopped cleanly |

A store begins paused. The coordinator sets the store's clock, sends the addresses of its peers, and lets the store run. So the
coordinator knows every store that runs, and every store runs at the lab's time. If the process is started with --topology, it
begins its store itself and needs no coordinator.

A database belongs to one history: the run or, after the lab went back to a saved lab, a history with another name. A file
beside the database (NAME.run) says which history it is. The process refuses to begin a store on the database of another
history, unless the coordinator says that it may be deleted.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import signal
import sqlite3
import time
from argparse import Namespace
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NoReturn

from node.api.access import CLIENT_STREAMS
from node.api.app import Api, routes_of
from node.api.control import CONTROL, Peers
from node.api.http_server import HttpLimits, HttpServer, OpenToAll
from node.api.lifecycle import LIFECYCLE, BeginOrder
from node.api.values import ServerUnknown
from node.errors import Misuse, Waiting
from node.host.host import Host
from node.host.whole_files import write_whole
from node.process.fault_client import FaultClient
from node.process.heartbeat import Heartbeat, Work
from node.process.leash import KILLED, end_with_parent
from node.process.running_store import Begin, RunningStore, data_folders
from node.state.database import Database
from node.store.trace_export import EVENTS_BYTES, events_after, export_events
from topology.file.load import load_topology, topology_from_text
from topology.problems import ProblemsError
from transport.sql import Connection

EXPORT_S: Final = 5.0
"""Real time between two checks whether events wait to be written to a segment."""

FILES_S: Final = 0.1
"""Real time between two looks for the files with the lab's secrets."""

FILES_WARNING_S: Final = 5.0
"""Real time after which the process logs that it waits for those files."""

ALONE: Final = "lab"
"""The id of the run of a store without a coordinator."""

log = logging.getLogger("pflab.managed")


class ManagedNode:
    """The process of one store (node.api.hosts.Hosts, node.api.control.ManagedHosts, node.api.lifecycle.Lifecycle)."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._store: RunningStore | None = None
        self._restore: bytes | None = None
        self._changing = asyncio.Lock()
        self._process = secrets.token_hex(8)
        self._idle = asyncio.Event()
        self._end = asyncio.Event()
        self._faults = FaultClient(options.name)
        self._heartbeat: Heartbeat | None = None
        self.names = (options.name,)

    # --- node.api.hosts.Hosts

    def host(self, name: str) -> Host:
        self._check_name(name)
        if self._store is None:
            raise Waiting(self.waits)
        return self._store.host

    def _check_name(self, name: str) -> None:
        if name != self._options.name:
            raise ServerUnknown(f"this process runs only the server {self._options.name}, not {name!r}")

    @property
    def waits(self) -> str:
        return (
            ""
            if self._store is not None
            else f"server {self._options.name} has no store until the coordinator begins it"
        )

    @property
    def ending(self) -> bool:
        return self._end.is_set()

    # --- node.api.control.ManagedHosts

    async def rest(self, longest_s: float) -> None:
        self._idle.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(longest_s):
                await self._idle.wait()

    def meet(self, peers: Peers) -> None:
        self._faults.meet(peers)
        if self._store is not None:
            self._store.host.set_skew(peers.skew_us)

    def stop(self) -> None:
        self._end.set()

    # --- the process

    async def run(self, began_s: float) -> None:
        """Serve until a signal comes. `began_s` is when the process began, on the monotonic clock."""
        options = self._options
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        if options.leashed:
            end_with_parent(lambda: loop.call_soon_threadsafe(self.stop))
        token = await self._token()
        if self.ending:
            return
        self._faults = FaultClient(options.name, token)
        self._faults.meet(Peers(addresses=dict(options.peer)))
        if options.managed:
            self._heartbeat = Heartbeat(options.http_host, token, self._work)
        if options.topology is not None:  # before HTTP, so that a client which finds the address finds a running store
            await self._begin_alone()
        try:
            server = await self._serve(token)
        except (OSError, OpenToAll):
            if self._store is not None:
                await self._store.stop()
            raise
        ready = {
            "name": options.name,
            "http": server.address,
            "smtp": None if self._store is None else self._store.smtp,
            "took_s": round(time.monotonic() - began_s, 3),
        }
        print(json.dumps(ready), flush=True)
        while not self._end.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(EXPORT_S):
                    await self._end.wait()
            if self._store is not None:
                self._store.export_if_many()
        await server.stop()
        if self._store is not None:
            await self._store.stop()
        self._faults.close()
        if self._heartbeat is not None:
            self._heartbeat.stop()

    def _work(self) -> Work | None:
        return None if self._store is None else self._store.host.work

    async def _token(self) -> str | None:
        """Return the token; None if none is required. Wait for the file that the coordinator writes at its first start."""
        options = self._options
        paths = [path for path in (options.lab_secret_file, options.token_file) if path is not None]
        tries = 0
        while options.managed and (absent_paths := [str(path) for path in paths if not path.exists()]):
            tries += 1
            if tries * FILES_S == FILES_WARNING_S:
                log.warning(
                    "%s: waiting for %s, which the coordinator writes", options.name, " and ".join(absent_paths)
                )
            if self.ending:
                return None
            await asyncio.sleep(FILES_S)
        return None if options.token_file is None else options.token_file.read_text("utf-8").strip()

    async def _serve(self, token: str | None) -> HttpServer:
        options = self._options
        served = [*routes_of(self), *CONTROL.serving(lambda: self)]
        if options.managed:
            served += LIFECYCLE.serving(lambda: self)
        app = Api(served, title=f"pflab server {options.name}")
        # Most streams come through the coordinator, which has a limit for each of its clients.
        limits = HttpLimits(client_streams=2 * CLIENT_STREAMS)
        server = HttpServer(app, host=options.http_host, port=options.http_port, token=token, limits=limits)
        await server.start()
        return server

    async def _begin_alone(self) -> None:
        options = self._options
        topology = load_topology(options.topology)
        self._store = await self._begun(Begin(topology, ALONE, topology.start_at))
        host = self._store.host
        last_at = host.read(lambda node: node.last_at)  # time never goes back
        await host.set_clock(max(await host.hold(), last_at), options.rate)
        await host.go()

    async def _begun(self, begin: Begin) -> RunningStore:
        return await RunningStore.begun(self._options, begin, self._faults, self._idle.set)

    # --- what the coordinator orders

    def status(self, name: str) -> dict[str, object]:
        """Return the state of the process and its store. `process` differs after each start of the process."""
        self._check_name(name)
        store = self._store
        return {
            "name": name,
            "process": self._process,
            "status": "waiting" if store is None else "running",
            "history": self._history,
            "run": None if store is None else store.run,
            "smtp": None if store is None else store.smtp,
            "imap": None if store is None else store.imap,
            "heartbeat": None if self._heartbeat is None else self._heartbeat.port,
        }

    async def begin(self, name: str, order: BeginOrder) -> dict[str, object]:
        """Open the store, which does nothing until the coordinator's `go`. Raises Misuse if the store runs."""
        async with self._changing:
            self._check_name(name)
            if self._store is not None:
                raise Misuse(f"server {name} is already running, in run {self._store.run}; end that run first")
            try:
                topology = topology_from_text(order.topology, "the lab's topology")
            except ProblemsError as error:
                raise Misuse(str(error)) from None
            self._enter(order)
            restore, self._restore = self._restore, None
            imap = None if order.imap_token is None else (order.imap_token, order.imap_port)
            begin = Begin(topology, order.run, order.at, restore, order.traces, order.tls, imap, order.skew_us)
            self._store = await self._begun(begin)
            return self.status(name)

    def _enter(self, order: BeginOrder) -> None:
        """Note the history of the database. Raises Misuse if it belongs to another history and may not be deleted."""
        history = order.history or order.run
        path, before = self._path, self._history
        if path.exists() and before is not None and before != history:
            if not order.fresh:
                raise Misuse(
                    f"the database of {self._options.name} belongs to the run {before}, not to {history};"
                    " empty the folder that holds the database"
                )
            self._remove()
        if before != history:
            write_whole(self._note, history.encode())

    @property
    def _path(self) -> Path:
        path, _ = data_folders(self._options)
        return path

    @property
    def _note(self) -> Path:
        """The file that says to which history the database belongs."""
        return self._path.with_suffix(".run")

    @property
    def _history(self) -> str | None:
        """The history to which the database belongs; None if there is no database."""
        return self._note.read_text("utf-8") if self._path.exists() and self._note.exists() else None

    def _remove(self) -> None:
        path = self._path
        for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            file.unlink(missing_ok=True)

    def copy(self, name: str) -> bytes:
        """Return a copy of the database; b"" if there is none."""
        self._check_name(name)
        if self._store is not None:
            return self._store.host.read(lambda node: node.backup())
        if not self._path.exists():
            return b""
        database = Database(self._path, "normal")
        database.open()
        try:
            return database.copy()
        finally:
            database.close()

    def replace(self, name: str, history: str, content: bytes) -> None:
        """Replace the database with a copy from another history. Raises Misuse while the store runs."""
        self._check_name(name)
        if self._store is not None:
            raise Misuse(f"server {name} is running; stop it before you replace its database")
        # If the process is killed here, the note is missing and the coordinator sends the copy again.
        self._note.unlink(missing_ok=True)
        self._remove()
        if content:
            write_whole(self._path, content)
        write_whole(self._note, history.encode())

    def keep_backup(self, name: str, content: bytes) -> None:
        """Keep a backup for the next `begin`. Raises Misuse while the store runs."""
        self._check_name(name)
        if self._store is not None:
            raise Misuse(f"server {name} is running; stop it before you restore it")
        self._restore = content

    async def finish(self, name: str) -> dict[str, object]:
        """Stop the store cleanly. The process waits again."""
        async with self._changing:
            self.host(name)
            store, self._store = self._store, None
            assert store is not None
            await store.stop()
            return self.status(name)

    def kill(self, name: str) -> NoReturn:
        """End the process at once, without finishing anything."""
        self._check_name(name)
        os.kill(os.getpid(), signal.SIGKILL)
        # The kernel ignores a SIGKILL that the first process of a container sends to itself; this exit looks the same.
        os._exit(KILLED)

    def export(self, name: str) -> dict[str, object]:
        """Write all events so far into a closed segment; return the number of the last one."""
        self.host(name)
        assert self._store is not None
        return {"name": name, "seq": self._store.export()}

    def database_events(self, name: str, history: str, traces: str, after: int) -> list[bytes]:
        """Return the next events of a stopped store, as lines. If none are left, write all of its events into segments."""
        self._check_name(name)
        if self._store is not None:
            raise Misuse(f"server {name} is running; read its events from its API")
        path, folder = data_folders(self._options, traces)
        if self._history != history:
            return []
        with closing(sqlite3.connect(path)) as raw:
            rows = events_after(Connection(raw), name, folder, after, EVENTS_BYTES)
        if not rows:
            database = Database(path, "normal")
            database.open()
            export_events(database, name, folder)
            database.close()
        return [line for _, line in rows]
