"""Lessons in the terminal: a question waits for a prediction, and the answer says whether it was right."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from pflab.cli.demo import Narrator
from pflab.scenario.load import Scenario, scenario_from_text
from pflab.terms.event_words import roughly
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

LESSON = """\
title: A lesson
topology: one-site.yaml
lesson: What happens.
steps:
  - say: Look.
  - quiz: {ask: Who is asked?, choices: [A, B], answer: B, because: It is near.}
  - reveal: So it is.
"""


def output_of(scenario: Scenario, lines: Sequence[str], *, ask: bool) -> str:
    """Return what a lesson prints for a reader who types these lines."""
    out, typed = io.StringIO(), iter(lines)

    async def read() -> str:
        return next(typed)

    narrator = Narrator(Console(file=out, width=100), ask, read)

    async def play() -> None:
        for step in scenario.steps:
            await narrator.tell(step, scenario.topology.start_at)

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
