"""The guided lesson of `pflab demo`: the default lab, live, plays scenarios/lost-mail.yaml and tells what happens.

Real stores with real databases write to each other by real SMTP; only the time is the lab's, so three days pass in
seconds. At the end stand the state tables, what happened in words, and the verdict over all folders.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from pflab.lab import Lab, LabError
from pflab.live import LiveLab
from pflab.oracle import HIERARCHY
from pflab.runner import ScenarioResult, run_scenario
from pflab.scenario import EXAMPLES, Scenario, Step, load_scenario
from pflab.scenario_play import Play
from pflab.scenario_words import Lexicon, line, tag_of
from pflab.statepage import state_tables
from pflab.verdict import ExitCode, Judgement, Verdict, join_names
from topology import Topology, load_topology
from traces.events import Event
from traces.labtime import LabTime, format_instant

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


def run_demo(folder: RunFolder, console: Console, *, seed: int, ask: bool) -> int:
    """Play the lesson, its traces and databases into `folder`. `ask` waits for Enter at each paragraph.

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
    console.print(_ending(result, kept, folder.path))
    return _exit_code(result, kept)


def _load_lesson() -> Scenario:
    path = LESSONS / LESSON
    if not path.is_file():
        raise LabError(f"the lesson {path} is not here; run pflab demo from an installation that has its scenarios beside it")
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
        console.print(Text(f"{format_instant(at)}  ", style="cyan") + Text(step.args))
        if ask:
            console.input("[dim]Enter to go on [/]")

    return tell


def _keep(play: Play, kept: Lesson) -> None:
    kept.verdict = play.verdict()
    kept.events = list(play.log)
    kept.names = play.names
    for store in play.running():
        views = play.lab.read(store, lambda node: node.folders())
        held = [HIERARCHY, *(view.path for view in views if view.held_here)]
        kept.states += [play.lab.read(store, lambda node, path=path: node.state(path)) for path in held]  # type: ignore[misc]


# --- the end


def _ending(result: ScenarioResult, kept: Lesson, folder: Path) -> RenderableType:
    parts: list[RenderableType] = [Text()]
    if result.failure is not None:
        parts.append(Text("\n".join(result.in_words()), style="red"))
    parts += [_tables(kept.states, result.ended_at), _story(kept.events, kept.names), _judgement(kept.verdict, result)]
    parts.append(Text(f"Traces, databases and verdict are in {folder}; look with: pflab state, pflab backfill.", style="dim"))
    return Group(*parts)


def _tables(states: Sequence[StateView], now: LabTime) -> RenderableType:
    busy = [state for state in states if state.path == "Projects"]
    heading = Text("What each holder of Projects knows, as it would print it:\n", style="bold")
    return Group(heading, *(table for state in busy for table in (*state_tables([state], now), Text())))


def _story(events: Sequence[Event], names: Lexicon) -> RenderableType:
    told = [line(event, names) for event in events if tag_of(event) in TOLD]
    return Group(Text("What happened:\n", style="bold"), Text("\n".join(told)), Text())


def _judgement(verdict: Verdict | None, result: ScenarioResult) -> RenderableType:
    if verdict is None:
        return Text("No verdict: the lab could not be looked at.", style="red")
    good = verdict.judgement is Judgement.CONVERGED
    lines = [*verdict.in_words()]
    days = (result.ended_at - result.began_at) / 86_400_000_000
    if good:
        lines.append(f"Three lab days later all replicas of all folders agree, and nothing was lost ({days:g} days, {result.mails} mails).")
    return Panel(Text("\n".join(lines)), title="Verdict", title_align="left", border_style="green" if good else "red")


def _exit_code(result: ScenarioResult, kept: Lesson) -> int:
    if kept.verdict is None:
        return ExitCode.UNKNOWN
    return max(result.exit_code, kept.verdict.exit_code, key=(ExitCode.GOOD, ExitCode.UNKNOWN, ExitCode.VIOLATION).index)
