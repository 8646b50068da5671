"""A store that its coordinator leads from the first instant on: what a container runs.

The process serves HTTP and waits. Its coordinator begins the store (`POST /nodes/NAME/begin`), which opens the database,
held, at the lab's time; ends it in order (`/end`), after which the process waits again; or lets it die (`/die`), after
which whoever keeps the process alive brings it back, to wait. So nothing runs that the coordinator does not know of, and
a store that comes back has the lab's time before it does anything.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import sqlite3
from argparse import Namespace
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NoReturn

from node.api.http_server import HttpServer
from node.api.lifecycle import BeginOrder, lifecycle_router
from node.errors import Misuse, NotRunning, Waiting
from node.process.running_store import Begin, RunningStore, data_folders
from node.process.standalone import NodeProcess
from node.state.database import Database
from node.store.trace_export import EVENTS_BYTES, events_after, export_events
from topology.file.load import topology_from_text
from topology.problems import ProblemsError
from transport.sql import Connection

FILES_S: Final = 0.1
"""Real time between two looks for the files with the lab's secrets."""

FILES_TOLD_S: Final = 5.0
"""After so much real time it is said what is waited for."""

KILLED: Final = 137
"""The exit code of a process that SIGKILL ended: 128 and the signal's number."""

log = logging.getLogger("pflab.managed")


class ManagedNode(NodeProcess):
    """One store as a process that waits for its coordinator."""

    def __init__(self, options: Namespace) -> None:
        super().__init__(options)
        self._restore: bytes | None = None
        self._changing = asyncio.Lock()
        self._process = secrets.token_hex(8)

    def _not_running(self) -> NotRunning:
        return Waiting(f"server {self._options.name} waits for the lab to begin it")

    async def _token(self) -> str | None:
        """The coordinator writes the secrets when it first starts, which may be after us."""
        given = self._options
        wanted = [path for path in (given.lab_secret_file, given.token_file) if path is not None]
        tries = 0
        while missing := [str(path) for path in wanted if not path.exists()]:
            tries += 1
            if tries * FILES_S == FILES_TOLD_S:
                log.warning("%s: waiting for %s, which the coordinator writes", given.name, " and ".join(missing))
            if self.ending:
                return None
            await asyncio.sleep(FILES_S)
        return await super()._token()

    async def _served(self, token: str | None) -> HttpServer:
        return await self._serve(token, lifecycle_router(self))

    # --- what the coordinator orders

    def standing(self, name: str) -> dict[str, Any]:
        """How the store stands; `process` is another after each start of the process."""
        self._check_name(name)
        store = self._store
        return {
            "name": name,
            "process": self._process,
            "standing": "waiting" if store is None else "running",
            "history": self._history,
            "run": None if store is None else store.run,
            "smtp": None if store is None else store.smtp,
        }

    async def begin(self, name: str, order: BeginOrder) -> dict[str, Any]:
        """Open the store, held until the coordinator says go. Raises Misuse if it runs."""
        async with self._changing:
            self._check_name(name)
            if self._store is not None:
                raise Misuse(f"server {name} runs already, in the run {self._store.run}; end it first")
            try:
                topology = topology_from_text(order.topology, "the lab's topology")
            except ProblemsError as error:
                raise Misuse(str(error)) from None
            self._enter(order)
            restore, self._restore = self._restore, None
            begin = Begin(topology, order.run, order.at, order.rate, held=True, restore=restore, traces=order.traces)
            self._store = await RunningStore.begun(self._options, begin, self._faults, self._idle.set)
            return self.standing(name)

    def _enter(self, order: BeginOrder) -> None:
        """A database is of one course of events."""
        wanted = order.history or order.run
        path, before = self._path, self._history
        if path.exists() and before is not None and before != wanted:
            if not order.fresh:
                raise Misuse(
                    f"the database of {self._options.name} is of the run {before}, and {wanted} does not begin anew;"
                    " empty its folder"
                )
            self._remove()
        self._note.write_text(wanted, "utf-8")

    @property
    def _path(self) -> Path:
        path, _ = data_folders(self._options)
        return path

    @property
    def _note(self) -> Path:
        """The file that says of which course of events the database is."""
        return self._path.with_suffix(".run")

    @property
    def _history(self) -> str | None:
        """Of which course of events the database is; None if there is none."""
        return self._note.read_text("utf-8") if self._path.exists() and self._note.exists() else None

    def _remove(self) -> None:
        path = self._path
        for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            each.unlink(missing_ok=True)

    def copy(self, name: str) -> bytes:
        """The database as it stands; b"" if there is none."""
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
        """Put a copy in the place of the database. Raises Misuse while the store runs."""
        self._check_name(name)
        if self._store is not None:
            raise Misuse(f"server {name} runs; end it before its database is replaced")
        # Killed in between there is no note, and whoever gave the copy gives it again.
        self._note.unlink(missing_ok=True)
        self._remove()
        if content:
            self._path.write_bytes(content)
        self._note.write_text(history, "utf-8")

    def keep_backup(self, name: str, content: bytes) -> None:
        """The next begin is on this backup. Raises Misuse while the store runs."""
        self._check_name(name)
        if self._store is not None:
            raise Misuse(f"server {name} runs; end it before it is restored")
        self._restore = content

    async def finish(self, name: str) -> dict[str, Any]:
        """End the store in order, and wait again."""
        async with self._changing:
            self.host(name)
            store, self._store = self._store, None
            assert store is not None
            await store.stop()
            return self.standing(name)

    def die(self, name: str) -> NoReturn:
        """The process is gone when this is over: nothing is finished, nothing said."""
        self._check_name(name)
        os.kill(os.getpid(), signal.SIGKILL)
        # The first process of a container is spared its own SIGKILL; to leave at once is the same for all who see it.
        os._exit(KILLED)

    def ship(self, name: str) -> dict[str, Any]:
        """What has happened so far is in closed segments when this is over."""
        self.host(name)
        assert self._store is not None
        return {"name": name, "seq": self._store.ship()}

    def left(self, name: str, history: str, traces: str, after: int) -> list[bytes]:
        """The events of a history that a store which does not run here has left, as lines; they are in the traces
        afterwards too."""
        self._check_name(name)
        if self._store is not None:
            raise Misuse(f"server {name} runs; ask it for its events")
        path, folder = data_folders(self._options, traces)
        if self._history != history:
            return []
        with closing(sqlite3.connect(path)) as raw:
            found = events_after(Connection(raw), name, folder, after, EVENTS_BYTES)
        if not found:
            database = Database(path, "normal")
            database.open()
            export_events(database, name, folder)
            database.close()
        return [line for _, line in found]
