"""Lessons of a trainer's own: the page that says how to write them, and the folder in which a lab finds them."""

from __future__ import annotations

import re
from http import HTTPStatus
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.client import Client, ClientError
from pflab.lessons.classroom import Classroom
from pflab.lessons.course import CourseFile, OwnLessonsError, lessons_of_class, lessons_of_pflab, own_lessons
from pflab.scenario.lesson import Course, Narration, Quiz, Show, ShownMail
from pflab.terms.verdict import ExitCode
from tests.support.classroom import lab_with_lessons
from tests.support.running_lab import lab_up

LEAST = "title: Mine\ntopology: one-site.yaml\nsteps:\n  - say: Look.\n"


@pytest.fixture(scope="module")
def page(project_root: Path) -> str:
    return (project_root / "docs" / "how-to" / "lessons.md").read_text("utf-8")


@pytest.fixture
def examples(page: str) -> list[str]:
    """Return the examples of the page: a lesson and a course."""
    found = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(found) == 2
    return found


@pytest.fixture
def folder(examples: list[str], tmp_path: Path) -> Path:
    """Return a folder with the lesson of the page."""
    place = tmp_path / "my-lessons"
    place.mkdir()
    (place / "post-by-mail.yaml").write_text(examples[0], "utf-8")
    return place


@pytest.mark.live
async def test_the_lesson_of_the_page_plays_to_its_end(folder: Path, tmp_path: Path) -> None:
    """The example of docs/how-to/lessons.md is a correct lesson, and uses notes, a question and pictures."""
    async with lab_with_lessons(tmp_path / "own", Classroom(lambda: lessons_of_class({}, folder))) as (_, caller):
        state = await caller.play_to_end(await caller.begin("post-by-mail"))
    assert (state["status"], state["failure"]) == ("finished", None)
    assert state["verdict"]["judgement"] == "converged"
    assert [beat["kind"] for beat in state["beats"]] == ["say", "question", "reveal"]
    assert state["beats"][-1]["highlight"]["mail"]["id"]


@pytest.mark.live
async def test_a_lesson_that_can_only_be_simulated_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The console simulates the labs of lessons, so `live: false` is no hindrance there. The terminal refuses it in a line."""
    place = tmp_path / "lessons"
    place.mkdir()
    (place / "mine.yaml").write_text(LEAST + "live: false\n", "utf-8")
    async with lab_with_lessons(tmp_path / "own", Classroom(lambda: lessons_of_class({}, place))) as (_, caller):
        assert (await caller.play_to_end(await caller.begin("mine")))["status"] == "finished"
    monkeypatch.chdir(tmp_path)
    assert run(["demo", "--headless", "--lesson", "lessons/mine.yaml"]) == ExitCode.UNKNOWN
    assert "can only be simulated; play it in the console" in capsys.readouterr().err


def test_the_page_names_every_key(page: str) -> None:
    """The tables of the page have each key of texts, questions, pictures and the course."""
    for model in (Course, CourseFile, Narration, Quiz, Show, ShownMail):
        keys = [field.alias or name for name, field in model.model_fields.items()]
        assert [key for key in keys if f"`{key}`" not in page] == [], model.__name__


@pytest.mark.parametrize(
    ("name", "text", "mistake"),
    [
        ("mine", LEAST.replace("say", "sya"), 'mine.yaml:4:5: steps[0].sya: "sya" is not a verb; did you mean "say"?'),
        ("lost-mail", LEAST, 'lost-mail.yaml: pflab has a lesson "lost-mail"; rename the file'),
        (
            "z-mine",
            LEAST + "course: {number: 1, level: basic, learn: much}\n",
            "z-mine.yaml: post-by-mail.yaml has the number 1 too; take another one",
        ),
        ("mine", LEAST.replace("say: Look.", "advance: 1 h"), "mine.yaml: has no text and no question; add a say"),
    ],
)
def test_each_mistake_in_a_folder_is_told(name: str, text: str, mistake: str, folder: Path) -> None:
    """A folder with a wrong file is refused, and the mistake is one line with the name of the file."""
    (folder / f"{name}.yaml").write_text(text, "utf-8")
    with pytest.raises(OwnLessonsError) as caught:
        own_lessons(folder)
    (line,) = caught.value.lines
    assert line.startswith(f"{folder}/{mistake}")


def test_a_folder_without_lessons_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong folder is named before a lab starts."""
    assert run(["up", "--port", "0", "--lessons", str(tmp_path / "none")]) == ExitCode.UNKNOWN
    assert "none: no lessons; name a folder that has lessons, files such as my-lesson.yaml" in capsys.readouterr().err
    with pytest.raises(OwnLessonsError, match="can be read"):
        (tmp_path / "x.yaml").mkdir()
        own_lessons(tmp_path)


