"""The verb `demo`: a guided lesson in a live lab."""

from __future__ import annotations

import os
import subprocess
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Final

from typer import Option

from pflab.cli.demo.lessons import course_lines
from pflab.cli.demo.play import WORST_LAST, run_demo
from pflab.cli.doctor.extras import how_to_install
from pflab.cli.inputs.by_name import scenario_file
from pflab.cli.inputs.files import own_name
from pflab.cli.judging.engines import can_judge
from pflab.cli.lab_options import run_folder
from pflab.cli.options import DEFAULT_SEED, seed_option
from pflab.cli.output import CommandError, page, print_lines
from pflab.cli.verbs.scenario import load_all
from pflab.lessons.course import lesson_numbered, lessons_of_pflab
from pflab.runs.run_folder import RunFolder
from pflab.terms.verdict import ExitCode
from topology.problems import quoted


def demo(
    headless: Annotated[bool, Option("--headless", help="Ask no questions, and do not wait for Enter.")] = False,
    lesson: Annotated[
        str | None,
        Option(metavar="NUMBER|NAME", help="Play another lesson: its number or name in --lessons, or a scenario file."),
    ] = None,
    lessons: Annotated[bool, Option("--lessons", "--list", help="Print the lessons of the course and exit.")] = False,
    notes: Annotated[bool, Option("--notes", help="Print the presenter's notes too.")] = False,
    seed: Annotated[int, seed_option("The seed for GUIDs and keys.")] = DEFAULT_SEED,
    skip_check: Annotated[bool, Option("--skip-check", help="Do not check the traces at the end.")] = False,
) -> int:
    """Play a guided lesson in a live lab: a mail is lost, and its change comes back.

    --lesson plays another lesson. A lesson asks what will happen, and then shows it. It waits for Enter after each step.
    There you can type commands, such as pflab state; the verbs also work in another terminal in this folder. If
    the extra `analytics` is installed, the traces of the default lesson are checked at the end.

    Example: pflab demo --headless
    """
    if lessons:
        print_lines(list(course_lines()))
        return ExitCode.GOOD
    chosen = None
    if lesson is not None:
        chosen = load_all([known_lesson(lesson)])[0]
        if not chosen.live:
            raise CommandError(
                f"--lesson {lesson}: this lesson can only be simulated; play it in the console, which does so"
            )
    folder = run_folder("demo", None, simulate=False, keep_mails=True)
    assert folder is not None, "a live run always has a folder"
    ask = not headless and page.is_terminal and sys.stdin.isatty()
    code = run_demo(folder, page, seed=seed, ask=ask, command=own_name(), lesson=chosen, notes=notes)
    if chosen is not None:  # some lessons end with stores that still disagree
        print_lines([f"pflab check {folder.path} judges its traces."], style="dim")
        return code
    if skip_check:
        return code
    checked = _checked(folder)
    return max(code, checked, key=WORST_LAST.index) if checked in WORST_LAST else checked


def known_lesson(lesson: str) -> str:
    """Return the name of a lesson that was given by its number or name, or the given file.

    Raises CommandError for a number or name that no lesson and no scenario has.
    """
    lessons = lessons_of_pflab()
    name = lesson_numbered(lesson, lessons)
    path = scenario_file(name)
    if path.exists() or path != Path(path.stem):
        return name
    near = get_close_matches(name, lessons, n=1)
    hint = (
        f"did you mean {quoted(near[0])}? pflab demo --lessons lists all lessons"
        if near
        else f"there are {len(lessons)}, and pflab demo --lessons lists them"
    )
    raise CommandError(f"--lesson {lesson}: no such lesson; {hint}")


_CHECKED_WITHIN_S: Final = 300


def _checked(folder: RunFolder) -> int:
    """Print the verdict from the traces, or what to install, and return an exit code."""
    if not can_judge():
        how = how_to_install("analytics")
        print_lines(["", f"pflab check would judge the traces alone, without a look into the stores. For that, {how}"])
        return ExitCode.GOOD
    print_lines(["", "The verdict, from the traces alone (pflab check):"], style="bold")
    command = [sys.executable, "-c", "from pflab.cli import main; main()", "check", str(folder.path)]
    try:
        check = subprocess.run(
            command,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=_CHECKED_WITHIN_S,
        )
    except subprocess.TimeoutExpired:
        print_lines([f"There was no verdict within {_CHECKED_WITHIN_S} s"])
        return ExitCode.UNKNOWN
    print_lines(check.stdout.splitlines())
    if not check.stdout:
        print_lines(check.stderr.splitlines())
    return check.returncode
