"""The course: the lessons that come with pflab, in their order, lessons of a trainer's own, and a trainer's own course.

A folder of own lessons may have a file `course.yaml`. It names the lessons that a class sees, own ones and those of pflab, in
its order; their numbers are their places. Without this file a class sees all lessons of pflab and then those of the folder.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pydantic import Field, ValidationError

from pflab.errors import LabError
from pflab.home import SCENARIOS_OF_PFLAB
from pflab.scenario.lesson import Narration, Quiz
from pflab.scenario.load import Scenario, ScenarioError, files_of_course, load_scenario
from pflab.scenario.problems import problems_of
from pflab.scenario.values import Part
from topology.file.examples import EXAMPLES
from topology.file.load import load_topology
from topology.file.yaml_source import read_text, read_yaml
from topology.problems import did_you_mean, quoted

FIRST: Final = "lost-mail"
"""The first lesson of the course. As a lesson it plays in the default lab, which has three sites."""

WORDS_A_MINUTE: Final = 120
"""How fast a learner reads (decision): slower than a novel, because the texts are dense."""

STEPS_A_MINUTE: Final = 2
"""How many texts a learner reads in a minute, with the lines that show what has changed (decision)."""


COURSE_FILE: Final = "course.yaml"

OWN: Final = "Own lessons"
"""The heading of a trainer's own lessons in the list of lessons."""


class CourseFile(Part):
    """A trainer's own course.

    title: its heading in the list of lessons.
    lessons: the names of lessons, in their order.
    """

    title: str = Field(min_length=1)
    lessons: tuple[str, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Lessons:
    """The lessons that a class sees, by their names and in their order.

    title: of a trainer's own course; "" if there is none.
    """

    by_name: Mapping[str, Scenario]
    title: str = ""

    def number(self, name: str) -> int | None:
        """Return the number of a lesson in its course."""
        if self.title:
            return [*self.by_name].index(name) + 1
        course = self.by_name[name].course
        return None if course is None else course.number

    def heading(self, name: str) -> str:
        """Return the heading under which a lesson is listed."""
        course = self.by_name[name].course
        return self.title or (OWN if course is None or is_own(name) else course.level.value.capitalize())


@cache
def lessons_of_pflab() -> Mapping[str, Scenario]:
    """Return the lessons that come with pflab by their names, in the order of the course. They are read once."""
    found = {path.stem: load_scenario(path) for path in files_of_course()}
    lessons = [(each.course.number, name) for name, each in found.items() if each.course is not None]
    found[FIRST] = first_lesson()
    return MappingProxyType({name: found[name] for _, name in sorted(lessons)})


def first_lesson() -> Scenario:
    """Return the first lesson of the course, in the default lab."""
    lesson = load_scenario(SCENARIOS_OF_PFLAB / f"{FIRST}.yaml")
    return replace(lesson, topology=load_topology(EXAMPLES / "default.yaml"))


class OwnLessonsError(LabError):
    """The files of own lessons have mistakes: all of them, one line each in `lines`."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


def lessons_of_class(pflabs: Mapping[str, Scenario], folder: Path) -> Lessons:
    """Return the lessons that a class sees.

    pflabs: the lessons of pflab.
    folder: has own lessons, and maybe a course.

    Raises OwnLessonsError with all mistakes in the files of the folder.
    """
    lessons = {**pflabs, **own_lessons(folder)}
    path = folder / COURSE_FILE
    if not path.exists():
        return Lessons(lessons)
    try:
        course = _course_in(path, lessons)
    except ScenarioError as error:
        raise OwnLessonsError(error.lines) from None
    return Lessons({name: lessons[name] for name in course.lessons}, course.title)


def _course_in(path: Path, lessons: Mapping[str, Scenario]) -> CourseFile:
    """Return the course in a file. Raises ScenarioError with all mistakes in it."""
    source = read_yaml(read_text(path, ScenarioError), str(path))
    if source.problems:
        raise ScenarioError(source.problems)
    try:
        course = CourseFile.model_validate(source.data)
    except ValidationError as error:
        raise ScenarioError([*problems_of(error, CourseFile, source)]) from None
    wrong = [
        source.problem(("lessons", place), *mistake)
        for place, name in enumerate(course.lessons)
        for mistake in _mistakes(name, course.lessons[:place], lessons)
    ]
    if wrong:
        raise ScenarioError(wrong)
    return course


def _mistakes(name: str, before: Sequence[str], lessons: Mapping[str, Scenario]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a lesson of a course, and what would be right."""
    if name not in lessons:
        yield f"{quoted(name)} is not a lesson", did_you_mean(name, lessons)
    elif name in before:
        yield f"{quoted(name)} is there twice", "name each lesson once"


def own_lessons(folder: Path) -> dict[str, Scenario]:
    """Return the lessons in a folder, its files *.yaml but the course, by their names without the ending.

    Their numbers are independent of those of pflab's lessons. Raises OwnLessonsError if a file has mistakes, cannot be played
    as a lesson, has the name of a lesson of pflab, or the number of another file.
    """
    lessons: dict[str, Scenario] = {}
    wrong: list[str] = []
    taken = {path.stem for path in files_of_course()}
    files = [path for path in sorted(folder.glob("*.yaml")) if path.name != COURSE_FILE]
    if not files and not (folder / COURSE_FILE).exists():
        wrong.append(f"{folder}: no lessons; name a folder that has lessons, files such as my-lesson.yaml")
    for path in files:
        try:
            lesson = load_scenario(path)
        except ScenarioError as error:
            wrong += error.lines
            continue
        except OSError as error:
            wrong.append(
                f"{path}: {(error.strerror or str(error)).lower()}; every *.yaml must be a file that can be read"
            )
            continue
        if path.stem in taken:
            wrong.append(f"{path}: pflab has a lesson {quoted(path.stem)}; rename the file")
        if not any(isinstance(step.args, Narration | Quiz) for step in lesson.steps):
            wrong.append(f"{path}: has no text and no question; add a say, for example")
        same = [
            name
            for name, each in lessons.items()
            if lesson.course and each.course and each.course.number == lesson.course.number
        ]
        if same and lesson.course:
            wrong.append(f"{path}: {same[0]}.yaml has the number {lesson.course.number} too; take another one")
        lessons[path.stem] = lesson
    if wrong:
        raise OwnLessonsError(wrong)
    return lessons


def is_own(name: str) -> bool:
    """Return whether a lesson is a trainer's own, and not one of pflab's."""
    return name not in {path.stem for path in files_of_course()}


def lesson_numbered(given: str, lessons: Mapping[str, Scenario]) -> str:
    """Return the name of the lesson with this number in the course. A text that is not such a number is returned as it is."""
    by_number = {str(each.course.number): name for name, each in lessons.items() if each.course is not None}
    return by_number.get(given, given)


def minutes_of(lesson: Scenario) -> int:
    """Return about how many minutes a learner needs to read the lesson and to answer its questions."""
    texts = [lesson.lesson or ""]
    for step in lesson.steps:
        if isinstance(step.args, Quiz):
            texts += [step.args.ask, *step.args.choices, step.args.because]
        elif isinstance(step.args, Narration):
            texts.append(step.args.text)
    words = sum(len(text.split()) for text in texts)
    return math.ceil(words / WORDS_A_MINUTE + len(texts) / STEPS_A_MINUTE)