@pytest.mark.live
def test_a_lab_lists_own_lessons_after_its_own(folder: Path, tmp_path: Path) -> None:
    """pflab up --lessons serves the lessons of the folder after those of pflab. One needs no place in the course."""
    (folder / "mine.yaml").write_text(LEAST, "utf-8")
    with lab_up(tmp_path, "--lessons", str(folder)) as url, Client(url) as client:
        *course, mine, mail = client.json("GET", "/lessons")
        assert course[0]["name"] == "lost-mail"
        assert (mine["name"], mine["number"], mine["level"]) == ("mine", None, None)
        assert (mail["name"], mail["number"], mail["level"]) == ("post-by-mail", 1, "basic")
        path = client.json("POST", "/lessons", {"name": "mine"})["path"]
        assert client.json("POST", f"{path}next")["status"] == "finished"


def test_a_class_sees_a_course_of_the_trainers_own(examples: list[str], folder: Path) -> None:
    """The course of the page selects lessons of pflab and own ones, in an order of its own. Their places are their numbers."""
    (folder / "course.yaml").write_text(examples[1], "utf-8")
    lessons = lessons_of_class(lessons_of_pflab(), folder)
    assert [(lessons.number(name), name, lessons.heading(name)) for name in lessons.by_name] == [
        (1, "post-by-mail", "A morning about public folders"),
        (2, "conflict", "A morning about public folders"),
        (3, "lost-mail", "A morning about public folders"),
    ]


def test_a_course_needs_no_lessons_of_ones_own(tmp_path: Path) -> None:
    """A folder may have a course of pflab's lessons only."""
    (tmp_path / "course.yaml").write_text("title: Two\nlessons: [conflict, lost-mail]\n", "utf-8")
    assert [*lessons_of_class(lessons_of_pflab(), tmp_path).by_name] == ["conflict", "lost-mail"]


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("", [":1:1: "]),
        ("title: Two\nlessons: []\n", [':2:10: lessons: "[]" is empty; write at least one entry']),
        (
            "title: Two\nlessons:\n  - conflit\n  - conflict\n  - conflict\n",
            [
                ':3:5: lessons[0]: "conflit" is not a lesson; did you mean "conflict"?',
                ':5:5: lessons[2]: "conflict" is there twice; name each lesson once',
            ],
        ),
        ("title: [\n", [":2:1: "]),
        (
            "lessons: [conflict]\nname: x\n",
            [':1:1: "title" is missing; the keys are title, lessons', ':2:1: name: "name" is not a key here'],
        ),
    ],
)
def test_each_mistake_in_a_course_is_told(text: str, mistakes: list[str], tmp_path: Path) -> None:
    """All mistakes of a course are told with their lines, and what would be right."""
    (tmp_path / "course.yaml").write_text(text, "utf-8")
    with pytest.raises(OwnLessonsError) as caught:
        lessons_of_class(lessons_of_pflab(), tmp_path)
    for line, mistake in zip(caught.value.lines, mistakes, strict=True):
        assert line.startswith(f"{tmp_path}/course.yaml{mistake}"), line


@pytest.mark.live
async def test_a_corrected_file_is_read_at_the_next_begin(folder: Path, tmp_path: Path) -> None:
    """A trainer who corrects a text begins the lesson again, and the lab need not be started again. A mistake is told with its
    line until it is corrected."""
    mine = folder / "mine.yaml"
    mine.write_text(LEAST, "utf-8")
    async with lab_with_lessons(tmp_path / "own", Classroom(lambda: lessons_of_class({}, folder))) as (_, caller):
        path = await caller.begin("mine")
        mine.write_text(LEAST.replace("Look.", "Look here."), "utf-8")
        assert (await caller.ask("GET", f"{path}/lesson"))["beats"][0]["text"] == "Look."
        assert (await caller.ask("POST", f"{path}/again", {"text": 0}))["beats"][0]["text"] == "Look here."
        mine.write_text(LEAST.replace("say", "sya"), "utf-8")
        with pytest.raises(ClientError, match=r"mine\.yaml:4:5: .* did you mean") as caught:
            await caller.begin("mine")
        assert caught.value.status == HTTPStatus.CONFLICT
