"""The open SMTP connections of all senders of one process: how many there are, and which of them are idle.

An open connection takes a file handle at each end, and in a lab of one process both ends belong to the process. So the senders
share one limit. A sender that needs one connection more ends the one that has been idle longest. If none is idle, it waits
until another sender has sent its mail. No sender waits while it uses a connection, so none waits for ever.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from aiosmtplib import SMTPException

from transport.smtp.client import StoreClient

MOST_CONNECTIONS: Final = 256
"""Open connections by default (decision): two to each peer of a large lab, and a quarter of the usual 1,024 file handles."""

IDLE_SECONDS: Final = 60.0
"""Real time after which an idle connection is closed (decision: less than the listener allows, so the sender closes it)."""

QUIT_SECONDS: Final = 1.0
"""Real time to wait for the answer to QUIT. After this time, the connection is closed."""


@dataclass(slots=True, eq=False)
class Peer:
    """The connections of one sender to one address under one greeting name.

    `idle`: the idle ones, the last used one last.
    """

    slots: asyncio.Semaphore
    idle: list[StoreClient] = field(default_factory=list)


class Connections:
    """At most `most` open connections. An idle one is closed after `idle_seconds`, or when its place is needed."""

    def __init__(self, most: int = MOST_CONNECTIONS, idle_seconds: float = IDLE_SECONDS) -> None:
        self._most = most
        self._open = 0
        self._waiting: deque[asyncio.Future[StoreClient | None]] = deque()
        self._idle_seconds = idle_seconds
        self._idle: dict[StoreClient, tuple[Peer, float]] = {}  # in the order in which they became idle
        self._sweep: asyncio.TimerHandle | None = None

    async def place(self) -> None:
        """Wait until one more connection may be opened. `close` and `end` give its place back."""
        if self._open < self._most:
            self._open += 1
        elif self._idle:
            await self._replace(self._in_use(next(iter(self._idle))))
        else:
            await self._wait()

    async def _wait(self) -> None:
        """Wait until a connection is closed or becomes idle, and take its place. End the connection if it is idle."""
        freed: asyncio.Future[StoreClient | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(freed)
        try:
            client = await freed
        except asyncio.CancelledError:
            if not freed.cancelled():
                self._give_back(freed.result())
            raise
        if client is not None:
            await self._replace(client)

    async def _replace(self, client: StoreClient) -> None:
        """End a connection, whose place the caller takes."""
        try:
            await _quit(client)
        except asyncio.CancelledError:
            self._give_back(None)
            raise

    def _give_back(self, client: StoreClient | None) -> None:
        """Give a free place to the sender that has waited longest, with `client` if this connection is still open."""
        while self._waiting:
            freed = self._waiting.popleft()
            if not freed.done():  # a sender that was cancelled no longer waits
                freed.set_result(client)
                return
        if client is not None:
            client.close()
        self._open -= 1

    def close(self, client: StoreClient) -> None:
        """Close a connection that is in use."""
        client.close()
        self._give_back(None)

    async def end(self, peers: Iterable[Peer]) -> None:
        """End the idle connections to these peers with QUIT."""
        clients = [self._in_use(client) for peer in peers for client in list(peer.idle)]
        try:
            await asyncio.gather(*(_quit(client) for client in clients))
        finally:
            for _ in clients:
                self._give_back(None)

    def take(self, peer: Peer) -> StoreClient | None:
        """Return an idle connection to a peer, which is then in use, or None."""
        while peer.idle:
            client = self._in_use(peer.idle[-1])
            if client.is_connected:
                return client
            self.close(client)
        return None

    def keep(self, peer: Peer, client: StoreClient) -> None:
        """Keep a connection after use for the next mail. If another sender waits for a place, give that sender the place."""
        if self._waiting:
            self._give_back(client)
            return
        loop = asyncio.get_running_loop()
        peer.idle.append(client)
        self._idle[client] = peer, loop.time()
        if self._sweep is None:
            self._sweep = loop.call_later(self._idle_seconds, self._close_old)

    def hang_up(self, peers: Iterable[Peer]) -> None:
        """Close the idle connections to these peers."""
        for peer in peers:
            for client in list(peer.idle):
                self.close(self._in_use(client))

    def _in_use(self, client: StoreClient) -> StoreClient:
        """Take a connection from the idle ones."""
        peer, _ = self._idle.pop(client)
        peer.idle.remove(client)
        if not self._idle and self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        return client

    def _close_old(self) -> None:
        """Close connections that have been idle for long; repeat while any is idle."""
        loop = asyncio.get_running_loop()
        self._sweep = loop.call_later(self._idle_seconds, self._close_old)
        since = loop.time() - self._idle_seconds
        for client in [key for key, (_, at) in self._idle.items() if at <= since]:
            self.close(self._in_use(client))


async def _quit(client: StoreClient) -> None:
    """End a connection with QUIT. The peer replies and closes its end, so the peer's file handle becomes free too."""
    try:
        with suppress(SMTPException, OSError):
            await client.quit(timeout=QUIT_SECONDS)
    finally:
        client.close()
