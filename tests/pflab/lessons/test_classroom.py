"""Lessons in labs of their own: what learners see and when, how many lessons there are, and when they end."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from pflab.client import Client, ClientError
from pflab.errors import LabError
from pflab.lessons.classroom import IDLE_S, Classroom, LessonUnknown, NoRoom
from pflab.lessons.course import Lessons
from pflab.lessons.lesson_folder import LessonFolder, remove_abandoned
from pflab.lessons.played_lesson import LessonBusy, PlayedLesson
from pflab.runs.lab_state import STATE
from pflab.scenario.load import scenario_from_text
from pflab.simulation.simulated_lab import SimulatedLab
from tests.support.classroom import lab_with_lessons
from tests.support.running_lab import lab_up
from tests.support.samples import sampled

pytestmark = pytest.mark.live

LESSON = """\
title: A lesson
topology: one-site.yaml
lesson: What happens.
course: {number: 1, level: basic, learn: how a post travels}
steps:
  - post: {on: A, folder: Projects, subject: Hello, as: hello}
  - say: A user posts.
  - quiz:
      ask: When has B it?
      choices: [at once, after 15 minutes]
      answer: after 15 minutes
      because: A waits.
      show: {view: folders, server: [A, B], folder: Projects, message: hello}
      notes: Let them vote.
  - until: {mail: content, to: B, within: 16 min}
  - expect: {on: B, folder: Projects, has: hello}
  - reveal:
      text: So it is.
      show: {server: B, table: state, folder: Projects, row: A, mail: {type: content, from: A, to: B}}
  - say: {text: Look., show: {mail: {type: status}}}
"""


def classroom_of(text: str = LESSON, **options: Any) -> Classroom:
    return Classroom(lambda: Lessons({"mine": scenario_from_text(text)}), **options)


class RealTime:
    """A clock that a test moves."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


async def refused(call: Callable[[], Any]) -> tuple[int, str]:
    """Return the status and the text of a refusal."""
    with pytest.raises(ClientError) as caught:
        await call()
    return caught.value.status, caught.value.detail


async def test_the_course_is_listed(tmp_path: Path) -> None:
    """The list has what a trainer needs to choose a lesson, and where it is played already."""
    async with lab_with_lessons(tmp_path, classroom_of()) as (_, caller):
        (lesson,) = await caller.ask("GET", "/lessons")
        path = await caller.begin("mine")
        (begun,) = (await caller.ask("GET", "/lessons"))[0]["played"]
        await caller.ask("DELETE", path)
        (ended,) = await caller.ask("GET", "/lessons")
    assert begun == {"id": path.rpartition("/")[2], "path": f"{path}/", "told": 1}
    assert ended == lesson
    assert lesson == {
        "name": "mine",
        "heading": "Own lessons",
        "played": [],
        "number": 1,
        "level": "basic",
        "learn": "how a post travels",
        "title": "A lesson",
        "minutes": 5,
        "texts": 3,
        "questions": 1,
        "servers": 3,
    }


async def test_a_lesson_has_a_lab_of_its_own(tmp_path: Path) -> None:
    """The lab of a lesson has the API of a lab below the lesson's path. The user's lab does not change."""
    async with lab_with_lessons(tmp_path, classroom_of()) as (lab, caller):
        events, now = lab.record.count, lab.now
        path = await caller.begin("mine")
        await caller.play_to_end(path)
        served = await caller.ask("GET", f"{path}/lab")
        assert [server["name"] for server in served["servers"]] == ["A", "B", "C"]
        assert served["clock"]["now_at"] == "2003-10-21T00:15:00Z"
        assert [each["subject"] for each in await caller.ask("GET", f"{path}/nodes/B/messages?folder=Projects")] == [
            "Hello"
        ]
        await caller.ask("POST", f"{path}/lab/clock/advance", {"to": "1 h"})
        assert (lab.record.count, lab.now) == (events, now)
        assert not list(lab.folder.glob("**/B.sqlite"))


async def test_each_text_tells_when_it_was_told(tmp_path: Path) -> None:
    """A text has the lab time and the number of events at which it was told, so that a page can show the lab as it was."""
    async with lab_with_lessons(tmp_path, classroom_of()) as (_, caller):
        path = await caller.begin("mine")
        (posted,) = (await caller.ask("GET", f"{path}/lesson"))["beats"]
        events = await caller.text(f"{path}/lab/events")
        assert posted["seq"] == len(events.splitlines())
        assert '"change.made"' in events
        state = await caller.play_to_end(path)
        assert [beat["at"][11:16] for beat in state["beats"]] == ["00:00", "00:00", "00:15", "00:15"]
        assert state["verdict"]["in_words"][-1] == "Projects: converged on A, B and C"


