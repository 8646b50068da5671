"""An HTTP server in the running event loop: uvicorn without its signal handlers, with limits of its own.

A connection beyond the limit gets a 503. A connection is closed if a request on it begins but does not arrive completely in
time, or if its client takes nothing of an answer; uvicorn itself would wait for ever.

This module uses internal names of uvicorn's protocol: `conn`, `connections`, `cycle`, `loop`, `transport`.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from node.api.access import BODIES_BYTES, CLIENT_STREAMS, LOOPBACK_NAMES, Check, Guard
from node.api.asgi import App, ClientDisconnect
from node.api.values import PROBLEM, problem

KEPT_S: Final = 75.0
"""Real time for which an idle connection stays open."""

GRACE_S: Final = 1
"""Real time within which open requests must end when the server stops."""

HEAD_BYTES: Final = 64 * 1024
"""The largest head of a request. The Last-Event-ID of a stream names a number for each store, so it may be long."""

BACKLOG: Final = 128

BACKSTOP_S: Final = 4 * GRACE_S
"""Real time after which uvicorn would itself cancel open requests, with a traceback for each."""

Address = tuple[str, int]


logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # a line for each wrong request would fill the disk


class OpenToAll(Exception):
    """A server without a token would listen beyond loopback."""


class HttpServer:
    """Serves one application. Beyond loopback it requires a token or a check; see Guard for `users_token`, `login`, `trusted`
    and `check`.

    listener: a socket that listens already, in place of host and port.
    """

    def __init__(
        self,
        app: App,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        listener: socket.socket | None = None,
        token: str | None = None,
        users_token: str | None = None,
        login: bool = False,
        trusted: frozenset[str] = frozenset(),
        check: Check | None = None,
        limits: HttpLimits | None = None,
        bodies_bytes: int = BODIES_BYTES,
    ) -> None:
        if token is None and check is None and host not in LOOPBACK_NAMES:
            raise OpenToAll(
                f"without a token, anybody who reaches {host} could change the lab; give a token file, or listen on 127.0.0.1"
            )
        self._asked = (host, port)
        self._shared_listener = listener
        limits = limits or HttpLimits()
        guard = Guard(
            app,
            token=token,
            users_token=users_token,
            login=login,
            trusted=trusted,
            check=check,
            bodies_bytes=bodies_bytes,
            streams=limits.client_streams,
        )
        config = uvicorn.Config(
            self._quiet_at_end(guard),
            http=limited_protocol(limits),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            h11_max_incomplete_event_size=HEAD_BYTES,
            server_header=False,
            proxy_headers=False,  # a client could choose the address that counts for `trusted`
            timeout_keep_alive=int(KEPT_S),
            timeout_graceful_shutdown=BACKSTOP_S,
        )
        self._server = uvicorn.Server(config)
        self._config = config
        self._task: asyncio.Task[None] | None = None
        self.address: Address = self._asked

    def share_listener(self) -> socket.socket:
        """Return another handle of the socket at which the server listens."""
        return self._listener.dup()

    async def start(self) -> Address:
        """Start to listen and return the address; port 0 means a free port. Raises OSError if the port is taken."""
        listener = self._shared_listener or _listening(*self._asked)
        host, port = listener.getsockname()[:2]
        self.address = (str(host), int(port))
        self._config.load()
        self._server.lifespan = self._config.lifespan_class(self._config)
        await self._server.startup(sockets=[listener])
        self._task = asyncio.create_task(self._server.main_loop(), name="http")
        self._listener = listener
        return self.address

    async def stop(self) -> None:
        """Accept nothing more, let open requests end within GRACE_S, then cut the others, such as streams."""
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
        # Close the connections first, so that no client waits for the answer of a cancelled request.
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()
        for task in list(self._server.server_state.tasks):
            task.cancel()

    def _quiet_at_end(self, app: App) -> App:
        """Return an application that raises no error for a request that the stop of the server cancels, or whose client
        disconnects in the middle of a body."""

        async def quiet(scope: Any, receive: Any, send: Any) -> None:
            try:
                await app(scope, receive, send)
            except ClientDisconnect:
                pass  # nobody waits for an answer
            except asyncio.CancelledError:
                if not self._server.should_exit:
                    raise

        return quiet


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
    )[0]
    # The protocol is given because asyncio sends small answers at once only on a socket whose protocol is TCP.
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


_CROWDED: Final = problem(503, "Crowded", "too many connections are open; try again later").body
TOO_MANY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    b"Content-Type: %b\r\nContent-Length: %d\r\n\r\n%b" % (PROBLEM.encode(), len(_CROWDED), _CROWDED)
)


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What one HTTP server allows (decisions).

    connections: the most open connections, streams included. This limit leaves a server enough file descriptors for its mail
        and its database.
    client_connections, client_streams: the most connections and event streams of one address, so that one client does not lock
        out the others.
    head_s, body_s: the longest real time from the beginning of a request to the end of its head, and of its body.
    stuck_s, taken_s: the real times after which a client that does not read its answer makes room for others, and after which
        its connection is closed.
    """

    connections: int = 256
    client_connections: int = 192
    client_streams: int = CLIENT_STREAMS
    head_s: float = 20.0
    body_s: float = 300.0
    stuck_s: float = 5.0
    taken_s: float = 60.0


