"""The lessons that come with pflab, in the order of the course."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Final

from pflab.scenario.lesson import Level, Quiz
from pflab.scenario.load import Scenario, files_of_course, load_scenario

LESSON: Final = "lost-mail.yaml"
"""The lesson of `pflab demo` alone, the first of the course."""

WORDS_A_MINUTE: Final = 120
"""How fast a learner reads (decision): slower than a novel, because the texts are dense."""

STEPS_A_MINUTE: Final = 2
"""How many texts a learner takes in in a minute, with the lines that show what has changed (decision)."""

_WIDTH: Final = 80
_INDENT: Final = " " * 4

_LEVEL_NAMES: Final = {
    Level.BASIC: "Basic: how changes travel, and what happens when one is lost",
    Level.ADVANCED: "Advanced: conflicts, deletion, replicas and administration",
    Level.EXPERT: "Expert: how versions choose sources, and failures that last",
}


def lessons_of_pflab() -> dict[str, Scenario]:
    """Return the lessons that come with pflab by their names, in the order of the course."""
    found = {path.stem: load_scenario(path) for path in files_of_course()}
    lessons = [(each.course.number, name) for name, each in found.items() if each.course is not None]
    return {name: found[name] for _, name in sorted(lessons)}


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
        elif step.verb in ("say", "reveal"):
            texts.append(step.args)
    words = sum(len(text.split()) for text in texts)
    return math.ceil(words / WORDS_A_MINUTE + len(texts) / STEPS_A_MINUTE)


def course_lines() -> Iterator[str]:
    """Yield the list of lessons: by level, each with its number, its name, its minutes, and what a learner learns."""
    level = None
    for name, lesson in lessons_of_pflab().items():
        course = lesson.course
        assert course is not None, "lessons_of_pflab returns only lessons of the course"
        if course.level is not level:
            if level is not None:
                yield ""
            level = course.level
            yield _LEVEL_NAMES[level]
        default = ", the default" * (name == Path(LESSON).stem)
        yield f"{course.number:>3} {name} (about {minutes_of(lesson)} min{default})"
        yield from wrap(f"Learn {course.learn}.", _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
