"""The guided lessons of `pflab demo`: a lab, live, plays a scenario and tells what happens; without a name it is the
default lab and scenarios/lost-mail.yaml. A lesson asks before it shows: predict, then reveal.

Real stores with real databases write to each other by real SMTP; only the time is the lab's, so three days pass in
seconds. At the end stand the state tables, what happened in words, and the verdict over all folders.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.text import Text

from pflab.drivers.live import LiveLab
from pflab.explain.state_tables import state_tables
from pflab.lab.lab import Lab
from pflab.oracle.oracle import HIERARCHY
from pflab.scenario.lesson import Quiz
from pflab.scenario.load import EXAMPLES, SHIPPED, Scenario, Step, load_scenario
from pflab.scenario.runner import ScenarioResult, run_scenario
from pflab.scenario.session import Play
from pflab.terms.lexicon import Lexicon, line, roughly, tag_of, to_the_second
from pflab.terms.verdict import ExitCode, Judgement, Verdict, join_names
from topology import Topology, load_topology
from topology.problems import counted
from traces.events import Event
from traces.labtime import LabTime

if TYPE_CHECKING:
    from node.views import StateView
    from pflab.runs.run_folder import RunFolder

LESSON: Final = "lost-mail.yaml"
DEFAULT_LAB: Final = EXAMPLES / "default.yaml"

TOLD: Final = frozenset(
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
"""The events that the lesson tells as they come; the trace has them all."""


@dataclass(slots=True)
class Lesson:
    """What the demo keeps of its run: the last look at the lab before it stopped."""

    events: list[Event] = field(default_factory=list)
    names: Lexicon = field(default_factory=Lexicon)
    states: list[StateView] = field(default_factory=list)
    verdict: Verdict | None = None


def run_demo(
    folder: RunFolder, console: Console, *, seed: int, ask: bool, command: str = "pflab", lesson: Scenario | None = None
) -> int:
    """Play the lesson, its traces and databases into `folder`. `ask` waits for Enter at each paragraph and for an answer to
    each question; `command` is how the reader calls pflab; without a `lesson` it is the default one.

    Returns an exit code. Raises LabError if the lab cannot be started, OSError if the lesson cannot be read.
    """
    is_default = lesson is None
    lesson = lesson or _default_lesson()
    kept = Lesson()
    console.print(_welcome(lesson))

    def make(organization: Topology) -> Lab:
        folder.write_inputs(organization.as_yaml(), seed)
        return LiveLab(organization, seed=seed, folder=folder)

    def finish(play: Play) -> None:
        _keep(play, kept)

    result = asyncio.run(run_scenario(lesson, make, watch=Narrator(console, ask).tell, finish=finish))
    folder.write_verdict(result.as_document())
    _end(console, result, kept)
    console.print(_looks(folder, command), style="dim", markup=False, soft_wrap=True)
    return _exit_code(result, kept) if is_default else result.exit_code


def _default_lesson() -> Scenario:
    return replace(load_scenario(SHIPPED / LESSON), topology=load_topology(DEFAULT_LAB))


def _welcome(lesson: Scenario) -> Panel:
    organization = lesson.topology
    sites = [f"{site}: {join_names(organization.servers_in(site))}" for site in organization.sites]
    lines = [
        f"{counted(len(organization.servers), 'public folder store')} in {counted(len(sites), 'site')} ({'; '.join(sites)}).",
        "Each is a real store with a database and an SMTP listener of its own. The clock is the lab's.",
    ]
    words = [text for text in (lesson.lesson, lesson.look and f"Look at: {lesson.look}") if text]
    return Panel(Text("\n\n".join(["\n".join(lines), *words])), title=lesson.title, title_align="left")


class Narrator:
    """Tells a lesson's paragraphs, questions and answers as they come, and waits for the reader if asked to."""

    def __init__(self, console: Console, ask: bool, reader: Reader | None = None) -> None:
        self._console = console
        self._ask = ask
        self._read = reader or _line_of_terminal
        self._quiz: Quiz | None = None
        self._predicted: str | None = None

    async def tell(self, step: Step, at: LabTime) -> None:
        """A `StepWatcher` of the runner."""
        if isinstance(step.args, Quiz):
            await self._put(step.args)
        elif step.verb in ("say", "reveal"):
            self._console.print()
            self._console.print(Text(f"{to_the_second(at)}  ", style="cyan") + Text(step.args))
            if step.verb == "reveal":
                self._reveal()
            if self._ask:
                self._console.print("[dim]Enter to go on [/]", end="")
                await self._read()

    async def _put(self, quiz: Quiz) -> None:
        self._console.print()
        self._console.print(Text(quiz.ask, style="bold"))
        for number, choice in enumerate(quiz.choices, start=1):
            self._console.print(f"  {number}. {choice}", markup=False)
        self._quiz, self._predicted = quiz, None
        while self._ask and self._predicted is None:
            self._console.print(f"[dim]What do you say? 1 to {len(quiz.choices)}, or Enter to only watch [/]", end="")
            said = (await self._read()).strip()
            if not said:
                break
            if said.isdigit() and 0 < int(said) <= len(quiz.choices):
                self._predicted = quiz.choices[int(said) - 1]

    def _reveal(self) -> None:
        quiz = self._quiz
        if quiz is None:
            return
        right = self._predicted == quiz.answer
        if self._predicted is not None:
            style = "green" if right else "yellow"
            self._console.print(Text("As you said." if right else f"You said: {self._predicted}", style=style))
        self._console.print(Text(f"The answer: {quiz.answer}", style="bold"))
        self._console.print(Text(quiz.because))
        self._quiz = None