class LimitedConnection(H11Protocol):
    """One connection with limits."""

    limits = HttpLimits()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)  # uvloop's transports are not derived from asyncio's
        super().connection_made(stream)
        self._begun_s: float | None = self.loop.time()
        self._watch: asyncio.TimerHandle | None = None
        self._heard_s = self.loop.time()
        self._paused_s: float | None = None
        if self._find_room():
            self._check()
        else:
            stream.write(TOO_MANY)
            stream.close()

    def _find_room(self) -> bool:
        """Return whether there is room for this connection. If there is none, close the one without an answer that makes room:
        one in the middle of a request before one between two requests, and then the one that has been silent for longest."""
        own_host = (self.client or ("",))[0]
        open_ = [
            connection
            for connection in cast(set[LimitedConnection], self.connections)
            if not connection.transport.is_closing()
        ]
        crowd = [
            connection for connection in open_ if connection.client is not None and connection.client[0] == own_host
        ]
        if len(crowd) <= self.limits.client_connections:
            if len(open_) <= self.limits.connections:
                return True
            crowd = open_
        waiting = [
            connection
            for connection in crowd
            if connection is not self and (not connection._answers or connection._stuck_s > self.limits.stuck_s)
        ]
        if waiting:
            min(waiting, key=lambda connection: (connection._begun_s is None, connection._heard_s)).transport.abort()
        return bool(waiting)

    @property
    def _answers(self) -> bool:
        """Whether a request has arrived whole, and its answer has not ended."""
        return self._begun_s is None and self.cycle is not None and not self.cycle.response_complete

    @property
    def _stuck_s(self) -> float:
        """For how long the client has taken nothing of what it is sent."""
        return 0.0 if self._paused_s is None else self.loop.time() - self._paused_s

    def pause_writing(self) -> None:
        self._paused_s = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._paused_s = None
        super().resume_writing()

    def send_400_response(self, _: str) -> None:
        answer = problem(
            HTTPStatus.BAD_REQUEST, "Http", f"this is not HTTP/1.1, or its head is over {HEAD_BYTES} bytes"
        )
        answer.headers["Connection"] = "close"
        start = h11.Response(status_code=answer.status, headers=answer.start()["headers"], reason=b"Bad Request")
        for event in (start, h11.Data(data=answer.body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard_s = self.loop.time()
        super().data_received(data)
        if not self._incomplete:
            self._begun_s = None
        elif self._begun_s is None:
            self._begun_s = self.loop.time()

    @property
    def _incomplete(self) -> bool:
        """Whether only a part of a request has arrived."""
        if self.conn.their_state is h11.IDLE:
            return bool(self.conn.trailing_data[0])
        return self.conn.their_state is h11.SEND_BODY

    def _check(self) -> None:
        """Close the connection if its request or the client's reading has taken too long, otherwise check again later."""
        limits = self.limits
        left_s = limits.head_s
        if self._begun_s is None and self._incomplete:  # it began together with the end of the request before it
            self._begun_s = self.loop.time()
        if self._begun_s is not None:
            whole_s = limits.body_s if self.conn.their_state is h11.SEND_BODY else limits.head_s
            left_s = min(left_s, self._begun_s + whole_s - self.loop.time())
        if self._paused_s is not None:
            left_s = min(left_s, limits.taken_s - self._stuck_s)
        if left_s <= 0:
            if self._paused_s is None:
                self.transport.close()
            else:  # the transport would wait for the client to take the rest
                self.transport.abort()
        else:
            self._watch = self.loop.call_later(left_s, self._check)


def limited_protocol(limits: HttpLimits) -> type[Any]:
    """Return the protocol class of a server with these limits."""
    return type("LimitedProtocol", (LimitedConnection,), {"limits": limits})
