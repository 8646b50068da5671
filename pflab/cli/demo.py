"""The guided lessons of `pflab demo`: a live lab plays a scenario, and the terminal explains it. The default lesson is
scenarios/lost-mail.yaml. Lessons first ask the reader what will happen, and then show it.

The stores, their databases and SMTP are real. Only the clock is not real: the lab advances it, so three days pass in seconds.
At the end the demo prints the state tables, the events in words, and the verdict over all folders.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.text import Text

from pflab.drivers.live import LiveLab
from pflab.explain.state_tables import state_tables
from pflab.lab.lab import Lab
from pflab.scenario.lesson import Quiz
from pflab.scenario.load import SCENARIOS_OF_PFLAB, Scenario, Step, load_scenario
from pflab.scenario.runner import ScenarioResult, run_scenario
from pflab.scenario.session import Play
from pflab.terms.event_words import Lexicon, line, roughly, tag_of, to_the_second
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.verdict import ExitCode, Judgement, Verdict, join_names
from topology.file.examples import EXAMPLES
from topology.file.load import load_topology
from topology.model import Topology
from topology.problems import counted
from traces.events import Event
from traces.labtime import LabTime

if TYPE_CHECKING:
    from node.views import StateView
    from pflab.runs.run_folder import RunFolder

LESSON: Final = "lost-mail.yaml"
WORST_LAST: Final = (ExitCode.GOOD, ExitCode.UNKNOWN, ExitCode.VIOLATION)
DEFAULT_LAB: Final = EXAMPLES / "default.yaml"

SHOWN_EVENTS: Final = frozenset(
    {
        "change.made",
        "mail.submitted",
        "hop.dropped",
        "version.applied",
        "entry.made",
        "entry.timed_out",
        "entry.satisfied",
        "request.sent",
        "status.due",
    }
)
"""The event types in the list "What happened"; the trace has all events."""


@dataclass(slots=True)
class FinalState:
    """The state of the lab at the end of the lesson, read before the lab stops."""

    events: list[Event] = field(default_factory=list)
    names: Lexicon = field(default_factory=Lexicon)
    states: list[StateView] = field(default_factory=list)
    verdict: Verdict | None = None


def run_demo(
    folder: RunFolder, console: Console, *, seed: int, ask: bool, command: str = "pflab", lesson: Scenario | None = None
) -> int:
    """Play the lesson, print it, and return an exit code.

    folder    gets the traces, the databases and the verdict
    ask       wait for Enter after each paragraph, and for an answer to each question
    command   how the reader calls pflab
    lesson    the scenario; None: the default lesson

    Raises LabError if the lab cannot be started, OSError if the lesson cannot be read.
    """
    is_default = lesson is None
    lesson = lesson or _default_lesson()
    final = FinalState()
    console.print(_welcome(lesson))

    def make(organization: Topology) -> Lab:
        folder.write_inputs(organization.as_yaml(), seed)
        return LiveLab(organization, seed=seed, folder=folder)

    def finish(play: Play) -> None:
        _read_final_state(play, final)

    result = asyncio.run(run_scenario(lesson, make, watch=Narrator(console, ask).tell, finish=finish))
    folder.write_verdict(result.as_document())
    _print_end(console, result, final)
    console.print(_next_commands(folder, command), style="dim", markup=False, soft_wrap=True)
    return _exit_code(result, final) if is_default else result.exit_code


def lessons_of_pflab() -> dict[str, Scenario]:
    """Return the lessons that come with pflab by their names: the default one, then the others in order."""
    names = [LESSON, *sorted(each.name for each in SCENARIOS_OF_PFLAB.glob("*.yaml") if each.name != LESSON)]
    found = {name: load_scenario(SCENARIOS_OF_PFLAB / name) for name in names}
    return {Path(name).stem: each for name, each in found.items() if each.lesson is not None or name == LESSON}


def _default_lesson() -> Scenario:
    return replace(load_scenario(SCENARIOS_OF_PFLAB / LESSON), topology=load_topology(DEFAULT_LAB))


def _welcome(lesson: Scenario) -> Panel:
    organization = lesson.topology
    sites = [f"{site}: {join_names(organization.servers_in(site))}" for site in organization.sites]
    lines = [
        f"{counted(len(organization.servers), 'public folder store')} in {counted(len(sites), 'site')} ({'; '.join(sites)}).",
        "Each is a real store with its own database and SMTP listener. All share the clock of the lab.",
    ]
    texts = [text for text in (lesson.lesson, lesson.look and f"Look at: {lesson.look}") if text]
    return Panel(Text("\n\n".join(["\n".join(lines), *texts])), title=lesson.title, title_align="left")


class Narrator:
    """Prints each text, question and answer of a lesson when its step comes. With `ask` it waits for the reader."""

    def __init__(self, console: Console, ask: bool, reader: Reader | None = None) -> None:
        self._console = console
        self._ask = ask
        self._read = reader or _line_of_terminal
        self._quiz: Quiz | None = None
        self._predicted: str | None = None

    async def tell(self, step: Step, at: LabTime) -> None:
        """Print one step. The runner calls this as its `StepWatcher`."""
        if isinstance(step.args, Quiz):
            await self._ask_question(step.args)
        elif step.verb in ("say", "reveal"):
            self._console.print()
            self._console.print(Text(f"{to_the_second(at)}  ", style="cyan") + Text(step.args))
            if step.verb == "reveal":
                self._reveal()
            if self._ask:
                self._console.print("[dim]Press Enter to continue [/]", end="")
                await self._read()

    async def _ask_question(self, quiz: Quiz) -> None:
        self._console.print()
        self._console.print(Text(quiz.ask, style="bold"))
        for number, choice in enumerate(quiz.choices, start=1):
            self._console.print(f"  {number}. {choice}", markup=False)
        self._quiz, self._predicted = quiz, None
        while self._ask and self._predicted is None:
            self._console.print(
                f"[dim]What do you expect? 1 to {len(quiz.choices)}, or Enter for no answer [/]", end=""
            )
            typed = (await self._read()).strip()
            if not typed:
                break
            if typed.isdecimal() and 0 < int(typed) <= len(quiz.choices):
                self._predicted = quiz.choices[int(typed) - 1]

    def _reveal(self) -> None:
        quiz = self._quiz
        if quiz is None:
            return
        right = self._predicted == quiz.answer
        if self._predicted is not None:
            style = "green" if right else "yellow"
            self._console.print(
                Text("Your answer is right." if right else f"Your answer: {self._predicted}", style=style)
            )
        self._console.print(Text(f"The answer: {quiz.answer}", style="bold"))
        self._console.print(Text(quiz.because))
        self._quiz = None


Reader = Callable[[], Awaitable[str]]
"""Returns the next line that the reader types."""


async def _line_of_terminal() -> str:
    """Return the next line that the user types, or '' at the end of input. The event loop runs meanwhile, so Ctrl-C works."""
    typed = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline()


def _read_final_state(play: Play, final: FinalState) -> None:
    final.verdict = play.verdict()
    final.events = list(play.log)
    final.names = play.names
    for store in play.running():
        views = play.lab.read(store, lambda node: node.folders())
        held = [HIERARCHY, *(view.path for view in views if view.held_here)]
        final.states += [play.lab.read(store, lambda node, path=path: node.state(path)) for path in held]  # type: ignore[misc]


# --- the end


def _print_end(console: Console, result: ScenarioResult, final: FinalState) -> None:
    console.print()
    if result.failure is not None:
        console.print("\n".join(result.in_words()), style="red", markup=False, soft_wrap=True)
    for path in dict.fromkeys(state.path for state in final.states if state.path != HIERARCHY):
        console.print(f"The state tables of each holder of {path}:\n", style="bold", markup=False)
        for table in state_tables([state for state in final.states if state.path == path], result.ended_at):
            console.print(table)
            console.print()
    console.print("What happened:\n", style="bold")
    for event in final.events:
        if tag_of(event) in SHOWN_EVENTS:
            console.print(line(event, final.names), markup=False, soft_wrap=True)
    console.print()
    console.print(_judgement(final.verdict, result))


def _next_commands(folder: RunFolder, command: str) -> str:
    """Return a text that says where the files of the run are, and which commands show them."""
    mails = sorted(folder.mails.glob("*.eml"))
    commands = [f"{command} state", f"{command} backfill", *(f"{command} decode {mail}" for mail in mails[:1])]
    return "\n  ".join(
        [f"Traces, databases, mails and verdict are in {folder.path}. Commands that show them:", *commands]
    )


def _judgement(verdict: Verdict | None, result: ScenarioResult) -> RenderableType:
    if verdict is None:
        return Text("No verdict: the lab failed before it could be judged.", style="red")
    good = verdict.judgement is Judgement.CONVERGED
    lines = [*verdict.in_words()]
    if good:
        later = f"{roughly(result.ended_at - result.began_at)} and {counted(result.mails, 'mail')} later"
        lines.append(f"{later} all replicas of all folders agree, and nothing was lost.")
    return Panel(Text("\n".join(lines)), title="Verdict", title_align="left", border_style="green" if good else "red")


def _exit_code(result: ScenarioResult, final: FinalState) -> int:
    if final.verdict is None:
        return ExitCode.UNKNOWN
    return max(result.exit_code, final.verdict.exit_code, key=WORST_LAST.index)
