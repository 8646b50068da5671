"""Each lesson of the course is disturbed at each step, and there is always a way on, in true and few words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

from pflab.lessons.course import lessons_of_pflab
from tests.support.samples import rest
from tests.support.tab import Page, opened
from tests.support.topologies import THREE_STORES

Json = Any

LESSONS: Final = lessons_of_pflab()

SAMPLE: Final = ("conflict", "ask-at-start", "equal-not-enough")
"""Lessons of different chapters that `make test` disturbs; `make test-long` disturbs the others."""

MOST_LETTERS: Final = 200
"""The longest text about a problem."""


class PlayedLesson:
    """A lesson that is played in a page."""

    def __init__(self, page: Page, path: str) -> None:
        self.page = page
        self.path = path

    async def ask(self, method: str, path: str, body: Json = None) -> Json:
        return await self.page.json(method, f"{self.path}{path}", body)

    async def states(self) -> AsyncIterator[Json]:
        """Yield the lesson as it is, and then after each text and each problem."""
        yield (state := await self.ask("GET", "/lesson"))
        while state["status"] == "waiting":
            yield (state := await self.ask("POST", "/next", {"seen": len(state["beats"]) - 1}))

    async def play_to_end(self) -> Json:
        """Return the lesson at its end."""
        return [state async for state in self.states()][-1]

    async def running(self) -> list[str]:
        """Return the servers that run, the last one first."""
        servers = (await self.ask("GET", "/lab"))["servers"]
        return [server["name"] for server in reversed(servers) if server["status"] == "running"]

    async def stop_server(self) -> str:
        server = (await self.running())[0]
        await self.ask("POST", f"/lab/servers/{server}/stop")
        return f"stopped {server}"

    async def delete_folder(self) -> str:
        """Delete a folder on the last server that takes changes. A store that is only shown refuses them (RP-8)."""
        for server in await self.running():
            for folder in await self.ask("GET", f"/nodes/{server}/folders"):
                if folder["hidden"] or folder["path"] == "1-1":
                    continue
                target = f"{self.path}/nodes/{server}/folders/{quote(folder['path'], safe='')}"
                answer = await self.page.answer("DELETE", target)
                if b"it is only shown" in answer.body:
                    continue
                assert answer.status < HTTPStatus.MULTIPLE_CHOICES, answer.body
                return f"deleted the folder '{folder['path'].rpartition('/')[2]}' on {server}"
        raise AssertionError("no server shows a folder")

    async def move_clock(self) -> str:
        await self.ask("POST", "/lab/clock/advance", {"to": "7 h"})
        return "moved the clock by 7 h"


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    async with opened(tmp_path, THREE_STORES) as page:
        yield page


async def begin(page: Page, name: str) -> PlayedLesson:
    return PlayedLesson(page, (await page.json("POST", "/lessons", {"name": name}))["path"].rstrip("/"))


@pytest.mark.parametrize("name", [name if name in SAMPLE else rest(name) for name in LESSONS])
async def test_a_lesson_that_is_disturbed_can_go_on_and_go_back(name: str, page: Page) -> None:
    """At each step, somebody stops a server, deletes a folder or moves the clock: one after the other in the sample, in turn in
    the other lessons. The lesson names this change at this step and no other, plays on to its end, and tells problems in few
    words. Each step can begin again, as if nothing had happened."""
    lesson = await begin(page, name)
    *told, undisturbed = [state async for state in lesson.states()]
    texts = len(told)
    for step in reversed(range(texts)):  # after a disturbance, later texts are saved with it
        disturbances = (lesson.stop_server, lesson.delete_folder, lesson.move_clock)
        for disturb in disturbances if name in SAMPLE else disturbances[step % 3 :][:1]:
            again = await lesson.ask("POST", "/again", {"text": step})
            assert again["beats"] == told[step]["beats"]
            change = await disturb()
            assert (await lesson.ask("GET", "/lesson"))["beats"][step]["changes"] == [change]
            ended = await lesson.play_to_end()
            assert (ended["status"], ended["failure"]) == ("finished", None)
            assert [beat["index"] for beat in ended["beats"] if beat["changes"]] == [step]
            problems = [beat for beat in ended["beats"] if beat["kind"] == "problem"]
            assert len(ended["beats"]) == ended["beats_total"] == texts + len(problems)
            for problem in problems:
                assert f"You {change} in step {step + 1}." in problem["text"]
                assert len(problem["text"]) < MOST_LETTERS
            assert len(problems) <= 1
    await lesson.ask("POST", "/again", {"text": 0})
    assert (await lesson.play_to_end())["verdict"] == undisturbed["verdict"]


async def test_what_people_changed_is_told_in_their_words(page: Page) -> None:
    """A change is told as its user would tell it, each once, and at most five; what follows from a change by itself is not."""
    lesson = await begin(page, "new-post")

    async def changes() -> list[str]:
        return list((await lesson.ask("GET", "/lesson"))["beats"][-1]["changes"])

    await lesson.ask("POST", "/lab/servers/B/kill")
    await lesson.ask("POST", "/lab/servers/B/start")
    assert await changes() == ["killed B", "started B"]
    await lesson.ask("POST", "/again", {"text": 0})
    assert await changes() == []
    made = await lesson.ask("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "Mine"})
    await lesson.ask("PATCH", f"/nodes/A/messages/{made['id']}?folder=Projects", {"subject": "Ours"})
    await lesson.ask("POST", "/lab/faults", {"kind": "lose", "from": "A", "to": "B", "count": 1})
    await lesson.ask("PATCH", "/nodes/A/settings", {"MTA Hop Limit": 20})
    await lesson.ask("POST", "/lab/clock/advance", {"to": "1 h"})
    told = await changes()
    assert told[:2] == ["posted 'Mine' in Projects on A", "changed 'Ours' in Projects on A"]
    assert told[2].endswith("(loses mails from A to B, once)")
    assert (len(told), told[4]) == (5, "moved the clock by 1 h")
    await lesson.ask("POST", "/lab/servers/C/stop")
    assert await changes() == [*told, "more"]
