"""A lab that serves lessons, for tests: its HTTP server, and a client that does not block the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from node.api.http_server import HttpServer
from pflab.client import Client, url_at
from pflab.drivers.live import LiveLab
from pflab.lessons.classroom import Classroom
from pflab.lessons.routes import extension_of
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from topology.file.load import topology_from_text

Json = Any

ANSWER_S = 300.0
"""How long a test waits for an answer. The longest lessons play for seconds from one text to the next."""


class Caller:
    """Sends requests from threads. A request may wait for another one."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def ask(self, method: str, path: str, body: Mapping[str, Json] | None = None) -> Json:
        """Return the JSON of an answer. Raises ClientError for an error."""

        def asked() -> Json:
            with Client(self.url, timeout_s=ANSWER_S) as client:
                return client.json(method, path, body)

        return await asyncio.to_thread(asked)

    async def text(self, path: str) -> str:
        """Return the text of an answer."""

        def asked() -> str:
            with Client(self.url, timeout_s=ANSWER_S) as client:
                return client.text("GET", path)

        return await asyncio.to_thread(asked)

    async def begin(self, name: str) -> str:
        """Begin a lesson, and return the path of its lab without the last slash."""
        begun = await self.ask("POST", "/lessons", {"name": name})
        assert begun["path"] == f"/lessons/{begun['id']}/"
        return str(begun["path"]).rstrip("/")

    async def play_to_end(self, path: str) -> Json:
        """Play a lesson to its end, give the first choice as each answer, and return its state."""
        state = await self.ask("GET", f"{path}/lesson")
        while state["status"] == "waiting":
            choices = state["beats"][-1]["choices"]
            state = await self.ask("POST", f"{path}/next", {"answer": choices[0]} if choices else None)
        return state


@asynccontextmanager
async def lab_with_lessons(folder: Path, classroom: Classroom) -> AsyncIterator[tuple[LiveLab, Caller]]:
    """Run a lab of one server, whose HTTP server has the lessons of a classroom."""
    lab = LiveLab(topology_from_text("servers: {Own: }\n"), folder=RunFolder.at(folder))
    extension = extension_of(classroom)
    server = HttpServer(app_of_live_lab(lambda: lab, extension))
    async with lab:
        address = await server.start()
        try:
            yield lab, Caller(url_at(address))
        finally:
            await server.stop()
            await extension.close()
