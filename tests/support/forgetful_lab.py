"""A served lab that keeps only its newest events, as a lab does that has run for days."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from threading import Thread

from node.api.http_server import HttpServer
from pflab.client import Client
from pflab.drivers.live import LiveLab
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from topology.file.load import topology_from_text

MOST_EVENTS = 200

TOPOLOGY = """
servers: {A: , B: , C: }
folders:
  Projects: {replicas: [A, B, C]}
  News: {replicas: [B, C]}
"""


@asynccontextmanager
async def _served(folder: Path) -> AsyncIterator[str]:
    run = RunFolder.create(folder, "forgetful")
    lab = LiveLab(topology_from_text(TOPOLOGY), seed=1, folder=run, most_events=MOST_EVENTS)
    server = HttpServer(app_of_live_lab(lambda: lab))
    async with lab:
        host, port = await server.start()
        try:
            yield f"http://{host}:{port}"
        finally:
            await server.stop()


@contextmanager
def forgetful_lab(folder: Path) -> Iterator[Client]:
    """Run a lab with a paused clock in a thread, in which so much has happened that it has forgotten its first events. C is
    stopped, and so lacks what B has posted since."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    lab = _served(folder)
    try:
        url = asyncio.run_coroutine_threadsafe(lab.__aenter__(), loop).result()
        try:
            with Client(url) as client:
                for number in range(4):
                    client.post("A", "Projects", subject=f"Early {number}")
                client.advance("20 min")
                client.stop("C")
                for number in range(60):
                    client.post("B", "News", subject=f"Late {number}")
                    client.advance("15 min")
                yield client
        finally:
            asyncio.run_coroutine_threadsafe(lab.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
