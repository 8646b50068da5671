"""What makes a scenario a lesson: plain words at its head, questions on the way, answers once everybody has seen them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from pflab.scenario.values import Part, shown, wrong
from topology.problems import PathItem, Problem

if TYPE_CHECKING:
    from topology.file.yaml_source import YamlSource

MAX_CHOICES = 9
"""So that a learner answers with one digit."""


class Quiz(Part):
    """A question to think about before the lab goes on. `answer` is one of the `choices`; a `reveal` later tells it.

    `because` is the reason, told with the answer.
    """

    ask: str = Field(min_length=1)
    choices: tuple[str, ...] = Field(min_length=2, max_length=MAX_CHOICES)
    answer: str
    because: str = Field(min_length=1)

    @model_validator(mode="after")
    def _answerable(self) -> Self:
        if self.answer not in self.choices:
            raise wrong(
                f"{shown(self.answer)} is no choice; the answer is one of {', '.join(map(shown, self.choices))}"
            )
        if len(set(self.choices)) < len(self.choices):
            raise wrong("two choices are the same; leave one out")
        return self


class LessonCheck:
    """Follows the steps: each question is answered before the next and before the end, and no answer comes unasked."""

    def __init__(self, source: YamlSource) -> None:
        self._source = source
        self._open: Sequence[PathItem] | None = None

    def step(self, verb: str, at: Sequence[PathItem]) -> Iterator[Problem]:
        if verb == "quiz":
            yield from self.end()
            self._open = at
        elif verb == "reveal":
            if self._open is None:
                yield self._source.problem(at, "an answer without a question", "a quiz in a step before it")
            self._open = None

    def end(self) -> Iterator[Problem]:
        """No step comes any more, or another question does."""
        if self._open is not None:
            right = "a reveal in a later step, where the lab has shown it"
            yield self._source.problem(self._open, "a question without an answer", right)
            self._open = None
