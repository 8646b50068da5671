"""The heartbeat of a process: a separate thread tells that the process is alive, even while a stimulus keeps the event loop
busy.

During a stimulus the process answers no HTTP request, however long the stimulus takes. So a coordinator that gets no answer
asks the heartbeat, and waits as long as the heartbeat answers (`pflab.drivers.pulse`).

The protocol: the client connects and sends the token and a line feed (only a line feed if there is no token). The thread
answers one line of JSON and closes the connection:

    {"stimulus": "tick", "for_s": 4.2}     the host works on a tick, which began 4.2 s of real time ago
    {"stimulus": "", "for_s": 0.0}         the host is in no stimulus
"""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
import threading
import time
from collections.abc import Callable
from typing import Final

CLIENT_S: Final = 1.0
"""Real time within which a client must send its line."""

MOST_LINE_BYTES: Final = 1024

MOST_CLIENTS: Final = 64
"""The largest number of clients that the heartbeat reads from at a time. A further client ends the oldest one, so that clients
without the token do not keep the coordinator from its answer."""

Work = tuple[str, float]
"""A stimulus, and when it began on the monotonic clock."""


class Heartbeat:
    """Answers at its own port.

    token: what clients must send.
    work: returns the stimulus that the host is in, if any; called in the heartbeat's thread.
    """

    def __init__(self, host: str, token: str | None, work: Callable[[], Work | None]) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family)
        self.port = int(self._listener.getsockname()[1])
        self._token = (token or "").encode()
        self._work = work
        self._clients: dict[asyncio.StreamWriter, None] = {}
        self._ended = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda *_: None)  # no file handle is free; asyncio tries again after a second
        threading.Thread(target=self._serve, name="heartbeat", daemon=True).start()

    def stop(self) -> None:
        """Stop answering."""
        self._loop.call_soon_threadsafe(self._ended.set)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._answer_all())

    async def _answer_all(self) -> None:
        server = await asyncio.start_server(self._answer, sock=self._listener, limit=MOST_LINE_BYTES)
        await self._ended.wait()
        server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients[writer] = None
        if len(self._clients) > MOST_CLIENTS:  # a coordinator sends its line at once, so the oldest client is none
            next(iter(self._clients)).transport.abort()
        try:
            async with asyncio.timeout(CLIENT_S):
                line = await reader.readline()
                if hmac.compare_digest(line.rstrip(b"\n"), self._token):
                    stimulus, began_s = self._work() or ("", time.monotonic())
                    answer = {"stimulus": stimulus, "for_s": round(time.monotonic() - began_s, 3)}
                    writer.write(json.dumps(answer).encode() + b"\n")
        except (OSError, TimeoutError, ValueError):
            pass  # the client has gone, is slow, or sends an endless line
        finally:
            del self._clients[writer]
            writer.close()
