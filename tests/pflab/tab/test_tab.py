"""A lab in a browser tab, driven as its page drives it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

import pytest

from pflab.errors import LabError
from pflab.lessons.course import lessons_of_pflab
from pflab.simulation.simulated_lab import SimulatedLab
from pflab.tab.tab import RUN
from tests.support.samples import sampled
from tests.support.tab import Page, opened
from tests.support.topologies import THREE_STORES
from topology.problems import ProblemsError

LESSONS = lessons_of_pflab()

END_DIFFERENT = {"tombstone-outlived", "equal-not-enough", "reissued-counters"}
"""The lessons that end with stores that disagree, or have lost a change, because they teach how this happens."""


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    async with opened(tmp_path, THREE_STORES) as page:
        yield page


async def subjects(page: Page, server: str) -> list[str]:
    return [each["subject"] for each in await page.json("GET", f"/nodes/{server}/messages?folder=Projects")]


async def ready(page: Page) -> None:
    """Wait until the lab takes changes."""
    while (await page.answer("GET", "/readyz")).status != HTTPStatus.OK:  # noqa: ASYNC110 - the tab's own task moves it
        await asyncio.sleep(0)


async def test_a_change_travels(page: Page) -> None:
    """A post and an edit reach the other servers when the clock is moved."""
    made = await page.json("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "Hello", "body": "all"})
    await page.json("POST", "/lab/clock/advance", {"to": "1 h"})
    assert await subjects(page, "B") == ["Hello"]
    await page.json("PATCH", f"/nodes/B/messages/{made['id']}?folder=Projects", {"subject": "Hello again"})
    moved = await page.json("POST", "/lab/clock/until", {"converged": "Projects", "within": "3 d"})
    assert moved["held"]
    assert await subjects(page, "A") == ["Hello again"]


async def test_the_clock_runs(page: Page) -> None:
    """The page can let the clock run, change its rate, and pause it."""
    assert (await page.json("POST", "/lab/clock/rate", {"rate": 60}))["rate"] == 60
    assert (await page.json("POST", "/lab/clock/rate", {"rate": 0}))["rate"] == 0


async def test_a_lost_mail_comes_back(page: Page) -> None:
    """A fault loses a mail; the store that lacks the change requests it."""
    await page.json("POST", "/lab/faults", {"kind": "lose", "from": "A", "to": "B", "count": 1})
    await page.json("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "Hello"})
    await page.json("POST", "/lab/clock/advance", {"to": "1 h"})
    assert (await subjects(page, "B"), await subjects(page, "C")) == ([], ["Hello"])
    assert (await page.json("POST", "/lab/clock/until", {"converged": "Projects", "within": "5 d"}))["held"]
    assert await subjects(page, "B") == ["Hello"]


async def test_servers_and_replicas_change(page: Page) -> None:
    """A server can be killed and started, and a replica can be moved to another server."""
    await page.json("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "Hello"})
    await page.json("POST", "/lab/servers/B/kill")
    lab = await page.json("GET", "/lab")
    assert [server["name"] for server in lab["servers"] if server["status"] == "running"] == ["A", "C"]
    await page.json("POST", "/lab/servers/B/start")
    await page.json("POST", "/nodes/A/replicas", {"folder": "Projects", "remove": ["C"]})
    await page.json("POST", "/lab/clock/advance", {"to": "4 d"})
    assert [await subjects(page, server) for server in "ABC"] == [["Hello"], ["Hello"], []]
    await page.json("POST", "/nodes/A/replicas", {"folder": "Projects", "add": ["C"]})
    await page.json("POST", "/lab/clock/advance", {"to": "4 d"})
    assert await subjects(page, "C") == ["Hello"]


async def test_a_lab_goes_back(page: Page, tmp_path: Path) -> None:
    """A tab can be saved and reset any number of times, keeps its saved labs, and keeps the files of one run only."""
    await page.json("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "Before"})
    begun = await page.json("PUT", "/lab/saved/start")
    for _ in range(2):
        await page.json("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "After"})
        await page.json("POST", "/lab/clock/advance", {"to": "1 h"})
        await page.json("POST", "/lab/saved/start/reset")
        assert (await page.answer("POST", "/lab/clock/step")).status == HTTPStatus.SERVICE_UNAVAILABLE
        await ready(page)
        assert await subjects(page, "A") == ["Before"]
        assert (await page.json("GET", "/lab/clock"))["now_at"] == begun["at"]
        assert await page.json("GET", "/lab/saved") == ["start"]
    assert len([*(tmp_path / RUN).iterdir()]) == 1


async def test_a_lab_that_ends_leaves_no_files(page: Page, tmp_path: Path) -> None:
    """A lab that is opened beside another one keeps its files while the other goes back, and removes no files but its own when
    it ends, because in a browser they are in memory."""
    file = await page.tab.saved()
    await page.json("PUT", "/lab/saved/start")
    async with opened(tmp_path, file) as other:
        await page.json("POST", "/lab/saved/start/reset")
        await ready(page)
        await other.json("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "Hello"})
        await other.json("PUT", "/lab/saved/other")
    assert await page.json("GET", "/lab/saved") == ["start"]
    assert len([*(tmp_path / RUN).iterdir()]) == 1


async def test_a_lab_that_cannot_go_back_says_so(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the next history does not begin, each request raises the reason, and none waits for a lab that never comes."""
    await page.json("PUT", "/lab/saved/start")

    async def fail(lab: SimulatedLab) -> None:
        raise RuntimeError("no memory is left")

    monkeypatch.setattr(SimulatedLab, "up", fail)
    await page.json("POST", "/lab/saved/start/reset")
    with pytest.raises(RuntimeError, match="no memory is left"):
        await ready(page)


