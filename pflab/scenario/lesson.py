"""The texts and questions of a lesson, what a page highlights meanwhile, and the check that each question is answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from pflab.scenario.values import MailType, Names, Part, shown, wrong
from topology.problems import PathItem, Problem, counted

if TYPE_CHECKING:
    from topology.file.yaml_source import YamlSource

MAX_CHOICES = 9
"""The largest number of choices of a question. The learner answers with one digit."""


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


class ShownMail(Part):
    """The newest mail of this kind: its type, the stores that sent and get it, and a folder that it is about."""

    type: MailType
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    folder: str | None = None


class Show(Part):
    """What a page highlights while a text is shown. The terminal ignores it.

    view: the view to show.
    server, connector, folder: by their names.
    table: a table of one server, of the folder if one is given.
    row: the server whose row of the state table is meant.
    message: the `as` of an earlier step.
    """

    at_least_one: ClassVar = ("view", "server", "connector", "folder", "message", "mail")

    view: Literal["map", "matrix", "diagram", "folders"] | None = None
    server: Names | None = None
    connector: Names | None = None
    folder: str | None = None
    table: Literal["state", "backfill", "queue", "messages", "log", "settings"] | None = None
    row: str | None = None
    message: str | None = None
    mail: ShownMail | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.table is not None and (self.server is None or len(self.server) > 1):
            raise wrong(
                '"table" is about one server; give "server", such as {server: A, table: state, folder: Projects}'
            )
        if self.table in {"state", "messages"} and self.folder is None:
            raise wrong(f'the table "{self.table}" is about a folder; give "folder", such as folder: Projects')
        if self.row is not None and self.table != "state":
            raise wrong('"row" is allowed only together with table: state')
        return self


class Narration(Part):
    """A text for learners. A text alone is the same as a mapping with only `text`.

    show: what a page highlights meanwhile.
    notes: what only the presenter sees.
    """

    text: str = Field(min_length=1)
    show: Show | None = None
    notes: str | None = Field(None, min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"text": value}
        if not isinstance(value, dict):
            raise wrong(f"{shown(value)} is not a text; write a text, or a mapping with the keys text, show and notes")
        return value

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string", "minLength": 1}, handler(schema)]}


class Quiz(Part):
    """A question that is asked before the lab goes on. `answer` is one of the `choices`, and `because` is its reason. A
    later `reveal` step shows both. `show` and `notes` are as in a text.
    """

    ask: str = Field(min_length=1)
    choices: tuple[str, ...]
    answer: str
    because: str = Field(min_length=1)
    show: Show | None = None
    notes: str | None = Field(None, min_length=1)

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