async def test_the_answer_is_told_after_the_question_was_answered_or_revealed(tmp_path: Path) -> None:
    """Nobody can read the answer of a question before. A learner need not answer."""
    async with lab_with_lessons(tmp_path, classroom_of()) as (_, caller):
        for given in ("at once", None):
            path = await caller.begin("mine")
            state = await caller.ask("POST", f"{path}/next")
            assert "A waits" not in str(state)
            asked = state["beats"][-1]
            assert (asked["kind"], asked["choices"]) == ("question", ["at once", "after 15 minutes"])
            assert (asked["answer"], asked["because"], asked["given"]) == (None, None, None)
            state = await caller.ask("POST", f"{path}/next", {"answer": given})
            asked, revealed = state["beats"][-2:]
            assert asked["given"] == given
            assert revealed["question"] == asked["index"]
            for beat in (asked, revealed):
                assert (beat["answer"], beat["because"]) == ("after 15 minutes", "A waits.")


async def test_a_text_has_what_a_page_highlights_and_the_notes_of_the_presenter(tmp_path: Path) -> None:
    """Names of messages and mails are shown with the ids that the events have. A mail that was not sent has none."""
    async with lab_with_lessons(tmp_path, classroom_of()) as (_, caller):
        path = await caller.begin("mine")
        beats = (await caller.play_to_end(path))["beats"]
        events = [json.loads(line) for line in (await caller.text(f"{path}/lab/events")).splitlines()]
    post = next(event for event in events if event["type"] == "change.made")
    sent = next(event for event in events if event["type"] == "mail.submitted")
    plain, asked, revealed, last = beats
    assert (plain["highlight"], plain["notes"]) == (None, None)
    assert asked["notes"] == "Let them vote."
    assert asked["highlight"] == {
        "view": "folders",
        "servers": ["A", "B"],
        "connectors": [],
        "folder": "Projects",
        "table": None,
        "row": None,
        "message": {"name": "hello", "folder": "Projects", "object": post["object"], "numbers": [post["number"]]},
        "mail": None,
    }
    assert (revealed["highlight"]["table"], revealed["highlight"]["row"]) == ("state", "A")
    assert revealed["highlight"]["mail"] == {
        "id": sent["mail"],
        "type": "content",
        "from": "A",
        "to": "B",
        "folder": None,
    }
    assert last["highlight"]["mail"]["id"] is None


async def test_mistakes_are_refused_in_words(tmp_path: Path) -> None:
    """Unknown lessons and ids, answers that are not choices, and a lesson that has ended."""
    async with lab_with_lessons(tmp_path, classroom_of()) as (_, caller):
        assert await refused(lambda: caller.begin("min")) == (404, '"min" is not a lesson; did you mean "mine"?')
        for path in ("/lessons/0123456789abcdef", "/lessons/..%2f..", "/lessons/" + "x" * 99):
            assert (await refused(lambda path=path: caller.ask("GET", f"{path}/lab")))[0] == 404
            assert (await refused(lambda path=path: caller.ask("POST", f"{path}/next")))[0] == 404
            assert (await refused(lambda path=path: caller.ask("DELETE", path)))[0] == 404
        path = await caller.begin("mine")

        async def answer(text: str | None) -> Any:
            return await caller.ask("POST", f"{path}/next", {"answer": text})

        assert await refused(lambda: answer("Hello")) == (422, "the present text is not a question; send no answer")
        await answer(None)
        status, detail = await refused(lambda: answer("never"))
        assert (status, detail.partition(";")[0]) == (422, '"never" is not a choice')
        await caller.play_to_end(path)
        assert await refused(lambda: answer(None)) == (
            409,
            "the lesson has ended; begin it again with POST /lessons",
        )


async def test_a_repeated_request_has_no_effect(tmp_path: Path) -> None:
    """A request that says which text the learner saw plays on from that text only. Repeated, it returns the lesson as it is,
    also while the lesson plays and after its end."""
    async with lab_with_lessons(tmp_path, classroom_of()) as (_, caller):
        path = await caller.begin("mine")

        async def play_on(seen: int, answer: str | None = None) -> tuple[int, str]:
            state = await caller.ask("POST", f"{path}/next", {"seen": seen, "answer": answer})
            return len(state["beats"]), state["status"]

        assert await asyncio.gather(play_on(0), play_on(0)) == [(2, "waiting"), (2, "waiting")]
        assert await play_on(0) == (2, "waiting")
        assert await play_on(1, "at once") == (3, "waiting")
        assert await play_on(1, "after 15 minutes") == (3, "waiting")
        assert (await caller.ask("GET", f"{path}/lesson"))["beats"][1]["given"] == "at once"
        assert await refused(lambda: play_on(3)) == (422, "text 3 has not been shown yet; the last text is 2")
        assert await play_on(2) == (4, "waiting")
        assert await play_on(3) == await play_on(3) == (4, "finished")


