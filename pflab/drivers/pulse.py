"""The signs of life of a process: lab time waits for a store that lives and works, however slow the machine is.

A process that answers no request may be busy with a stimulus, stopped, cut off or dead. While a request waits for its answer,
the heartbeat of the process (`node.process.heartbeat`) is asked every BEAT_S:

| finding | what happens to the request |
|---|---|
| the heartbeat answers | it goes on waiting; every WARNING_S the log says so |
| nothing listens at the heartbeat's port | it ends: the process is dead |
| the operating system says that the process is stopped (SIGSTOP) | it ends |
| the heartbeat has not answered for `patience_s` | it ends |

A request that ends raises Unanswered. The lab then passes the server over, and says so.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from node.api.http_client import Address, Unanswered

T = TypeVar("T")

PATIENCE_S: Final = 60.0
"""Real time without a heartbeat after which a process is passed over, unless the lab has another `patience_s`."""

BEAT_S: Final = 1.0
"""Real time between two questions to a heartbeat, and also the time in which it must answer."""

WARNING_S: Final = 60.0
"""Real time between two lines in the log about a request that still waits."""

log = logging.getLogger("pflab.drivers.pulse")


class Pulse:
    """The signs of life of one server's process.

    address: where its heartbeat answers. Until this is known, only the time without an answer counts. stopped: whether the
    operating system has stopped the process.
    """

    def __init__(
        self, name: str, *, token: str | None, patience_s: float, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.address: Address | None = None
        self._name = name
        self._token = token or ""
        self._patience_s = patience_s
        self._stopped = stopped

    async def wait(self, answer: Coroutine[Any, Any, T]) -> T:
        """Return the answer; wait for it as long as the process lives. Raises Unanswered if it gives no sign of life."""
        task = asyncio.ensure_future(answer)
        loop = asyncio.get_running_loop()
        silent_s = 0.0
        warn_at_s = loop.time() + WARNING_S
        try:
            while True:
                round_s = loop.time()
                done, _ = await asyncio.wait([task], timeout=BEAT_S)
                if done:
                    return task.result()
                beat = await self.beat()
                # If a round lasted longer, this process was too slow to ask, so the time does not count.
                silent_s = 0.0 if beat is not None else silent_s + min(loop.time() - round_s, 2 * BEAT_S)
                if silent_s >= self._patience_s:
                    raise Unanswered(f"it has given no sign of life for {self._patience_s:g} s")
                if beat is not None and loop.time() >= warn_at_s:
                    warn_at_s += WARNING_S
                    log.warning("the lab waits for server %s, which works on: %s", self._name, beat)
        finally:
            task.cancel()

    async def beat(self) -> str | None:
        """Return what the process works on, in words; None if the heartbeat does not answer. Raises Unanswered if the process
        cannot answer before somebody starts or continues it."""
        if self._stopped():
            raise Unanswered("its process is stopped")
        if self.address is None:
            await asyncio.sleep(BEAT_S)
            return None
        try:
            async with asyncio.timeout(BEAT_S):
                reader, writer = await asyncio.open_connection(*self.address)
                try:
                    writer.write(f"{self._token}\n".encode())
                    told = json.loads(await reader.readline())
                finally:
                    writer.close()
        except ConnectionRefusedError:
            raise Unanswered("its process has ended") from None
        except (OSError, ValueError):
            return None
        return f"{told['stimulus'] or 'something else'} for {told['for_s']:.0f} s"
