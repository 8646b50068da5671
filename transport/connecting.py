"""The limit for opening a connection.

A firewall that drops packets neither accepts nor refuses a connection, and then Linux itself gives up after about 130 s. The
limit is short, because the operating system of the peer accepts a connection at once, however busy the peer's process is. The
limits for answers are much longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

CONNECT_S: Final = 10.0
"""Real time until a connection must be open (decision). Within it Linux asks four times: at once, and after 1, 3 and 7 s."""

ROUNDS: Final = 10
"""The limit consists of so many rounds. A round ends only after the event loop has read what arrived. So if this process was
stopped, or busy for long, a connection that was accepted meanwhile is not given up."""


@asynccontextmanager
async def connecting(address: tuple[str, int], limit_s: float = CONNECT_S) -> AsyncIterator[None]:
    """Limit the real time of the block, which opens a connection to `address`. Raise TimeoutError after `limit_s`."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle | None = None

    def count(rounds_left: int) -> None:
        nonlocal timer
        if rounds_left:
            timer = loop.call_later(limit_s / ROUNDS, count, rounds_left - 1)
        else:
            limit.reschedule(loop.time())

    try:
        async with asyncio.timeout(None) as limit:
            count(ROUNDS)
            yield
    except TimeoutError:
        if limit.expired():
            host, port = address
            reason = f"{host}:{port} neither accepted nor refused the connection within {limit_s:g} s"
            raise TimeoutError(reason) from None
        raise
    finally:
        if timer is not None:
            timer.cancel()