async def test_a_lab_goes_on_in_another_tab(page: Page, tmp_path: Path) -> None:
    """A tab's lab as a file goes on in another tab from that moment, with its time and all that its stores have."""
    await page.json("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "Hello"})
    await page.json("POST", "/lab/clock/advance", {"to": "10 min"})
    file = await page.tab.saved()
    clock = await page.json("GET", "/lab/clock")
    async with opened(tmp_path / "other", file) as other:
        assert (await other.json("GET", "/lab/clock"))["now_at"] == clock["now_at"]
        assert [await subjects(other, server) for server in "AB"] == [["Hello"], []]
        await other.json("POST", "/lab/clock/advance", {"to": "1 h"})
        assert await subjects(other, "B") == ["Hello"]


async def test_a_stream_follows_the_lab_until_it_is_cancelled(page: Page) -> None:
    """The page gets each event of its lab as it happens, and nothing more when it has cancelled the request."""
    got: list[bytes] = []
    history = (await page.json("GET", "/lab"))["history"]
    following = page.follow(f"/labs/stream?lab=0@{quote(history)}@", got.append)

    async def until(words: bytes) -> None:
        while not any(words in each for each in got):  # noqa: ASYNC110 - the stream's own task moves it
            await asyncio.sleep(0)

    await until(b'"run.started"')
    await page.json("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "Hello"})
    await until(b'"change.made"')
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
    seen = len(got)
    await page.json("POST", "/lab/clock/advance", {"to": "1 h"})
    assert len(got) == seen


async def test_errors_are_answers(page: Page) -> None:
    """What the lab refuses is an answer, as over a socket."""
    unknown = await page.answer("POST", "/nodes/X/messages", b'{"folder": "Projects", "subject": "Hello"}')
    assert (unknown.status, unknown.headers["content-type"]) == (HTTPStatus.NOT_FOUND, "application/problem+json")
    assert (await page.answer("GET", "/nowhere")).status == HTTPStatus.NOT_FOUND
    assert (await page.answer("POST", "/nodes/A/messages", b"{")).status == HTTPStatus.UNPROCESSABLE_ENTITY


async def test_a_topology_with_mistakes_is_refused(tmp_path: Path) -> None:
    """The page can say what is wrong with a topology, line by line."""
    with pytest.raises(ProblemsError, match="2001"):
        async with opened(tmp_path, 'servers: {A: {version: "2001"}}\n'):
            pass


async def test_a_file_that_is_no_lab_file_is_refused(tmp_path: Path) -> None:
    """The page can say that a file is no lab file."""
    with pytest.raises(LabError, match="not a lab file"):
        async with opened(tmp_path, b"some other file"):
            pass


@pytest.mark.parametrize("name", sampled(LESSONS, 6))
async def test_each_lesson_plays_to_its_end(page: Page, name: str) -> None:
    """Each lesson of the course ends in a tab with the verdict that it teaches."""
    begun = await page.json("POST", "/lessons", {"name": name})
    path = f"/lessons/{begun['id']}"
    state = await page.json("GET", f"{path}/lesson")
    while state["status"] == "waiting":
        choices = state["beats"][-1]["choices"]
        state = await page.json("POST", f"{path}/next", {"answer": choices[0]} if choices else None)
    assert state["failure"] is None
    assert len(state["beats"]) == state["beats_total"] > 0
    assert state["verdict"]["judgement"] == ("not converged" if name in END_DIFFERENT else "converged")
    shown = await page.json("GET", f"{path}/lab")
    assert shown["run"].startswith(f"{name}/")
    await page.answer("DELETE", path)
    assert (await page.answer("GET", f"{path}/lesson")).status == HTTPStatus.NOT_FOUND
