"""The host of a node in another process, as the coordinator uses it (`pflab.lab.coordinator.Timed`).

It has the last state that the process reported; `look` asks for the present state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final

import msgspec

from node.api.http_client import Address, HttpLine, Unanswered
from node.errors import InternalError, NodeError
from pflab.client import quoted
from traces.labtime import LabTime

STEP_S: Final = 2.0
"""Real time without an answer after which a node counts as stopped until it answers."""

LOST_S: Final = 8.0
"""Real time without an answer after which peers stop waiting for a node, even during a mail, although its process is
alive.
"""

PROBE_S: Final = 0.5
"""Real time between two checks whether a silent node answers again."""


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

    events: called with lines of events, some of which may be known already; returns the number of the last known one.
    silent: whether the process did not answer. Until it does, the coordinator works without it.
    """

    def __init__(
        self, name: str, address: Address, *, token: str | None, seq: int, events: Callable[[str, list[bytes]], int]
    ) -> None:
        self.name = name
        self.address = address
        self.silent = False
        self.seq = seq
        self.changed = True
        self._line = HttpLine(address, token)
        self._base = f"/nodes/{quoted(name)}"
        self._events = events
        self._status = _Status(0, 0.0, 0, None, "its state is not known yet", None, 0)
        self._lost_s = 0.0
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
    def lost(self) -> bool:
        """Whether peers should stop waiting for this node during a mail: its process has ended, or has been silent for
        LOST_S.
        """
        return self.silent and asyncio.get_running_loop().time() >= self._lost_s

    def next_due(self) -> LabTime | None:
        return self._status.due

    def busy(self, at: LabTime) -> str:
        """Return why the node is not idle at `at`, by its last report; '' if it is idle."""
        due = self._status.due
        if not self._status.busy and due is not None and due <= at:
            return "a timer or mail is due"
        return self._status.busy

    async def look(self, at: LabTime, wait_s: float = 0.0) -> None:
        """Ask the node for its state at `at` and its new events. A busy node answers after `wait_s` at the latest."""
        await self._request(f"/idle?at={at}&after={self.seq}&wait_s={wait_s}", "GET", b"", STEP_S + wait_s)

    async def hold(self) -> LabTime:
        # A paused clock needs no request, because its time is known and `set_clock` also holds the node.
        if self._status.rate or not self._status.now:
            await self._request("/clock/hold")
        return 0 if self.silent else self._status.now

    async def set_clock(self, at: LabTime, rate: float) -> None:
        await self._request("/clock/set", "POST", msgspec.json.encode({"at": at, "rate": rate}))

    async def go(self) -> None:
        await self._request("/clock/go")

    async def meet(self, peers: Mapping[str, object]) -> None:
        """Send the node the addresses of its peers, and whether to ask about faults."""
        await self._request("/peers", "PUT", msgspec.json.encode(peers))

    async def back(self) -> bool:
        """Return whether a silent node answers again. It is asked at most every PROBE_S, and this call does not wait."""
        now_s = asyncio.get_running_loop().time()
        if self._probe is None:
            if now_s - self._probed_s >= PROBE_S:
                self._probed_s = now_s
                self._probe = asyncio.ensure_future(self._answers())
            return False
        if not self._probe.done():
            return False
        probe, self._probe = self._probe, None
        if probe.result():
            self.silent = False
            await self.look(0)
        return not self.silent

    async def _answers(self) -> bool:
        try:
            status, _ = await self._line.ask("GET", f"{self._base}/idle?at=0", timeout_s=STEP_S)
        except Unanswered:
            return False
        return status == HTTPStatus.OK

    def close(self) -> None:
        if self._probe is not None:
            self._probe.cancel()
        self._line.close()

    async def _request(self, path: str, method: str = "POST", body: bytes = b"", timeout_s: float = STEP_S) -> None:
        if self.silent:
            return
        lost_after_s = 0.0
        try:
            status, answer = await self._line.ask(method, self._base + path, body, timeout_s=timeout_s)
        except Unanswered as error:
            status, answer = HTTPStatus.SERVICE_UNAVAILABLE, b""
            if isinstance(error.__cause__, TimeoutError):  # the process is alive and may be busy
                lost_after_s = LOST_S - timeout_s
        if status == HTTPStatus.SERVICE_UNAVAILABLE:  # no process, or one whose store does not run
            self.silent = True
            self._lost_s = asyncio.get_running_loop().time() + lost_after_s
            self._status.busy, self._status.due = "", None
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