async def test_only_one_request_plays_on() -> None:
    """While a lesson plays on, another request is refused."""
    classroom = classroom_of()
    lesson = (await classroom.begin("mine")).played
    await lesson.next()
    plays = asyncio.create_task(lesson.next())
    await asyncio.sleep(0)
    with pytest.raises(LessonBusy, match="is playing already"):
        await lesson.next()
    await plays
    assert len(lesson.beats) == 3
    await classroom.close()


async def test_a_step_that_fails_is_told_in_words(tmp_path: Path) -> None:
    """If somebody changes the lab of a lesson so that a step fails, the lesson says in one sentence who changed what, and apart
    from it what it expected. It can go on without the step, and tells no other problem with the same reason."""
    async with lab_with_lessons(tmp_path, classroom_of()) as (_, caller):
        path = await caller.begin("mine")
        await caller.ask("POST", f"{path}/lab/servers/B/stop")
        for _ in range(2):
            state = await caller.ask("POST", f"{path}/next")
        problem = state["beats"][-1]
        assert (state["status"], problem["kind"], len(state["beats"])) == ("waiting", "problem", 3)
        assert problem["text"] == "The lab does not do what the lesson expects here. You stopped B in step 1."
        assert problem["expected"][:2] == [
            "line 15 of the lesson, until",
            "expected a content mail to B within 16 min, by 2003-10-21T00:16:00Z",
        ]
        state = await caller.play_to_end(path)
        assert (state["status"], state["failure"]) == ("finished", None)
        assert [beat["kind"] for beat in state["beats"]] == ["say", "question", "problem", "reveal", "say"]
        assert state["beats_total"] == 5


async def test_a_problem_that_nobody_made_is_told(tmp_path: Path) -> None:
    """A lesson that expects what never happens says so, and that nobody has changed the lab."""
    text = LESSON.replace("on: B, folder: Projects, has: hello", "on: B, folder: Projects, lacks: hello")
    async with lab_with_lessons(tmp_path, classroom_of(text)) as (_, caller):
        state = await caller.play_to_end(await caller.begin("mine"))
    (problem,) = [beat for beat in state["beats"] if beat["kind"] == "problem"]
    assert problem["text"].endswith("Nobody has changed the lab.")


async def test_a_lesson_goes_back_to_an_earlier_text(tmp_path: Path) -> None:
    """A lesson can go back to an earlier text: at the same path, in a new lab that is what the lab was at that text, with the
    answers that were given, and from there to its end. Nothing that was changed in the lab since is left."""
    async with lab_with_lessons(tmp_path, classroom_of()) as (_, caller):
        path = await caller.begin("mine")
        await caller.ask("POST", f"{path}/next")
        before = (await caller.ask("GET", f"{path}/lab"))["history"]
        events = await caller.text(f"{path}/lab/events")
        await caller.ask("POST", f"{path}/next", {"answer": "at once"})
        again = await caller.ask("POST", f"{path}/again", {"text": 2})
        assert [beat["given"] for beat in again["beats"]] == [None, "at once", None]
        assert (again["status"], again["beats"][2]["kind"]) == ("waiting", "reveal")
        await caller.ask("POST", f"{path}/again", {"text": 1})
        assert await caller.text(f"{path}/lab/events") == events
        await caller.ask("POST", f"{path}/lab/servers/B/stop")
        disturbed = await caller.ask("POST", f"{path}/next")
        assert [beat["changes"] for beat in disturbed["beats"]] == [[], ["stopped B"], []]
        again = await caller.ask("POST", f"{path}/again", {"text": 1})
        assert (again["status"], len(again["beats"]), again["beats"][1]["given"]) == ("waiting", 2, "at once")
        assert (await caller.ask("GET", f"{path}/lab"))["history"] != before
        state = await caller.play_to_end(path)
        assert [beat["kind"] for beat in state["beats"]] == ["say", "question", "reveal", "say"]
        assert not any(beat["changes"] for beat in state["beats"])
        assert (await refused(lambda: caller.ask("POST", f"{path}/again", {"text": 9})))[0] == 422


