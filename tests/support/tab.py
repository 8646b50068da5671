"""A tab, for tests: its answers as a page collects them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from node.api.routing.dispatch import Answer
from pflab.lessons.course import Lessons, lessons_of_pflab
from pflab.tab.tab import Tab

STARTED = datetime(2026, 11, 26, 10, 15, tzinfo=UTC)


class Page:
    """Sends requests to a tab."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab

    async def answer(
        self, method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Return a whole answer."""
        parts: list[tuple[str, Any, Any]] = []
        await self.tab.answer(method, target, headers or {}, body, lambda *part: parts.append(part))
        (start, status, fields), *bodies, end = parts
        assert (start, end) == ("start", ("end", None, None))
        assert {kind for kind, _, _ in bodies} <= {"body"}
        return Answer(status, json.loads(fields), b"".join(content for _, content, _ in bodies))

    async def json(self, method: str, target: str, body: Any = None) -> Any:
        """Return the JSON of an answer that is not an error."""
        answer = await self.answer(method, target, b"" if body is None else json.dumps(body).encode())
        assert answer.status < 300, answer.body
        return json.loads(answer.body) if answer.body else None

    def follow(self, target: str, got: Callable[[bytes], None]) -> asyncio.Task[None]:
        """Follow a stream until the task is cancelled."""

        def send(kind: str, first: Any, second: Any) -> None:
            if kind == "body":
                got(first)

        return asyncio.ensure_future(self.tab.answer("GET", target, {}, b"", send))


@asynccontextmanager
async def opened(folder: Path, lab: str | bytes) -> AsyncIterator[Page]:
    """Open a tab with the course of pflab."""
    tab = Tab(lab, folder=folder, lessons=lambda: Lessons(lessons_of_pflab()), now=lambda: STARTED)
    await tab.up()
    try:
        yield Page(tab)
    finally:
        await tab.close()
