"""The coordinator's side of a managed node's process (`node.process.managed`): it begins, ends, kills and copies the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import msgspec

from node.api.http_client import HttpLine, Unanswered
from node.errors import InternalError
from pflab.client import quoted
from pflab.drivers.pulse import Pulse
from pflab.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

    from node.host.host import Address
    from traces.labtime import LabTime

ASK_S: Final = 2.0
"""Real time within which a process must report its state. If it does not, the lab asks again later."""

FOUND_S: Final = 60.0
"""Real time within which a process must answer for the first time; a container engine may be slow to start it."""

FOUND_AGAIN_S: Final = 3.0
"""The same time in two cases: the lab continues after a restart of its coordinator, or nobody listens at the process's address.
If a server answers later, the lab starts it then. A process that listens but is busy has FOUND_S.
"""

BACK_S: Final = 10.0
"""Real time that the lab waits for a killed process to restart, so that it can read the remaining events."""

AGAIN_S: Final = 0.1


class ProcessState(msgspec.Struct):
    """The state that a process reports.

    process: an id, new after each start of the process.
    status: waiting or running.
    heartbeat: a port.
    """

    process: str
    status: str
    run: str | None
    history: str | None
    smtp: tuple[str, int] | None
    heartbeat: int
    imap: tuple[str, int] | None = None


class BeginOrder(msgspec.Struct, frozen=True):
    """What the coordinator sends to a process to begin its store; see node.api.lifecycle.BeginOrder."""

    run: str
    history: str
    topology: str
    traces: str = ""
    fresh: bool = False
    tls: bool = False
    imap_token: str | None = None
    imap_port: int = 0


class ManagedProcess:
    """One server's process.

    http: the address of its API; `smtp` and `imap` are known once the store has begun.
    pulse: its signs of life. All requests except `state` wait for the answer as long as the process lives.
    saved: the database with which the store begins, if the lab went back to a saved lab; it is deleted once it is sent.
    """

    def __init__(
        self,
        name: str,
        http: Address,
        *,
        token: str | None,
        pulse: Pulse,
        order: BeginOrder,
        saved: Path | None = None,
    ) -> None:
        self.name = name
        self.http = http
        self.smtp: Address = ("", 0)
        self.imap: Address | None = None
        self.pulse = pulse
        self._order = order
        self._saved = saved
        self._line = HttpLine(http, token, connect_s=pulse.patience_s)
        self._listens = False
        self._base = f"/nodes/{quoted(name)}"

    async def state(self) -> ProcessState | None:
        """Return the state of the process; None if it does not answer at once."""
        try:
            return await self._state(self._line.ask("GET", f"{self._base}/status", timeout_s=ASK_S))
        except Unanswered as error:
            self._listens = isinstance(error.__cause__, TimeoutError)
            return None

    async def _state(self, request: Awaitable[tuple[int, bytes]]) -> ProcessState:
        status, answer = await request
        if status != HTTPStatus.OK:
            raise LabError(f"server {self.name} at {_shown(self.http)}: {_detail(answer)}")
        state = msgspec.json.decode(answer, type=ProcessState)
        self.pulse.address = (self.http[0], state.heartbeat)
        return state

    def runs(self, state: ProcessState | None) -> bool:
        """Return whether a process in this state runs the store in this lab's run and history."""
        ours = ("running", self._order.run, self._order.history)
        return state is not None and (state.status, state.run, state.history) == ours

    async def wait_for(self, limit_s: float = FOUND_S, *, other_than: str | None = None) -> ProcessState | None:
        """Wait until a process other than `other_than` answers; return None if none answers in time.

        limit_s: the real time to wait while nobody listens. A process that listens but is busy gets FOUND_S if that is longer.
        """
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        while True:
            state = await self.state()
            if state is not None and state.process != other_than:
                return state
            if loop.time() - began_s >= (max(limit_s, FOUND_S) if state is None and self._listens else limit_s):
                return None
            await asyncio.sleep(AGAIN_S)

    async def start(self, at: LabTime, backup: bytes | None, skew_us: int) -> None:
        """Begin the store, with its clock paused. If the store already runs in this run and history, it continues.

        Raises LabError if the process does not answer, or refuses.
        """
        state = await self.wait_for()
        if state is None:
            raise LabError(f"server {self.name} does not answer at {_shown(self.http)}; start its process")
        if self.runs(state) and backup is None:
            self._set_addresses(state)
            return
        if state.status == "running":  # the store runs for another lab, or on the database that the backup replaces
            await self._ordered("POST", "/end")
        await self._load_saved(state)
        if backup is not None:
            await self._ordered("PUT", "/restore", backup)
        order = msgspec.json.encode({**msgspec.structs.asdict(self._order), "at": at, "skew_us": skew_us})
        answer = await self._ordered("POST", "/begin", order)
        self._set_addresses(msgspec.json.decode(answer, type=ProcessState))

    async def _load_saved(self, state: ProcessState) -> None:
        """Send the saved database once, unless the store has a database of this history already."""
        if self._saved is None:
            return
        history = self._order.history
        if state.history != history and self._saved.exists():
            content = await asyncio.to_thread(self._saved.read_bytes)
            await self._ordered("PUT", f"/copy?history={quoted(history)}", content)
        self._saved.unlink(missing_ok=True)

    async def copy(self) -> bytes:
        """Return a copy of the store's database, or b"" if there is none. Raises LabError if the process does not answer."""
        return await self._ordered("GET", "/copy")

    async def stop(self) -> None:
        """Stop the store cleanly; its process waits again. Raises LabError if the process does not answer."""
        state = await self.state()
        if state is None or state.status == "running":
            await self._ordered("POST", "/end")

    async def kill(self) -> None:
        """Kill the process, and wait up to BACK_S for its restart."""
        try:
            before = await self._state(self._answer("GET", "/status"))
        except Unanswered:
            return
        try:
            await self._answer("POST", "/kill")
        except Unanswered:
            await self.wait_for(BACK_S, other_than=before.process)
        else:
            raise LabError(f"server {self.name} at {_shown(self.http)} was killed, but still answers")

    async def database_events(self, after: int) -> list[bytes] | None:
        """Return some events of the ended store after the given number, [] if there are no more.

        Returns None if the process does not answer, or if the store runs.
        """
        try:
            path = f"/database/events?after={after}&history={quoted(self._order.history)}&traces={quoted(self._order.traces)}"
            status, answer = await self._answer("GET", path)
        except Unanswered:
            return None
        return answer.splitlines() if status == HTTPStatus.OK else None

    async def export(self) -> int | None:
        """Let the running store write all its events into segments. Return the last event's number; None if this failed."""
        try:
            status, answer = await self._answer("POST", "/export")
        except Unanswered:
            return None
        return int(msgspec.json.decode(answer)["seq"]) if status == HTTPStatus.OK else None

    def close(self) -> None:
        self._line.close()

    def _set_addresses(self, state: ProcessState) -> None:
        assert state.smtp is not None, "a running store takes mail"
        self.smtp = (self.http[0], state.smtp[1])
        self.imap = None if state.imap is None else (self.http[0], state.imap[1])

    async def _answer(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        return await self.pulse.wait(self._line.ask(method, self._base + path, body))

    async def _ordered(self, method: str, path: str, body: bytes = b"") -> bytes:
        try:
            status, answer = await self._answer(method, path, body)
        except Unanswered as error:
            raise LabError(f"server {self.name}: {error}") from error
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            raise InternalError(f"server {self.name}: {_detail(answer)}", elsewhere=True)
        if status != HTTPStatus.OK:
            raise LabError(f"server {self.name}: {_detail(answer)}")
        return answer


def _shown(address: Address) -> str:
    return f"{address[0]}:{address[1]}"


def _detail(answer: bytes) -> str:
    try:
        return str(msgspec.json.decode(answer)["detail"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return answer.decode("utf-8", "replace").strip()