async def test_what_was_changed_before_a_text_is_kept_with_it(tmp_path: Path) -> None:
    """Who stops a server on purpose and goes on can begin a later step again with the server still stopped, or go back to the
    step in which they stopped it. The first text begins the lesson again."""
    async with lab_with_lessons(tmp_path, classroom_of()) as (_, caller):
        path = await caller.begin("mine")

        async def stopped() -> list[str]:
            servers = (await caller.ask("GET", f"{path}/lab"))["servers"]
            return [server["name"] for server in servers if server["status"] != "running"]

        await caller.ask("POST", f"{path}/next")
        await caller.ask("POST", f"{path}/lab/servers/C/stop")
        await caller.ask("POST", f"{path}/next")
        await caller.ask("POST", f"{path}/lab/servers/A/stop")
        again = await caller.ask("POST", f"{path}/again", {"text": 2})
        assert (again["beats"][1]["changes"], again["beats"][2]["changes"]) == (["stopped C"], [])
        assert await stopped() == ["C"]
        await caller.ask("POST", f"{path}/again", {"text": 1})
        assert await stopped() == []
        again = await caller.ask("POST", f"{path}/again", {"text": 0})
        assert (len(again["beats"]), await stopped()) == (1, [])


async def test_a_second_try_that_fails_leaves_the_lesson_and_no_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a lesson cannot go back, its lab stays, and the new one is closed and removed."""
    labs: list[SimulatedLab] = []

    async def fail(self: PlayedLesson) -> None:
        assert isinstance(self._lab, SimulatedLab)
        labs.append(self._lab)
        raise LabError("this lab cannot play")

    classroom = classroom_of()
    first = await classroom.begin("mine")
    monkeypatch.setattr(PlayedLesson, "begin", fail)
    with pytest.raises(LabError, match="cannot play"):
        await classroom.again(first.id, 0)
    (lab,) = labs
    assert not lab.folder.exists()
    with classroom.using(first.id) as still:
        assert still is first
    await classroom.close()


async def test_a_lesson_is_played_again_once_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a lesson is to be played again, at most one lab more than the lessons is open."""
    classroom = classroom_of()
    playing, most = 0, 0
    begin = PlayedLesson.begin

    async def counted(self: PlayedLesson) -> None:
        nonlocal playing, most
        playing, most = playing + 1, max(most, playing + 1)
        await begin(self)
        playing -= 1

    monkeypatch.setattr(PlayedLesson, "begin", counted)
    first = await classroom.begin("mine")
    again = await asyncio.gather(*(classroom.again(first.id, 0) for _ in range(4)))
    assert [each.id for each in again] == [first.id] * 4
    assert most == 1
    assert len(classroom.played("mine")) == 1
    await classroom.close()


async def test_an_ended_lesson_leaves_nothing(tmp_path: Path) -> None:
    """The end of a lesson stops its servers, ends its streams and removes its files."""
    async with lab_with_lessons(tmp_path, classroom := classroom_of()) as (_, caller):
        path = await caller.begin("mine")
        with classroom.using(path.rpartition("/")[2]) as lesson:
            lab = lesson.lab
        assert (lab.folder / STATE).exists()
        with Client(caller.url) as client:
            stream = await asyncio.to_thread(client.ask, "GET", f"{path}/lab/stream?after=0")
            assert await asyncio.to_thread(stream.readline) == b": pflab\n"
            await caller.ask("DELETE", path)
            assert b"node.started" in await asyncio.to_thread(stream.read)
        assert not lab.folder.exists()
        assert not any(map(lab.running, lab.names))
        assert (await refused(lambda: caller.ask("GET", f"{path}/lesson")))[0] == 404


async def test_one_stream_has_the_events_of_several_labs(tmp_path: Path) -> None:
    """A stream of labs has the events of each from where its reader is, under the name of the lab, and says which have
    ended. It counts as use of the lessons."""
    async with lab_with_lessons(tmp_path, classroom := classroom_of()) as (_, caller):
        path = await caller.begin("mine")
        own, of_lesson = [(await caller.ask("GET", f"{each}/lab"))["history"] for each in ("", path)]
        labs = [f"0@{of_lesson}@{path}", "3@gone@/lessons/gone", f"999@{own}@"]
        with Client(caller.url) as client:
            asked = f"/labs/stream?{urlencode({'lab': labs}, doseq=True)}"
            stream = await asyncio.to_thread(client.ask, "GET", asked)
            assert await message(stream) == {"": "pflab"}
            begun = await message(stream)
            assert (begun["id"], begun["event"]) == ("1", f"{of_lesson}@{path}")
            assert msgspec.json.decode(begun["data"])["words"]
            told = [begun]
            while told[-1].get("event") != "ended":
                told.append(await message(stream))
            assert told[-1]["data"] == "gone@/lessons/gone"
            assert [each["id"] for each in told[:-1]] == [str(number) for number in range(1, len(told))]
            with classroom.using(path.rpartition("/")[2]) as lesson:
                assert lesson.requests == 2
            await caller.ask("DELETE", path)
            while told[-1].get("data") != f"{of_lesson}@{path}":
                told.append(await message(stream))
            assert told[-1]["event"] == "ended"
        assert (await refused(lambda: caller.ask("GET", "/labs/stream?lab=1")))[0] == 422


