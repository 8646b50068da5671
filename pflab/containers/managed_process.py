"""A node's process that somebody else keeps alive, at a known address: begun, ended, let die; see `node.process.managed`."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import msgspec

from node.api.http_client import HttpLine, Unanswered
from pflab.client import quoted
from pflab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from node.host.host import Address
    from traces.labtime import LabTime

ASK_S: Final = 2.0
"""Real time that a process gets to say how it stands."""

BEGIN_S: Final = 30.0
"""Real time that a store gets to open; it needs less than one, unless it restores a large backup."""

END_S: Final = 10.0
"""Real time that an orderly end gets; it needs less than 5."""

FOUND_S: Final = 60.0
"""Real time that a process gets to be found; whoever keeps it alive may be slow to bring it back."""

FOUND_AGAIN_S: Final = 3.0
"""The same where the lab has been before: whoever comes later than that rises then."""

BACK_S: Final = 10.0
"""Real time for which a killed process is waited for, to learn at once what it left."""

SHIP_S: Final = 8.0
"""Real time in which a store has to write out its events; the others wait for it."""

AGAIN_S: Final = 0.1


class ProcessStatus(msgspec.Struct):
    """How a process says that it stands."""

    process: str
    standing: str
    run: str | None
    history: str | None
    smtp: tuple[str, int] | None


class ManagedProcess:
    """One server's process. http: where it is asked; `smtp` is known once the store has begun. order: what is said with
    every begin. returns: the file with the database that it begins this history on, if there is one."""

    def __init__(
        self, name: str, http: Address, *, token: str | None, run: str, order: Mapping[str, Any], returns: Path
    ) -> None:
        self.name = name
        self.http = http
        self.smtp: Address = ("", 0)
        self._run = run
        self._order = order
        self._history = str(order["history"])
        self._returns = returns
        self._traces = quoted(str(order.get("traces", "")))
        self._line = HttpLine(http, token)
        self._base = f"/nodes/{quoted(name)}"

    async def seen(self) -> ProcessStatus | None:
        """How it stands; None if nobody answers."""
        try:
            status, answer = await self._line.ask("GET", f"{self._base}/standing", timeout_s=ASK_S)
        except Unanswered:
            return None
        if status != HTTPStatus.OK:
            raise LabError(f"server {self.name} at {_shown(self.http)}: {_detail(answer)}")
        return msgspec.json.decode(answer, type=ProcessStatus)

    def runs(self, seen: ProcessStatus | None) -> bool:
        """Whether the store runs, in our run and its history."""
        return seen is not None and (seen.standing, seen.run, seen.history) == ("running", self._run, self._history)

    async def found(self, limit_s: float = FOUND_S, *, other_than: str | None = None) -> ProcessStatus | None:
        """Once it answers, with another process than the one given; None if it does not in time."""
        loop = asyncio.get_running_loop()
        give_up_s = loop.time() + limit_s
        while True:
            seen = await self.seen()
            if seen is not None and seen.process != other_than:
                return seen
            if loop.time() >= give_up_s:
                return None
            await asyncio.sleep(AGAIN_S)

    async def start(self, at: LabTime, rate: float, restores: bytes | None, tls: Path | None) -> None:
        """Begin the store, held. One that runs in this run already is taken as it is."""
        assert tls is None, "a led store has no certificates yet"
        seen = await self.found()
        if seen is None:
            raise LabError(f"server {self.name} does not answer at {_shown(self.http)}; bring its process up")
        if self.runs(seen) and restores is None:
            self._take(seen)
            return
        if seen.standing == "running":  # another lab's, or on what shall be replaced
            await self._ordered("POST", "/end", timeout_s=END_S)
        await self._go_back(seen)
        if restores is not None:
            await self._ordered("PUT", "/restore", restores, timeout_s=BEGIN_S)
        order = {**self._order, "run": self._run, "at": at, "rate": rate}
        answer = await self._ordered("POST", "/begin", msgspec.json.encode(order), timeout_s=BEGIN_S)
        self._take(msgspec.json.decode(answer, type=ProcessStatus))

    async def _go_back(self, seen: ProcessStatus) -> None:
        """A store gets what this history begins with before it has anything of it, and never again."""
        if seen.history != self._history and self._returns.exists():
            content = await asyncio.to_thread(self._returns.read_bytes)
            await self._ordered("PUT", f"/copy?history={quoted(self._history)}", content, timeout_s=BEGIN_S)
        self._returns.unlink(missing_ok=True)

    async def copy(self) -> bytes:
        """The store's database as it stands, b"" if it has none. Raises LabError."""
        return bytes(await self._ordered("GET", "/copy", timeout_s=SHIP_S))

    async def stop(self) -> None:
        """End the store in order; its process waits."""
        seen = await self.seen()
        if seen is None or seen.standing == "running":
            await self._ordered("POST", "/end", timeout_s=END_S)

    async def kill(self) -> None:
        """Let the process die, and wait a while for it to be back."""
        seen = await self.seen()
        if seen is None:
            return
        try:
            await self._line.ask("POST", f"{self._base}/die", timeout_s=ASK_S)
        except Unanswered:
            await self.found(BACK_S, other_than=seen.process)
        else:
            raise LabError(f"server {self.name} at {_shown(self.http)} was told to die and answered")

    async def left(self, after: int) -> list[bytes] | None:
        """Some of the events after one that it left; [] if that was the last. None while it does not wait."""
        try:
            path = f"{self._base}/left?after={after}&history={quoted(self._history)}&traces={self._traces}"
            status, answer = await self._line.ask("GET", path, timeout_s=BEGIN_S)
        except Unanswered:
            return None
        return answer.splitlines() if status == HTTPStatus.OK else None

    async def ship(self) -> int | None:
        """Let the running store write all its events out; the number of the last, None if it has not."""
        try:
            status, answer = await self._line.ask("POST", f"{self._base}/ship", timeout_s=SHIP_S)
        except Unanswered:
            return None
        return int(msgspec.json.decode(answer)["seq"]) if status == HTTPStatus.OK else None

    def close(self) -> None:
        self._line.close()

    def _take(self, seen: ProcessStatus) -> None:
        assert seen.smtp is not None, "a running store takes mail"
        self.smtp = (self.http[0], seen.smtp[1])

    async def _ordered(self, method: str, path: str, body: bytes = b"", *, timeout_s: float) -> Any:
        try:
            status, answer = await self._line.ask(method, self._base + path, body, timeout_s=timeout_s)
        except Unanswered as error:
            raise LabError(f"server {self.name}: {error}") from error
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
