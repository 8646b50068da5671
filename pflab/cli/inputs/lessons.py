"""The lessons that a lab serves: the course of pflab, and the lessons of a folder that the user names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from pflab.cli.output import CommandError
from pflab.lessons.classroom import Classroom
from pflab.lessons.routes import extension_of
from pflab.server.extension import Extension

if TYPE_CHECKING:
    from pflab.scenario.load import Scenario

OwnLessons = Annotated[
    Path | None,
    Option("--lessons", metavar="DIR", help="A folder with your own lessons (*.yaml), which the console offers too."),
]


def served_lessons(folder: Path | None) -> Extension:
    """Return what serves the lessons: the course, and then those in the folder, if one is given.

    Raises CommandError with all mistakes in the files of the folder.
    """
    own = {} if folder is None else _own_lessons(folder)

    def lessons() -> Mapping[str, Scenario]:
        from pflab.lessons.course import lessons_of_pflab  # noqa: PLC0415 - the models of steps take long to build

        return {**lessons_of_pflab(), **own}

    return extension_of(Classroom(lessons))


def _own_lessons(folder: Path) -> Mapping[str, Scenario]:
    from pflab.lessons.course import OwnLessonsError, own_lessons  # noqa: PLC0415 - as above

    try:
        return own_lessons(folder)
    except OwnLessonsError as error:
        raise CommandError(*error.lines) from None
