"""The guided lesson of `pflab demo`: the default lab, live, plays scenarios/lost-mail.yaml and tells what happens.

Real stores with real databases write to each other by real SMTP; only the time is the lab's, so three days pass in
seconds. At the end stand the state tables, what happened in words, and the verdict over all folders.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.text import Text

from pflab.lab import Lab, LabError
from pflab.live import LiveLab
from pflab.oracle import HIERARCHY
from pflab.runner import ScenarioResult, run_scenario
from pflab.scenario import EXAMPLES, Scenario, Step, load_scenario
from pflab.scenario_play import Play
from pflab.scenario_words import Lexicon, line, tag_of, to_the_second
from pflab.statepage import state_tables
from pflab.verdict import ExitCode, Judgement, Verdict, join_names
from topology import Topology, load_topology
from traces.events import Event
from traces.labtime import DAY_US, LabTime

if TYPE_CHECKING:
    from node.views import StateView
    from pflab.runfolder import RunFolder

LESSON: Final = "lost-mail.yaml"
LESSONS: Final = Path(__file__).resolve().parents[1] / "scenarios"
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


def run_demo(folder: RunFolder, console: Console, *, seed: int, ask: bool, command: str = "pflab") -> int:
    """Play the lesson, its traces and databases into `folder`. `ask` waits for Enter at each paragraph; `command` is
    how the reader calls pflab.

    Returns an exit code. Raises LabError if the lab cannot be started, OSError if the lesson cannot be read.
    """
    lesson = _load_lesson()
    kept = Lesson()
    console.print(_welcome(lesson))

    def make(organization: Topology) -> Lab:
        folder.write_inputs(organization.as_yaml(), seed)
        return LiveLab(organization, seed=seed, folder=folder)

    def finish(play: Play) -> None:
        _keep(play, kept)

    result = asyncio.run(run_scenario(lesson, make, watch=_narrator(console, ask), finish=finish))
    folder.write_verdict(result.as_document())
    _end(console, result, kept)
    console.print(_looks(folder, command), style="dim", markup=False, soft_wrap=True)
    return _exit_code(result, kept)


def _load_lesson() -> Scenario:
    path = LESSONS / LESSON
    if not path.is_file():
        raise LabError(f"the lesson {path} is not here; run pflab from a tree that has its scenarios")
    return replace(load_scenario(path), topology=load_topology(DEFAULT_LAB))


def _welcome(lesson: Scenario) -> Panel:
    organization = lesson.topology
    sites = [f"{site}: {join_names(organization.servers_in(site))}" for site in organization.sites]
    lines = [
        f"{len(organization.servers)} public folder stores in {len(organization.sites)} sites ({'; '.join(sites)}).",
        "Each is a real store with a database and an SMTP listener of its own. The clock is the lab's.",
    ]
    return Panel(Text("\n".join(lines)), title=lesson.title, title_align="left")


def _narrator(console: Console, ask: bool) -> Callable[[Step, LabTime], None]:
    """Tells the lesson's paragraphs as they come, and waits for the reader if asked to."""

    def tell(step: Step, at: LabTime) -> None:
        if step.verb != "say":
            return
        console.print()
        console.print(Text(f"{to_the_second(at)}  ", style="cyan") + Text(step.args))
        if ask:
            with suppress(EOFError), _interruptible():  # a reader who has hung up is not waited for
                console.input("[dim]Enter to go on [/]")

    return tell


@contextmanager
def _interruptible() -> Iterator[None]:
    """asyncio keeps Ctrl-C for when its loop goes on, which it does not while it waits for a person."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
    console.print("What each holder of Projects knows, as it would print it:\n", style="bold")
    for table in state_tables([state for state in kept.states if state.path == "Projects"], result.ended_at):
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
        days = round((result.ended_at - result.began_at) / DAY_US)
        lines.append(
            f"{days} lab days and {result.mails} mails later all replicas of all folders agree, and nothing was lost."
        )
    return Panel(Text("\n".join(lines)), title="Verdict", title_align="left", border_style="green" if good else "red")


def _exit_code(result: ScenarioResult, kept: Lesson) -> int:
    if kept.verdict is None:
        return ExitCode.UNKNOWN
    return max(
        result.exit_code, kept.verdict.exit_code, key=(ExitCode.GOOD, ExitCode.UNKNOWN, ExitCode.VIOLATION).index
    )
