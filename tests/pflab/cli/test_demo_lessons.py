"""Lessons in the terminal: a question waits for a prediction, an answer tells whether it was right."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from pflab.cli.demo import Narrator
from pflab.scenario.load import Scenario, scenario_from_text
from pflab.terms.lexicon import roughly
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


def told(scenario: Scenario, lines: Sequence[str], *, ask: bool) -> str:
    """What the reader of a lesson sees who types these lines."""
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
    """A number among the choices is a prediction, Enter alone is none, anything else is asked again."""
    text = told(scenario_from_text(LESSON), lines, ask=True)
    assert "1. A" in text
    assert seen in text
    assert unseen not in text
    assert (
        text.index("Who is asked?") < text.index("So it is.") < text.index("The answer: B") < text.index("It is near.")
    )


def test_headless_nobody_is_waited_for() -> None:
    """Without a reader the question and its answer are told all the same."""
    text = told(scenario_from_text(LESSON), [], ask=False)
    assert "Who is asked?" in text
    assert "The answer: B" in text


@pytest.mark.parametrize(
    ("span_us", "told"),
    [
        (3 * DAY_US - HOUR_US, "3 lab days"),
        (30 * HOUR_US, "30 lab hours"),
        (6 * HOUR_US, "6 lab hours"),
        (HOUR_US, "1 lab hour"),
        (20 * MINUTE_US, "20 lab minutes"),
    ],
)
def test_how_long_a_lesson_took_is_told_in_what_it_took(span_us: int, told: str) -> None:
    """A lesson of some hours did not take no days."""
    assert roughly(span_us) == told
