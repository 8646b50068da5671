"""The verb `demo`: the default lab and a guided lesson."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated, Final

import typer

from pflab.cli.demo import run_demo
from pflab.cli.lab_options import own_name, run_folder
from pflab.cli.options import DEFAULT_SEED
from pflab.cli.output import page, print_lines
from pflab.cli.verbs.scenario import load_all
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import SHIPPED, load_scenario
from pflab.terms.verdict import ExitCode


def demo(
    headless: Annotated[bool, typer.Option("--headless", help="Ask nothing and wait for nobody.")] = False,
    lesson: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Another lesson: a scenario file, or the name of one of pflab's."),
    ] = None,
    lessons: Annotated[bool, typer.Option("--lessons", help="List the lessons and play none.")] = False,
    seed: Annotated[int, typer.Option(help="Fixes GUIDs and keys.")] = DEFAULT_SEED,
    skip_check: Annotated[
        bool, typer.Option("--skip-check", help="Leave out the verdict from the traces at the end.")
    ] = False,
) -> int:
    """The default lab, live, and a guided lesson: a mail is lost, and comes back.

    With --lesson another one. Lessons ask what will happen before they show it. One takes less than half a minute, and
    where Java is there as much again for the verdict that Spark gives from the traces.

    Example: pflab demo --headless
    """
    if lessons:
        return _list_lessons()
    chosen = None if lesson is None else load_all([lesson])[0]
    folder = run_folder("demo", None, simulate=False, keep_mails=True)
    assert folder is not None, "a live run always has a folder"
    ask = not headless and page.is_terminal and sys.stdin.isatty()
    code = run_demo(folder, page, seed=seed, ask=ask, command=own_name(), lesson=chosen)
    if chosen is not None:  # a lesson may end with stores that disagree, to show just that
        print_lines([f"pflab check {folder.path} judges its traces."], style="dim")
        return code
    return code if skip_check else max(code, _checked(folder), key=_WORST_LAST.index)


def _list_lessons() -> int:
    """The scenarios that are lessons: their names and titles."""
    for path in sorted(SHIPPED.glob("*.yaml")):
        scenario = load_scenario(path)
        if scenario.lesson is not None:
            print_lines([f"{path.stem:<24} {scenario.title}"])
    return ExitCode.GOOD


_WORST_LAST: Final = (ExitCode.GOOD, ExitCode.UNKNOWN, ExitCode.VIOLATION)


_CHECKED_WITHIN_S: Final = 300


def _checked(folder: RunFolder) -> int:
    """The verdict from the traces alone, by Spark in a process of its own; where it cannot run, what to install."""
    print_lines(["", "And from the traces alone, by Spark (pflab check):"], style="bold")
    order = [sys.executable, "-c", "from pflab.cli import main; main()", "check", str(folder.path)]
    try:
        told = subprocess.run(order, capture_output=True, text=True, check=False, timeout=_CHECKED_WITHIN_S)
    except subprocess.TimeoutExpired:
        print_lines([f"it gave no verdict within {_CHECKED_WITHIN_S} s"])
        return ExitCode.UNKNOWN
    print_lines(told.stdout.splitlines())
    if told.returncode == ExitCode.UNKNOWN and not told.stdout:
        # Nothing was judged: Java or Spark is missing, which the lesson does without.
        print_lines([line for line in told.stderr.splitlines() if line.startswith("pflab")])
        return ExitCode.GOOD
    return told.returncode
