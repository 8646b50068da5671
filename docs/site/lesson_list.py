"""The page of the lessons: what each teaches, from the course."""

from __future__ import annotations

from itertools import groupby

from pflab.lessons.course import Lessons, lessons_of_pflab, minutes_of

HEAD = """# The lessons

The course of pflab, in its order. `pflab demo --lesson NAME` plays a lesson in the terminal, and every console has them in its
list. [Lessons for training](../how-to/lessons.md) says how to teach with them, and how to write your own. Minutes say how long
a learner reads.
"""


def render() -> str:
    """Return the page."""
    course = Lessons(lessons_of_pflab())
    parts = [HEAD]
    for level, names in groupby(course.by_name, course.heading):
        parts.append(f"\n## {level}\n\n| number | name | min | what you learn |\n|---|---|---|---|\n")
        for name in names:
            lesson = course.by_name[name]
            learn = lesson.course.learn if lesson.course else ""
            link = f"[{name}](../../scenarios/{name}.yaml)"
            parts.append(f"| {course.number(name)} | {link} | {minutes_of(lesson)} | {learn} |\n")
    return "".join(parts)