async def message(stream: HTTPResponse) -> dict[str, str]:
    """Return the next message of a stream of server-sent events by fields. A comment has no field's name."""
    fields: dict[str, str] = {}
    while line := (await asyncio.to_thread(stream.readline)).decode().rstrip("\n"):
        name, _, value = line.partition(": ")
        fields[name] = value
    return fields


async def test_a_lesson_that_nobody_uses_ends() -> None:
    """A lesson ends after half an hour without a request. An open stream counts as use."""
    classroom = classroom_of(monotonic=(real := RealTime()))
    left, seen = [(await classroom.begin("mine")).id for _ in range(2)]
    with classroom.using(seen):
        real.now_s = IDLE_S
        await classroom.end_idle()
        with pytest.raises(LessonUnknown), classroom.using(left):
            pass
    real.now_s += IDLE_S - 1
    await classroom.end_idle()
    real.now_s += 1
    with classroom.using(seen):
        pass
    real.now_s += IDLE_S
    await classroom.end_idle()
    with pytest.raises(LessonUnknown), classroom.using(seen):
        pass
    await classroom.close()


async def test_a_lesson_that_ends_meanwhile_does_not_stop_the_classroom_from_closing() -> None:
    """Somebody ends a lesson while the classroom closes: the other lessons end nevertheless."""
    classroom = classroom_of()
    opened = [await classroom.begin("mine") for _ in range(3)]
    closing = asyncio.create_task(classroom.close())
    try:
        await opened[0].ended.wait()
        await classroom.end(opened[1].id)
        await closing
        for each in opened:
            with pytest.raises(LessonUnknown), classroom.using(each.id):
                pass
    finally:
        await classroom.close()


async def test_the_oldest_lesson_makes_room() -> None:
    """At the limit the lesson that was not used for longest ends, but never one that is in use."""
    classroom = classroom_of(most=2, monotonic=(real := RealTime()))
    first = (await classroom.begin("mine")).id
    real.now_s = 1
    second = (await classroom.begin("mine")).id
    real.now_s = 2
    with classroom.using(first):
        third = (await classroom.begin("mine")).id
        with pytest.raises(LessonUnknown), classroom.using(second):
            pass
        with classroom.using(third), pytest.raises(NoRoom, match="2 lessons are in use"):
            await classroom.begin("mine")
    await classroom.close()


def test_folders_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first lesson of a classroom removes the folder of a process that was killed, and no folder that is in use or that no
    lesson made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    used = LessonFolder()
    other = tmp_path / "pflab-lesson-other"
    other.mkdir()
    code = "from pflab.lessons.lesson_folder import LessonFolder as F; f = F(); print(f.path, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        remove_abandoned()
        assert set(tmp_path.iterdir()) == {used.path, other, left}
        process.kill()

    async def begin() -> None:
        classroom = classroom_of()
        await classroom.begin("mine")
        await classroom.close()

    asyncio.run(begin())
    assert set(tmp_path.iterdir()) == {used.path, other}
    used.remove()
    assert set(tmp_path.iterdir()) == {other}


@pytest.mark.parametrize("how", sampled([(), ("--processes",)], 2))
def test_each_lab_of_pflab_up_plays_lessons(how: tuple[str, ...], tmp_path: Path) -> None:
    """A lab plays lessons in its own process, whether its servers are in this process or not."""
    with lab_up(tmp_path, *how) as url, Client(url) as client:
        assert len(client.json("GET", "/lessons")) > 30
        path = client.json("POST", "/lessons", {"name": "status-window"})["path"]
        assert client.json("POST", f"{path}next")["status"] == "waiting"
        assert [each["name"] for each in client.json("GET", f"{path}lab")["servers"]] == ["A", "B"]
        assert client.json("GET", "/lab")["clock"]["now_at"] == "2003-10-21T00:00:00Z"
