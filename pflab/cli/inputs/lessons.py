"""The lessons that a lab serves: the course of pflab, and the lessons of a folder that the user names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from pflab.cli.output import CommandError
from pflab.lessons.classroom import Classroom
from pflab.lessons.routes import extension_of
from pflab.server.extension import Extension

if TYPE_CHECKING:
    from pflab.lessons.course import Lessons
    from pflab.scenario.load import Scenario

OwnLessons = Annotated[
    Path | None,
    Option(
        "--lessons",
        metavar="DIR",
        help="A folder with your own lessons (*.yaml), which the console offers too, and maybe your course (course.yaml).",
    ),
]


def served_lessons(folder: Path | None) -> Extension:
    """Return what serves the lessons: the course, and then those in the folder, if one is given.

    The files of the folder are read at each use, so that a trainer can correct a lesson while the lab is up.

    Raises CommandError with all mistakes in the files of the folder.
    """
    if folder is not None:
        _check_own_lessons(folder)

    @cache
    def course() -> Mapping[str, Scenario]:
        from pflab.lessons.course import lessons_of_pflab  # noqa: PLC0415 - the models of steps take long to build

        return lessons_of_pflab()

    def lessons() -> Lessons:
        from pflab.lessons.course import Lessons, lessons_of_class  # noqa: PLC0415 - as above

        return Lessons(course()) if folder is None else lessons_of_class(course(), folder)

    return extension_of(Classroom(lessons))


def _check_own_lessons(folder: Path) -> None:
    from pflab.lessons.course import OwnLessonsError, lessons_of_class, lessons_of_pflab  # noqa: PLC0415 - as above

    try:
        lessons_of_class(lessons_of_pflab(), folder)
    except OwnLessonsError as error:
        raise CommandError(*error.lines) from None
