"""An HTTP server in the event loop that we are in: uvicorn, with its ports read back and signals left to us."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

import uvicorn
from starlette.requests import ClientDisconnect

from node.api_guard import BODIES_BYTES, LOOPBACK_NAMES, App, Guard
from node.serving_door import HttpLimits, door_with

KEPT_S: Final = 75.0
"""Real time for which a connection without a request is kept."""

GRACE_S: Final = 1
"""Real time that requests under way get at the end."""

BACKLOG: Final = 128

BACKSTOP_S: Final = 4 * GRACE_S
"""When uvicorn would end what has not ended by then, with a traceback for each."""

Address = tuple[str, int]


class OpenToAll(Exception):
    """A server beyond loopback without a token."""


class HttpServer:
    """Serves one application. Beyond loopback it wants a token of whoever asks; see Guard for `trusted`."""

    def __init__(
        self,
        app: App,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        trusted: frozenset[str] = frozenset(),
        limits: HttpLimits | None = None,
        bodies_bytes: int = BODIES_BYTES,
    ) -> None:
        if token is None and host not in LOOPBACK_NAMES:
            raise OpenToAll(f"whoever reaches {host} could change the lab: give a token file, or listen on 127.0.0.1")
        self._asked = (host, port)
        config = uvicorn.Config(
            self._leaving(Guard(app, token=token, trusted=trusted, bodies_bytes=bodies_bytes)),
            http=door_with(limits or HttpLimits()),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_keep_alive=int(KEPT_S),
            timeout_graceful_shutdown=BACKSTOP_S,
        )
        self._server = uvicorn.Server(config)
        self._config = config
        self._task: asyncio.Task[None] | None = None
        self.address: Address = self._asked

    async def start(self) -> Address:
        """Listen, on a free port where 0 was asked for; the address. Raises OSError if it is taken."""
        listener = _listening(*self._asked)
        host, port = listener.getsockname()[:2]
        self.address = (str(host), int(port))
        self._config.load()
        self._server.lifespan = self._config.lifespan_class(self._config)
        await self._server.startup(sockets=[listener])
        self._task = asyncio.create_task(self._server.main_loop(), name="http")
        self._listener = listener
        return self.address

    async def stop(self) -> None:
        """Take no more, let what is under way end within GRACE_S; streams, which have no end, are cut then."""
        if self._task is None:
            return
        self._server.should_exit = True
        await self._task
        self._task = None
        late = asyncio.get_running_loop().call_later(GRACE_S, self._hang_up)
        try:
            await self._server.shutdown(sockets=[self._listener])
        finally:
            late.cancel()

    def _hang_up(self) -> None:
        # First the connections, so that nobody waits for the answers of what is cancelled.
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()
        for task in list(self._server.server_state.tasks):
            task.cancel()

    def _leaving(self, app: App) -> App:
        """The application, whose requests are cancelled without a word when the server ends, and end so when who asks has
        hung up in the midst of a body."""

        async def leaving(scope: Any, receive: Any, send: Any) -> None:
            try:
                await app(scope, receive, send)
            except ClientDisconnect:
                pass  # nobody is there to be answered
            except asyncio.CancelledError:
                if not self._server.should_exit:
                    raise

        return leaving


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
    )[0]
    # The protocol is named, for asyncio sends small answers at once only on sockets that say they are TCP.
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener
