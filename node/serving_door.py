"""How many may ask at once, and for how long a request may be on its way: uvicorn's HTTP/1.1, with limits.

A connection beyond the limit is told to come again. One on which a request begins and does not go on ends, be it in
its head or in its body; uvicorn itself would wait for ever.

This module leans on names of uvicorn's protocol: `conn`, `connections`, `cycle`, `loop`, `transport`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
