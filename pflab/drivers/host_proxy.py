"""The host of a node in another process, as the coordinator uses it (`pflab.lab.coordinator.Timed`).

`RemoteHost` keeps the last state that the process reported; its method `look` asks for the present state.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final

import msgspec

from node.api.http_client import Address, HttpLine, Unanswered
from node.errors import InternalError, NodeError
from pflab.client import quoted
from pflab.drivers.pulse import Pulse
from traces.labtime import LabTime

PROBE_S: Final = 0.5
"""Real time between two checks whether a server that was passed over answers again."""

log = logging.getLogger("pflab.drivers.host_proxy")


class _Status(msgspec.Struct):
    """The state of a node as its process reports it."""

    now: LabTime
    rate: float
    activity: int
    failure: str | None
    busy: str
    due: LabTime | None
    seq: int
    blocked: bool = False


class RemoteHost:
    """One node in another process.

    events: a function that takes lines of events, of which some may be known already, and returns the number of the last known
    event.
    pulse: the signs of life of the process. silence: why the coordinator has passed the server over and works without it, or
        ''.
    """

    def __init__(
        self,
        name: str,
        address: Address,
        *,
        token: str | None,
        seq: int,
        events: Callable[[str, list[bytes]], int],
        pulse: Pulse,
    ) -> None:
        self.name = name
        self.address = address
        self.silence = ""
        self._logged = ""
        self.seq = seq
        self.changed = True
        self._line = HttpLine(address, token, connect_s=pulse.patience_s)
        self._base = f"/nodes/{quoted(name)}"
        self._events = events
        self._status = _Status(0, 0.0, 0, None, "its state is not known yet", None, 0)
        self._pulse = pulse
        self._probed_s = 0.0
        self._probe: asyncio.Future[bool] | None = None

    @property
    def activity(self) -> int:
        return self._status.activity

    @property
    def failure(self) -> Exception | None:
        return None if self._status.failure is None else InternalError(self._status.failure, elsewhere=True)

    @property
    def blocked(self) -> bool:
        return self._status.blocked and not self.silent

    @property
    def silent(self) -> bool:
        """Whether the coordinator has passed the server over."""
        return bool(self.silence)

    def next_due(self) -> LabTime | None:
        return self._status.due

    def busy(self, at: LabTime) -> str:
        """Return why the node is not idle at `at`, according to its last report; '' if it is idle."""
        due = self._status.due
        if not self._status.busy and due is not None and due <= at:
            return "a timer or mail is due"
        return self._status.busy

    async def look(self, at: LabTime, wait_s: float = 0.0) -> None:
        """Ask the node for its state at `at` and its new events. A busy node answers after `wait_s`, or after its stimulus."""
        await self._request(f"/idle?at={at}&after={self.seq}&wait_s={wait_s}", "GET")

    async def hold(self) -> LabTime:
        # If the clock is paused, no request is needed: the time is known, and `set_clock` also holds the node.
        if self._status.rate or not self._status.now:
            await self._request("/clock/hold")
        return 0 if self.silent else self._status.now

    async def set_clock(self, at: LabTime, rate: float) -> None:
        await self._request("/clock/set", "POST", msgspec.json.encode({"at": at, "rate": rate}))

    async def go(self) -> None:
        await self._request("/clock/go")

    async def meet(self, peers: Mapping[str, object]) -> None:
        """Send the node what `PeerNotifier` knows for it."""
        await self._request("/peers", "PUT", msgspec.json.encode(peers))

    async def back(self, *, at_once: bool) -> bool:
        """Return whether a node that was passed over answers again.

        at_once: ask the node's heartbeat now. Otherwise ask it at most once in PROBE_S, and do not wait for the answer.
        """
        now_s = asyncio.get_running_loop().time()
        if self._probe is None:
            if not at_once and now_s - self._probed_s < PROBE_S:
                return False
            self._probed_s = now_s
            self._probe = asyncio.ensure_future(self._answers())
        if not (at_once or self._probe.done()):
            return False
        probe, self._probe = self._probe, None
        if await probe:
            self.silence = ""
            await self.look(0)
            if not self.silent:
                self._logged = ""
                log.warning("server %s answers again", self.name)
        return not self.silent

    async def _answers(self) -> bool:
        try:
            return await self._pulse.beat() is not None
        except Unanswered:
            return False

    def close(self) -> None:
        if self._probe is not None:
            self._probe.cancel()
        self._line.close()

    async def _request(self, path: str, method: str = "POST", body: bytes = b"") -> None:
        if self.silent:
            return
        try:
            status, answer = await self._pulse.wait(self._line.ask(method, self._base + path, body))
        except Unanswered as error:
            self._pass_over(str(error))
            return
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            self._pass_over("its store does not run")
            return
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            detail = msgspec.json.decode(answer, type=dict[str, object])["detail"]
            raise InternalError(f"server {self.name}: {detail}", elsewhere=True)
        if status != HTTPStatus.OK:
            raise NodeError(f"server {self.name}: {answer.decode('utf-8', 'replace').strip()}")
        first, *lines = answer.splitlines()
        before = self._status
        self._status = msgspec.json.decode(first, type=_Status)
        self.changed = self.changed or before.activity != self._status.activity
        if lines:
            self.seq = self._events(self.name, lines)

    def _pass_over(self, why: str) -> None:
        if why != self._logged:  # several requests may end with the same reason, and a later check may find it again
            log.warning("server %s is passed over, and lab time goes on without it: %s", self.name, why)
        self.silence = self._logged = why
        self._status.busy, self._status.due = "", None
