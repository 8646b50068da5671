"""The functions that the page's worker calls from JavaScript, in Pyodide.

    const lab = pyodide.pyimport("pflab.tab.browser");
    const mistakes = await lab.open_lab(topology, null);     // or (null, labFile); [] if the lab is up
    const answering = lab.answer("GET", "/lab", {}, null, (kind, a, b) => ...);
    await answering;                                         // or answering.cancel()
    const labFile = await lab.saved();

A worker has one lab. The strings and arrays of bytes that these functions return are JavaScript's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyodide.ffi import to_js

from pflab.errors import LabError
from pflab.tab.tab import SendPart, Tab
from topology.file.examples import EXAMPLES
from topology.problems import ProblemsError

if TYPE_CHECKING:
    from pflab.lessons.course import Lessons

RUNS: Final = Path("/runs")
"""Where the runs are, in the file system in memory."""

EXAMPLE: Final = "default"
"""The topology of a lab for which no other is given: that of `pflab up`."""


class _Worker:
    """The worker of the page, which has one lab."""

    def __init__(self) -> None:
        self._tab: Tab | None = None

    async def open_lab(self, topology: str | None, lab_file: Any) -> Any:
        """Open the lab of this worker, in place of the one before. Return an array of lines that say what is wrong with the
        topology or the file; the lab is open if there are none.

        topology: YAML text; undefined or null for the example.
        lab_file: a Uint8Array with a lab file, whose lab goes on here; undefined or null for none.
        """
        lab = lab_file.to_bytes() if lab_file else topology or (EXAMPLES / f"{EXAMPLE}.yaml").read_text("utf-8")
        try:
            tab = Tab(lab, folder=RUNS, lessons=_course, now=lambda: datetime.now(UTC))
            await tab.up()
        except (ProblemsError, LabError) as error:
            return to_js(str(error).splitlines())
        before, self._tab = self._tab, tab
        if before is not None:
            await before.close()
        return to_js([])

    def answer(self, method: str, target: str, headers: Any, body: Any, send: SendPart) -> asyncio.Task[None]:
        """Answer a request to the lab; see `Tab.answer`. Return a promise that can be cancelled to end a stream.

        headers: an object with the header fields.
        body: a Uint8Array; undefined or null for none.
        send: a function of JavaScript. It gets the bytes of a body as a Uint8Array.
        """
        fields: Mapping[str, str] = headers.to_py()
        content: bytes = body.to_bytes() if body else b""

        def send_part(kind: str, first: object, second: object) -> None:
            send(kind, to_js(first), second)

        return asyncio.ensure_future(self._opened.answer(method, target, fields, content, send_part))

    async def saved(self) -> Any:
        """Return the lab as it is now, as a Uint8Array with a lab file."""
        return to_js(await self._opened.saved())

    @property
    def _opened(self) -> Tab:
        assert self._tab is not None, "a worker opens its lab first"
        return self._tab


def _course() -> Lessons:
    from pflab.lessons.course import Lessons, lessons_of_pflab  # noqa: PLC0415 - the models of steps take long to build

    return Lessons(lessons_of_pflab())


_WORKER: Final = _Worker()

open_lab = _WORKER.open_lab
answer = _WORKER.answer
saved = _WORKER.saved
