"""The heartbeat of a process: a thread of its own says that the process lives, even while a stimulus keeps the event loop busy.

During a stimulus the process answers no HTTP request, however long the stimulus takes. So a coordinator that gets no answer
asks the heartbeat, and waits as long as the heartbeat answers (`pflab.drivers.pulse`).

The protocol: the client connects and sends the token and a line feed (only a line feed if there is no token). The thread
answers one line of JSON and closes the connection:

    {"stimulus": "tick", "for_s": 4.2}     the host works on a tick, which began 4.2 s of real time ago
    {"stimulus": "", "for_s": 0.0}         the host is in no stimulus
"""

from __future__ import annotations

import hmac
import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

CLIENT_S: Final = 1.0
"""Real time that a client gets to send its line."""

MOST_LINE_BYTES: Final = 1024

Work = tuple[str, float]
"""A stimulus, and when it began on the monotonic clock."""


class Heartbeat:
    """Answers at a port of its own. token: what clients must send. work: returns the stimulus that the host is in, if any;
    called in the thread."""

    def __init__(self, host: str, token: str | None, work: Callable[[], Work | None]) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family)
        self._token = (token or "").encode()
        self._work = work
        self._ended = threading.Event()
        threading.Thread(target=self._serve, name="heartbeat", daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def stop(self) -> None:
        """Stop answering."""
        self._ended.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # it has ended, or no file handle is free
                if self._ended.wait(CLIENT_S):
                    return
                continue
            with client, suppress(OSError):
                client.settimeout(CLIENT_S)
                self._answer(client)

    def _answer(self, client: socket.socket) -> None:
        with client.makefile("rb") as lines:
            said = lines.readline(MOST_LINE_BYTES)
        if not hmac.compare_digest(said.rstrip(b"\n"), self._token):
            return
        stimulus, began_s = self._work() or ("", time.monotonic())
        told = {"stimulus": stimulus, "for_s": round(time.monotonic() - began_s, 3)}
        client.sendall(json.dumps(told).encode() + b"\n")