Reader = Callable[[], Awaitable[str]]
"""Waits for a line of the reader's."""


async def _line_of_terminal() -> str:
    """The reader's next line. The loop goes on meanwhile, so that Ctrl-C is heard; one who has hung up is not waited
    for."""
    typed = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline()


def _keep(play: Play, kept: Lesson) -> None:
    kept.verdict = play.verdict()
    kept.events = list(play.log)
    kept.names = play.names
    for store in play.running():
        views = play.lab.read(store, lambda node: node.folders())
        held = [HIERARCHY, *(view.path for view in views if view.held_here)]
        kept.states += [play.lab.read(store, lambda node, path=path: node.state(path)) for path in held]  # type: ignore[misc]


# --- the end


def _end(console: Console, result: ScenarioResult, kept: Lesson) -> None:
    console.print()
    if result.failure is not None:
        console.print("\n".join(result.in_words()), style="red", markup=False, soft_wrap=True)
    for path in dict.fromkeys(state.path for state in kept.states if state.path != HIERARCHY):
        console.print(f"What each holder of {path} knows, as it would print it:\n", style="bold", markup=False)
        for table in state_tables([state for state in kept.states if state.path == path], result.ended_at):
            console.print(table)
            console.print()
    console.print("What happened:\n", style="bold")
    for event in kept.events:
        if tag_of(event) in TOLD:
            console.print(line(event, kept.names), markup=False, soft_wrap=True)
    console.print()
    console.print(_judgement(kept.verdict, result))


def _looks(folder: RunFolder, command: str) -> str:
    """Where everything is, and what to look at it with."""
    mails = sorted(folder.mails.glob("*.eml"))
    looks = [f"{command} state", f"{command} backfill", *(f"{command} decode {mail}" for mail in mails[:1])]
    return "\n  ".join([f"Traces, databases, mails and verdict are in {folder.path}. Look at them:", *looks])


def _judgement(verdict: Verdict | None, result: ScenarioResult) -> RenderableType:
    if verdict is None:
        return Text("No verdict: the lab could not be looked at.", style="red")
    good = verdict.judgement is Judgement.CONVERGED
    lines = [*verdict.in_words()]
    if good:
        later = f"{roughly(result.ended_at - result.began_at)} and {counted(result.mails, 'mail')} later"
        lines.append(f"{later} all replicas of all folders agree, and nothing was lost.")
    return Panel(Text("\n".join(lines)), title="Verdict", title_align="left", border_style="green" if good else "red")


def _exit_code(result: ScenarioResult, kept: Lesson) -> int:
    if kept.verdict is None:
        return ExitCode.UNKNOWN
    return max(
        result.exit_code, kept.verdict.exit_code, key=(ExitCode.GOOD, ExitCode.UNKNOWN, ExitCode.VIOLATION).index
    )
