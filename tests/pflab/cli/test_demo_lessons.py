"""Lessons in the terminal: a question waits for a prediction, and the answer says whether it was right."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from pflab.cli.demo.narrator import Narrator
from pflab.cli.demo.play import run_demo
from pflab.lessons.course import lessons_of_pflab
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import Scenario, scenario_from_text
from pflab.scenario.session import Play
from pflab.simulation.simulator import Simulator
from pflab.terms.event_words import roughly
from pflab.terms.verdict import ExitCode
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

LESSON = """\
title: A lesson
topology: one-site.yaml
lesson: What happens.
steps:
  - say: Look.
  - quiz: {ask: Who is asked?, choices: [A, B], answer: B, because: It is near.}
  - reveal: {text: So it is., show: {server: B}, notes: Let them explain it.}
"""


def output_of(scenario: Scenario, lines: Sequence[str], *, ask: bool, notes: bool = False) -> str:
    """Return what a lesson prints for a reader who types these lines."""
    out, typed = io.StringIO(), iter(lines)

    async def read() -> str:
        return next(typed)

    narrator = Narrator(Console(file=out, width=100), ask, read, notes=notes)

    async def play() -> None:
        async with Simulator(scenario.topology, seed=1) as lab:
            for step in scenario.steps:
                await narrator.tell(step, Play(lab))

    asyncio.run(play())
    assert not list(typed), "every line that was typed was waited for"
    return out.getvalue()


@pytest.mark.parametrize(
    ("lines", "seen", "unseen"),
    [
        (["\n", "1\n", "\n"], "Your answer: A", "Your answer is right."),
        (["\n", "7\n", "x\n", "2\n", "\n"], "Your answer is right.", "Your answer:"),
        (["\n", "\n", "\n"], "The answer: B", "Your answer"),
    ],
)
def test_a_prediction_is_waited_for_and_judged(lines: list[str], seen: str, unseen: str) -> None:
    """A number among the choices is a prediction, Enter alone skips it, and any other input is asked again."""
    text = output_of(scenario_from_text(LESSON), lines, ask=True)
    assert "1. A" in text
    assert seen in text
    assert unseen not in text
    assert (
        text.index("Who is asked?") < text.index("So it is.") < text.index("The answer: B") < text.index("It is near.")
    )


def test_headless_does_not_wait() -> None:
    """Without a reader the question and its answer are still printed."""
    text = output_of(scenario_from_text(LESSON), [], ask=False)
    assert "Who is asked?" in text
    assert "The answer: B" in text


@pytest.mark.parametrize("notes", [False, True])
def test_only_a_presenter_sees_the_notes(notes: bool) -> None:
    """Notes are printed on request; what a page highlights is never printed."""
    text = output_of(scenario_from_text(LESSON), [], ask=False, notes=notes)
    assert ("Notes: Let them explain it." in text) == notes
    assert "show" not in text


@pytest.mark.parametrize(
    ("span_us", "output_of"),
    [
        (3 * DAY_US - HOUR_US, "3 lab days"),
        (30 * HOUR_US, "30 lab hours"),
        (6 * HOUR_US, "6 lab hours"),
        (HOUR_US, "1 lab hour"),
        (20 * MINUTE_US, "20 lab minutes"),
    ],
)
def test_the_duration_of_a_lesson_has_a_fitting_unit(span_us: int, output_of: str) -> None:
    """A lesson of some hours is not reported as 0 days."""
    assert roughly(span_us) == output_of


AT_PROMPTS = (
    ("pflab state --server B", "clock"),  # before the post
    (),  # after the post
    (),  # E's mail has not arrived
    ("pflab queue",),  # the first question
    ("pflab explain A-1", "messages --server A"),
    ("pflab backfill --server B", "explain A-1"),  # B knows of the gap
    (),  # the second question
    ("pflab trace --type request", "pflab log --server A"),
    ("pflab events --type loss", "settings"),
    (),  # three days later
    ("pflab explain A-1", "pflab mailbox", "pflab messages show A-1", "pflab nosuch"),  # at the end
)
"""What a reader types at each prompt of the first lesson, before Enter."""


@pytest.mark.long
@pytest.mark.live
def test_all_verbs_work_at_the_prompts_of_a_lesson(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """At each prompt the lab is up, and a line that is a command of pflab shows its present state. explain says what is
    known at that time, and not more."""
    typed = iter([line for lines in AT_PROMPTS for line in (*lines, "")])
    shown = io.StringIO()

    async def read() -> str:
        return next(typed)

    folder = RunFolder.create(tmp_path / "runs", "demo")
    console = Console(file=shown, width=80, height=200)
    assert run_demo(folder, console, seed=1, ask=True, reader=read) == ExitCode.GOOD
    assert next(typed, None) is None, "the reader was asked at each prompt"
    captured = capfd.readouterr()
    assert captured.err == "pflab: No such command 'nosuch'; see pflab --help\n"
    early, middle, end = captured.out.split("Change A-1: 'Hello' in Projects, made on A")[1:]
    assert "B does not have it yet, and has not learned that the change is missing." in early
    assert "E does not have it yet; a mail with it is on the way." in early
    assert "B and E still lack it." in early
    assert "B learns from a status mail of A that it misses the change" in middle
    assert "B still lacks it." in middle
    assert "Every store that holds a replica has it." in end
    assert not (tmp_path / "runs" / "lab.json").exists()


@pytest.mark.live
def test_a_lesson_shows_what_changed_and_fits_a_terminal(tmp_path: Path) -> None:
    """Each step shows its events and the rows of state tables that it changed, in 80 columns and without idle folders."""
    shown = io.StringIO()
    run_demo(RunFolder.create(tmp_path / "runs", "demo"), Console(file=shown, width=80), seed=1, ask=False)
    lines = [line.rstrip() for line in shown.getvalue().partition("Traces, databases")[0].splitlines()]
    assert max(map(len, lines)) <= 80
    known, waits = (
        next(n for n, line in enumerate(lines) if text in line) for text in ("B does not know", "Now B knows")
    )
    assert "C's table of Projects, row of A:  A-1 received" in lines[:known]
    assert not any("B's table" in line for line in lines[:known])
    assert any("B  misses A-1 of Projects" in line for line in lines[known:waits])
    assert "E's table of Projects, row of A:  A-1 received" in lines[known:waits]
    assert not any("Projects/Archive on Server" in line for line in lines)


async def test_a_long_step_is_shown_in_pages() -> None:
    """A reader at a terminal gets a page at a time."""
    out, asked = io.StringIO(), 0

    async def read() -> str:
        nonlocal asked
        asked += 1
        return ""

    await Narrator(Console(file=out, width=80, height=12), True, read).show("\n".join(map(str, range(25))))
    assert asked == 2
    pages = out.getvalue().split("Press Enter for more: ")
    assert [page.split() for page in pages] == [
        [str(n) for n in range(first, min(first + 10, 25))] for first in (0, 10, 20)
    ]


def test_the_lessons_are_a_course() -> None:
    """The lessons are numbered without gaps, from basic to expert; each has what its course needs."""
    lessons = list(lessons_of_pflab().values())
    courses = [each.course for each in lessons if each.course is not None]
    assert [each.number for each in courses] == list(range(1, len(lessons) + 1))
    levels = [list(type(each.level)).index(each.level) for each in courses]
    assert levels == sorted(levels)
    assert all(each.lesson is not None for each in lessons[1:])
