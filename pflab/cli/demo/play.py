"""Plays a lesson in a live lab, and explains it on the terminal. A lesson first asks what will happen, and then shows it.

The stores, their databases and SMTP are real. Only the clock is not real: the lab advances it, so three days pass in seconds.
At the end the demo prints the state tables of the folders in which something happened, and the verdict over all folders.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.text import Text

from pflab.cli.demo.narrator import Narrator, Reader
from pflab.cli.demo.what_changed import states_of
from pflab.cli.running_lab import check_alone, remove_lab_file, write_lab_file
from pflab.drivers.live import LiveLab
from pflab.explain.state_tables import state_tables
from pflab.lessons.course import first_lesson
from pflab.scenario.load import Scenario
from pflab.scenario.runner import ScenarioResult, play_scenario
from pflab.scenario.session import Play
from pflab.terms.event_words import roughly
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.verdict import ExitCode, Judgement, Verdict, join_names
from topology.problems import counted

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder

WORST_LAST: Final = (ExitCode.GOOD, ExitCode.UNKNOWN, ExitCode.VIOLATION)

MOST_FOLDERS: Final = 3
"""The largest number of folders whose state tables a lesson prints at its end."""


def run_demo(
    folder: RunFolder,
    console: Console,
    *,
    seed: int,
    ask: bool,
    command: str = "pflab",
    lesson: Scenario | None = None,
    reader: Reader | None = None,
    notes: bool = False,
) -> int:
    """Play the lesson, print it, and return an exit code.

    folder    gets the traces, the databases and the verdict
    ask       wait for Enter after each paragraph, and for an answer to each question; commands typed meanwhile are run
    command   how the reader calls pflab
    lesson    the scenario; None: the default lesson
    reader    returns the lines that the reader types; default: from the terminal
    notes     print the presenter's notes

    Raises LabError if the lab cannot be started, OSError if the lesson cannot be read, and CommandError if `ask` is set while
    another lab of this folder is up.
    """
    if ask:
        check_alone()
    is_default = lesson is None
    lesson = lesson or first_lesson()
    folder.write_inputs(lesson.topology.as_yaml(), seed)
    narrator = Narrator(console, ask, reader, notes=notes)
    result, verdict = asyncio.run(
        _play(lesson, LiveLab(lesson.topology, seed=seed, folder=folder), console, narrator, ask)
    )
    folder.write_verdict(result.as_document())
    console.print(_next_commands(folder, command), style="dim", markup=False, soft_wrap=True)
    return _exit_code(result, verdict) if is_default else result.exit_code


async def _play(
    lesson: Scenario, lab: LiveLab, console: Console, narrator: Narrator, ask: bool
) -> tuple[ScenarioResult, Verdict]:
    async with lab, _served(lab, ask):
        console.print(_welcome(lesson))
        play = Play(lab)
        result = await play_scenario(lesson, play, watch=narrator.tell)
        verdict = play.verdict()
        await narrator.show_changes(play)
        await narrator.show(*_end(play, narrator.changes.folders, result, verdict))
        if lesson.look:
            console.print(Text(f"\nLook at: {lesson.look}"))
        await narrator.prompt("The lab is still up. Type a command, or press Enter to end the lesson:")
    return result, verdict


@asynccontextmanager
async def _served(lab: LiveLab, ask: bool) -> AsyncIterator[None]:
    """Serve the lab over HTTP if a reader can type commands, and let the verbs in this folder find it."""
    if not ask:
        yield
        return
    from node.api.http_server import HttpServer  # noqa: PLC0415 - it takes long to import
    from pflab.server.app import app_of_live_lab  # noqa: PLC0415

    server = HttpServer(app_of_live_lab(lambda: lab))
    host, port = await server.start()
    url = f"http://{host}:{port}"
    write_lab_file(url)
    try:
        yield
    finally:
        remove_lab_file(url)
        await server.stop()


def _welcome(lesson: Scenario) -> Panel:
    organization = lesson.topology
    sites = [f"{site}: {join_names(organization.servers_in(site))}" for site in organization.sites]
    lines = [
        f"{counted(len(organization.servers), 'public folder store')} in {counted(len(sites), 'site')} ({'; '.join(sites)}).",
        "Each is a real store with its own database and SMTP listener. All share the clock of the lab.",
    ]
    learn = lesson.course and f"You learn {lesson.course.learn}."
    number = f"Lesson {lesson.course.number}: " if lesson.course else ""
    texts = [text for text in (lesson.lesson, learn) if text]
    return Panel(Text("\n\n".join(["\n".join(lines), *texts])), title=f"{number}{lesson.title}", title_align="left")


# --- the end


def _end(play: Play, folders: set[str], result: ScenarioResult, verdict: Verdict) -> list[RenderableType]:
    """Return what a lesson shows at its end: the failure, the state tables of these folders, and the verdict."""
    parts: list[RenderableType] = [""]
    if result.failure is not None:
        parts.append(Text("\n".join(result.in_words()), style="red"))
    states = [state for state in states_of(play) if state.path != HIERARCHY and state.path in folders]
    paths = sorted({state.path for state in states})
    for path in paths[:MOST_FOLDERS]:
        parts.append(Text(f"The state tables of each holder of {path}:\n", style="bold"))
        for table in state_tables([state for state in states if state.path == path], result.ended_at):
            parts += [table, ""]
    if len(paths) > MOST_FOLDERS:
        parts.append(f"pflab state prints the tables of {counted(len(paths) - MOST_FOLDERS, 'more folder')}.\n")
    return [*parts, _judgement(verdict, result)]


def _next_commands(folder: RunFolder, command: str) -> str:
    """Return a text that says where the files of the run are, and which commands show them."""
    mails = sorted(folder.mails.glob("*.eml"))
    commands = [f"{command} state", f"{command} backfill", *(f"{command} decode {mail}" for mail in mails[:1])]
    return "\n  ".join(
        [f"Traces, databases, mails and verdict are in {folder.path}. Commands that show them:", *commands]
    )


def _judgement(verdict: Verdict, result: ScenarioResult) -> RenderableType:
    good = verdict.judgement is Judgement.CONVERGED
    lines = [*verdict.in_words()]
    if good:
        later = f"{roughly(result.ended_at - result.began_at)} and {counted(result.mails, 'mail')} later"
        lines.append(f"{later} all replicas of all folders agree, and nothing was lost.")
    return Panel(Text("\n".join(lines)), title="Verdict", title_align="left", border_style="green" if good else "red")


def _exit_code(result: ScenarioResult, verdict: Verdict) -> int:
    return max(result.exit_code, verdict.exit_code, key=WORST_LAST.index)
