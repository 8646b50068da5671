"""The signs of life of a process: lab time waits for a store that lives and works, however slow the machine is.

A process that does not answer a request may be busy with a stimulus, stopped, cut off or dead. While a request waits for its
answer, the lab asks the heartbeat of the process (`node.process.heartbeat`) every BEAT_S:

| finding | what happens to the request |
|---|---|
| the heartbeat answers | the request goes on waiting; every WARNING_S the log says so |
| nothing listens at the heartbeat's port | the request fails: the process is dead |
| the operating system says that the process is stopped (SIGSTOP) | the request fails |
| the heartbeat has not answered for `patience_s` | the request fails |

A request that fails raises Unanswered. After a request of the coordinator has failed, the lab passes the server over, and says
so. A user's request fails after USER_PATIENCE_S without a heartbeat, and the user gets the reason.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from node.api.http_client import Address, Unanswered

T = TypeVar("T")

PATIENCE_S: Final = 60.0
"""Real time without a heartbeat after which a process is passed over, unless the lab has another `patience_s`."""

USER_PATIENCE_S: Final = 5.0
"""Real time without a heartbeat after which a user's request fails. It has no effect on lab time."""

BEAT_S: Final = 1.0
"""Real time between two requests to a heartbeat, and also the time in which the heartbeat must answer."""

WARNING_S: Final = 60.0
"""Real time between two lines in the log about a request that still waits."""

STOPPED: Final = "its process is stopped"
ENDED: Final = "its process has ended"

log = logging.getLogger("pflab.drivers.pulse")


class Pulse:
    """The signs of life of one server's process.

    address: where the heartbeat of the process answers. Until this is known, only the time without an answer counts.

    patience_s: real time without a sign of life after which a request fails, and the limit for opening a connection to the
        process.
    stopped: returns whether the operating system has stopped the process; None if this machine cannot know.
    """

    def __init__(
        self, name: str, *, token: str | None, patience_s: float, stopped: Callable[[], bool] | None = None
    ) -> None:
        self.address: Address | None = None
        self._name = name
        self._token = token or ""
        self.patience_s = patience_s
        self._stopped = stopped

    async def wait(self, answer: Coroutine[Any, Any, T], patience_s: float | None = None) -> T:
        """Wait for the answer as long as the process lives, and return it. Raises Unanswered if the process gives no sign of
        life.

        patience_s: None means the value of the lab.
        """
        patience_s = self.patience_s if patience_s is None else patience_s
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
                # If a round lasted longer, the lab's own process was too slow to ask. So the additional time does not count.
                silent_s = 0.0 if beat is not None else silent_s + min(loop.time() - round_s, 2 * BEAT_S)
                if silent_s >= patience_s:
                    raise Unanswered(f"it has given no sign of life for {patience_s:g} s")
                if beat is not None and loop.time() >= warn_at_s:
                    warn_at_s += WARNING_S
                    log.warning("the lab waits for server %s, which works on: %s", self._name, beat)
        finally:
            task.cancel()

    def check(self) -> None:
        """Raise Unanswered if the process is stopped, has ended, or its heartbeat does not answer. This call blocks for at most
        USER_PATIENCE_S."""
        if self._stopped is not None:
            if self._stopped():
                raise Unanswered(STOPPED)
        elif self.address is not None:
            try:
                with socket.create_connection(self.address, USER_PATIENCE_S) as line:
                    line.sendall(f"{self._token}\n".encode())
                    line.recv(1)
            except ConnectionRefusedError:
                raise Unanswered(ENDED) from None
            except OSError:
                raise Unanswered(f"it has given no sign of life for {USER_PATIENCE_S:g} s") from None

    async def beat(self) -> str | None:
        """Return in words what the process works on; None if the heartbeat does not answer. Raises Unanswered if the process is
        stopped or has ended."""
        if self._stopped is not None and self._stopped():
            raise Unanswered(STOPPED)
        if self.address is None:
            await asyncio.sleep(BEAT_S)
            return None
        try:
            async with asyncio.timeout(BEAT_S):
                reader, writer = await asyncio.open_connection(*self.address)
                try:
                    writer.write(f"{self._token}\n".encode())
                    work = json.loads(await reader.readline())
                finally:
                    writer.close()
        except ConnectionRefusedError:
            raise Unanswered(ENDED) from None
        except (OSError, ValueError):
            return None
        return f"{work['stimulus'] or 'something else'} for {work['for_s']:.0f} s"
