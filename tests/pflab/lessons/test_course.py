"""Every lesson of the course, played over HTTP as the console plays it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.lessons.classroom import Classroom
from pflab.lessons.course import Lessons, lessons_of_pflab
from pflab.scenario.lesson import Narration, Quiz
from tests.support.classroom import lab_with_lessons
from tests.support.samples import sampled

LESSONS = lessons_of_pflab()

END_DIFFERENT = {"tombstone-outlived", "equal-not-enough", "reissued-counters"}
"""The lessons that end with stores that disagree, or have lost a change, because they teach how this happens."""


@pytest.mark.live
@pytest.mark.parametrize("name", sampled(LESSONS, 6))
async def test_each_lesson_plays_to_its_end(name: str, tmp_path: Path) -> None:
    """Each lesson tells all its texts, reveals each question, and ends with the verdict that it teaches."""
    async with lab_with_lessons(tmp_path, Classroom(lambda: Lessons(LESSONS))) as (_, caller):
        state = await caller.play_to_end(await caller.begin(name))
    assert state["failure"] is None
    assert state["status"] == "finished"
    beats = state["beats"]
    assert len(beats) == state["beats_total"] > 0
    assert [beat["index"] for beat in beats] == list(range(len(beats)))
    assert [beat["seq"] for beat in beats] == sorted(beat["seq"] for beat in beats)
    assert [beat["at"] for beat in beats] == sorted(beat["at"] for beat in beats)
    revealed = [beat["question"] for beat in beats if beat["kind"] == "reveal"]
    assert revealed == [beat["index"] for beat in beats if beat["kind"] == "question"]
    assert all(beat["answer"] in beat["choices"] and beat["because"] for beat in beats if beat["kind"] == "question")
    shown = [beat["highlight"] for beat in beats if beat["highlight"] is not None]
    assert all(each["mail"] is None or each["mail"]["id"] for each in shown), "a mail that is shown was sent"
    assert all(each["message"] is None or each["message"]["numbers"] for each in shown)
    assert state["verdict"]["judgement"] == ("not converged" if name in END_DIFFERENT else "converged")


def test_each_lesson_asks_a_question() -> None:
    """A lesson lets learners predict what will happen. The first lesson has ten texts with two questions."""
    verbs = {name: [step.verb for step in lesson.steps] for name, lesson in LESSONS.items()}
    assert [name for name in LESSONS if "quiz" not in verbs[name]] == []
    first = [verb for verb in verbs["lost-mail"] if verb in {"say", "quiz", "reveal"}]
    assert (len(first), first.count("quiz")) == (10, 2)


@pytest.mark.parametrize("name", LESSONS)
def test_a_presenter_has_notes_and_a_page_knows_what_to_show(name: str) -> None:
    """Each text and each question of the course has notes, and says what to look at."""
    told = [step.args for step in LESSONS[name].steps if isinstance(step.args, Narration | Quiz)]
    assert [each for each in told if not (each.notes and each.show)] == []
