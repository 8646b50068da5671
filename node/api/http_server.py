"""An HTTP server in the event loop that we are in: uvicorn, with its ports read back and signals left to us.

How many may ask at once, and for how long a request may be on its way: uvicorn's HTTP/1.1, with limits.

A connection beyond the limit is told to come again. One on which a request begins and does not go on ends, be it in
its head or in its body; uvicorn itself would wait for ever.

This module leans on names of uvicorn's protocol: `conn`, `connections`, `cycle`, `loop`, `transport`.
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from typing import Any, Final

import h11
import uvicorn
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

from node.api.access import BODIES_BYTES, LOOPBACK_NAMES, App, Guard

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


CROWDED: Final = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What one HTTP server allows (decisions).

    connections: at a time, streams among them; so many that a server still has file descriptors for its mail and its
    database. head_s, body_s: real time from the beginning of a request to the end of its head, and of its body.
    """

    connections: int = 256
    head_s: float = 20.0
    body_s: float = 300.0


class Door(H11Protocol):
    """One connection within the limits."""

    limits = HttpLimits()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        super().connection_made(transport)
        self._begun_s: float | None = self.loop.time()
        self._watch: asyncio.TimerHandle | None = None
        if len(self.connections) > self.limits.connections:
            transport.write(CROWDED)
            transport.close()
        else:
            self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._coming:
            self._begun_s = None
        elif self._begun_s is None:
            self._begun_s = self.loop.time()

    @property
    def _coming(self) -> bool:
        """Whether a part of a request has come, and the rest has not."""
        if self.conn.their_state is h11.IDLE:
            return bool(self.conn.trailing_data[0])
        return self.conn.their_state is h11.SEND_BODY

    def _look(self) -> None:
        limits = self.limits
        left_s = limits.head_s
        if self._begun_s is None and self._coming:  # it came behind the one before, in one piece
            self._begun_s = self.loop.time()
        if self._begun_s is not None:
            whole_s = limits.body_s if self.conn.their_state is h11.SEND_BODY else limits.head_s
            left_s = min(left_s, self._begun_s + whole_s - self.loop.time())
        if left_s <= 0:
            self.transport.close()
        else:
            self._watch = self.loop.call_later(left_s, self._look)


def door_with(limits: HttpLimits) -> type[Any]:
    """The protocol class of a server with these limits."""
    return type("LimitedDoor", (Door,), {"limits": limits})
