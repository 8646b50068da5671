"""The lessons that a lab serves: the course of pflab, and the lessons of a folder that the user names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from pflab.cli.output import CommandError
from pflab.lessons.classroom import Classroom
from pflab.lessons.routes import extension_of
from pflab.server.extension import Extension

if TYPE_CHECKING:
    from pflab.lessons.course import Lessons

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

    Raises CommandError with all mistakes in the files of the folder.
    """
    return extension_of(Classroom(lessons_in(folder)))


def lessons_in(folder: Path | None) -> Callable[[], Lessons]:
    """Return what returns the lessons: the course, and then those in the folder, if one is given.

    The files of the folder are read at each use, so that a trainer can correct a lesson while the lab is up.

    Raises CommandError with all mistakes in the files of the folder.
    """
    if folder is not None:
        _check_own_lessons(folder)

    def lessons() -> Lessons:
        # The models of steps take long to build, and most labs are not asked for lessons.
        from pflab.lessons.course import Lessons, lessons_of_class, lessons_of_pflab  # noqa: PLC0415

        return Lessons(lessons_of_pflab()) if folder is None else lessons_of_class(lessons_of_pflab(), folder)

    return lessons


def _check_own_lessons(folder: Path) -> None:
    from pflab.lessons.course import OwnLessonsError, lessons_of_class, lessons_of_pflab  # noqa: PLC0415 - as above

    try:
        lessons_of_class(lessons_of_pflab(), folder)
    except OwnLessonsError as error:
        raise CommandError(*error.lines) from None
