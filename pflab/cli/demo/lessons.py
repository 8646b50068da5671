"""The list of the lessons that come with pflab, as the terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from pflab.lessons.course import FIRST, lessons_of_pflab, minutes_of
from pflab.scenario.lesson import Level

_WIDTH: Final = 80
_INDENT: Final = " " * 4

_LEVEL_NAMES: Final = {
    Level.BASIC: "Basic: how changes travel, and what happens when one is lost",
    Level.ADVANCED: "Advanced: conflicts, deletion, replicas and administration",
    Level.EXPERT: "Expert: how versions choose sources, and failures that last",
}


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
        default = ", the default" * (name == FIRST)
        yield f"{course.number:>3} {name} (about {minutes_of(lesson)} min{default})"
        yield from wrap(f"Learn {course.learn}.", _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
