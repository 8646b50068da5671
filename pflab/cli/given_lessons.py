"""The lessons that a lab serves: the course of pflab, and the lessons of a folder that the user names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from pflab.cli.output import CommandError
from pflab.lessons.classroom import Classroom
from pflab.lessons.course import OwnLessonsError, lessons_of_pflab, own_lessons
from pflab.lessons.routes import extension_of
from pflab.server.extension import Extension

OwnLessons = Annotated[
    Path | None,
    Option("--lessons", metavar="DIR", help="A folder with lessons of your own (*.yaml), played in the browser."),
]


def served_lessons(folder: Path | None) -> Extension:
    """Return what serves the lessons: the course, and then those in the folder, if one is given.

    Raises CommandError with all mistakes in the files of the folder.
    """
    try:
        own = {} if folder is None else own_lessons(folder)
    except OwnLessonsError as error:
        raise CommandError(*error.lines) from None
    return extension_of(Classroom(lambda: {**lessons_of_pflab(), **own}))
