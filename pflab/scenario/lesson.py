"""The questions of a lesson, and the check that each question is answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from pflab.scenario.values import Part, shown, wrong
from topology.problems import PathItem, Problem, counted

if TYPE_CHECKING:
    from topology.file.yaml_source import YamlSource

MAX_CHOICES = 9
"""The most choices of a question. The learner answers with one digit."""


class Level(StrEnum):
    """How much a lesson of the course expects: nothing, the basic lessons, or the advanced ones."""

    BASIC = "basic"
    ADVANCED = "advanced"
    EXPERT = "expert"


class Course(Part):
    """The place of a lesson in the course, and what a learner learns from it."""

    number: int = Field(ge=1)
    level: Level
    learn: str = Field(min_length=1)


class Quiz(Part):
    """A question that is asked before the lab goes on. `answer` is one of the `choices`, and `because` is its reason. A
    later `reveal` step shows both.
    """

    ask: str = Field(min_length=1)
    choices: tuple[str, ...]
    answer: str
    because: str = Field(min_length=1)

    @model_validator(mode="after")
    def _answerable(self) -> Self:
        if not 2 <= len(self.choices) <= MAX_CHOICES:
            number = counted(len(self.choices), "choice")
            raise wrong(f"a question cannot have {number}; give from 2 to {MAX_CHOICES}")
        if self.answer not in self.choices:
            raise wrong(
                f"{shown(self.answer)} is not one of the choices; the answer is one of {', '.join(map(shown, self.choices))}"
            )
        if len(set(self.choices)) < len(self.choices):
            raise wrong("two choices are the same; leave one out")
        return self


class LessonCheck:
    """Checks that each quiz has a reveal before the next quiz or the end, and that each reveal has a quiz before it."""

    def __init__(self, source: YamlSource) -> None:
        self._source = source
        self._open: Sequence[PathItem] | None = None

    def step(self, verb: str, at: Sequence[PathItem]) -> Iterator[Problem]:
        if verb == "quiz":
            yield from self.end()
            self._open = at
        elif verb == "reveal":
            if self._open is None:
                yield self._source.problem(at, "this answer has no question", "add a quiz in an earlier step")
            self._open = None

    def end(self) -> Iterator[Problem]:
        """Yield a problem if a question is still unanswered, at the end or at the next question."""
        if self._open is not None:
            yield self._source.problem(self._open, "this question has no answer", "add a reveal in a later step")
            self._open = None
