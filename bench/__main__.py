"""Run the benchmarks of this folder and print their figures.

    python -m bench                                 all, as a table
    python -m bench cnset posts                     bench_cnset and bench_posts only
    python -m bench --runs 5 processes              five runs: the median and the spread of each figure
    python -m bench --durability full processes     an fsync for each commit
    python -m bench --beside inn,postfix processes  the same load on other programs, and the ratios
    python -m bench --json                          print one JSON object
    python -m bench --list                          print the names only

A benchmark is a module `bench_<name>.py` with a function

    figures() -> dict[str, float | str]

whose docstring explains the figures, with units that their names do not contain. If the stores' durability matters, the
function takes it: `figures(durability)`. Otherwise the constant `DURABILITY` says what a commit survives in these figures,
such as "nothing is committed".

A peer is another program under the same load: a module in `bench/peers` with `figures()`, a function `missing()` that
returns why it cannot run here, and the constants PFLAB_DURABILITY (the durability of pflab that matches the peer's) and
COMPARED, which maps a figure of the peer to the figure of the benchmark `processes` that is comparable.

Several runs alternate: each run is one of every benchmark and peer. If a benchmark fails, the others still run, and the
exit status is 1.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import pkgutil
import platform
import sqlite3
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.summary import Outcome, Value, median, ratios, shown, shown_spread

BENCHMARK: Final = "bench_"
PEER: Final = "peers."
"""The folder of the peers."""
COMPARABLE: Final = "processes"
"""The benchmark that peers are compared with."""

DURABILITIES: Final = {
    "normal": "normal: WAL, a commit survives a killed process, not a power cut; what arrives together shares a commit",
    "full": "full: WAL, an fsync at each commit; what arrives together shares it",
}


@dataclass(frozen=True, slots=True)
class Job:
    """One benchmark or peer to run.

    durability: of pflab's stores.
    """

    module: str
    durability: str = "normal"

    @property
    def name(self) -> str:
        return self.module.removeprefix(BENCHMARK).removeprefix(PEER)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure of pflab divided by the comparable figure of a peer, for each run."""

    peer: str
    figures: str
    durability: str
    values: list[Value]


def names(prefix: str = BENCHMARK) -> list[str]:
    """Return the names of the benchmarks or peers of this folder, sorted."""
    folder, _, beginning = prefix.rpartition(".")
    modules = pkgutil.iter_modules([str(Path(__file__).parent / folder)])
    return sorted(module.name.removeprefix(beginning) for module in modules if module.name.startswith(beginning))


def module_of(name: str) -> ModuleType:
    return importlib.import_module(f"bench.{name}")


def jobs_of(chosen: Sequence[str], peers: Sequence[str], durability: str | None) -> list[Job]:
    """Return what one run consists of. Without a stated durability, a peer is compared with the one that matches its own."""
    jobs = [Job(BENCHMARK + name, durability or "normal") for name in chosen]
    for peer in peers:
        beside = Job(BENCHMARK + COMPARABLE, durability or module_of(PEER + peer).PFLAB_DURABILITY)
        jobs += [each for each in (beside, Job(PEER + peer, beside.durability)) if each not in jobs]
    return jobs


def run(job: Job, outcome: Outcome) -> None:
    """Run one benchmark once and add its figures to the outcome; an exception is its failure."""
    try:
        module = module_of(job.module)
        figures: Callable[..., dict[str, Value]] = module.figures
        outcome.about = " ".join((inspect.getdoc(figures) or "").split())
        if "durability" in inspect.signature(figures).parameters:
            outcome.durability = DURABILITIES[job.durability]
            outcome.add(figures(job.durability))
        else:
            outcome.durability = module.DURABILITY
            outcome.add(figures())
    except Exception as error:
        traceback.print_exc()
        outcome.failure = f"{type(error).__name__}: {error}"


def ratios_of(outcomes: dict[Job, Outcome]) -> list[Ratio]:
    """Return the ratios of pflab's figures to those of the peers that ran, without the failed ones."""
    found = []
    for job, outcome in outcomes.items():
        ours = outcomes.get(Job(BENCHMARK + COMPARABLE, job.durability))
        if not job.module.startswith(PEER) or ours is None or ours.failure or outcome.failure:
            continue
        for their_figure, our_figure in module_of(job.module).COMPARED.items():
            values = ratios(ours.values[our_figure], outcome.values[their_figure])
            found.append(Ratio(job.name, f"{our_figure} : {their_figure}", job.durability, values))
    return found


def machine() -> dict[str, str]:
    """Return the facts about this machine that influence the figures."""
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "processors": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
    }


def print_table(outcomes: Sequence[Outcome], compared: Sequence[Ratio], runs: int, console: Console) -> None:
    table = Table(title="pflab benchmarks", title_justify="left")
    table.add_column("benchmark", no_wrap=True)
    table.add_column("figure", overflow="fold")
    table.add_column("value" if runs == 1 else f"median of {runs}", justify="right", no_wrap=True)
    if runs > 1:
        table.add_column("spread", justify="right", no_wrap=True)

    def add(name: str, figure: str, values: Sequence[Value]) -> None:
        row = [name, escape(figure), escape(shown(median(values)))]
        table.add_row(*row, *[shown_spread(values)][: runs > 1])

    for outcome in outcomes:
        if outcome.failure is not None:
            table.add_row(outcome.name, escape(outcome.failure), "failed", style="red")
        else:
            about = escape(f"{outcome.about}\nDurability: {outcome.durability}".strip())
            table.add_row(outcome.name, f"[dim]{about}[/dim]", "")
        for figure, values in outcome.values.items():
            add("", figure, values)
        table.add_section()
    for each in compared:
        add(f"pflab : {each.peer}", f"{each.figures} (pflab's durability: {each.durability})", each.values)
    console.print(table)
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()), style="dim")


def print_json(outcomes: Sequence[Outcome], compared: Sequence[Ratio]) -> None:
    benchmarks = [
        {
            "name": each.name,
            "about": each.about,
            "durability": each.durability,
            "figures": {figure: median(values) for figure, values in each.values.items()},
            "values": each.values,
            "failure": each.failure,
        }
        for each in outcomes
    ]
    found = [
        {
            "peer": each.peer,
            "figures": each.figures,
            "durability": each.durability,
            "ratio": median(each.values),
            "values": each.values,
        }
        for each in compared
    ]
    print(json.dumps({"machine": machine(), "benchmarks": benchmarks, "ratios": found}, indent=2))


def installed(peers: Sequence[str]) -> list[str]:
    """Return the peers that can run here, and say why another one cannot."""
    reasons = {peer: module_of(PEER + peer).missing() for peer in peers}
    for peer, reason in reasons.items():
        if reason is not None:
            print(f"{peer} is left out: {reason}", file=sys.stderr)
    return [peer for peer, reason in reasons.items() if reason is None]


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options. Ends the process with status 2 if one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run pflab's benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the benchmarks to run; default: all")
    parser.add_argument("--durability", choices=sorted(DURABILITIES), help="of pflab's stores; default: normal")
    parser.add_argument("--runs", type=int, default=1, help="how often to run; prints medians and spreads")
    parser.add_argument("--beside", default="", metavar="PEER,...", help=f"also run {', '.join(names(PEER))}")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    options = parser.parse_args(arguments)
    options.beside = [peer.strip() for peer in options.beside.split(",") if peer.strip()]
    for kind, given, known in (("benchmark", options.names, names()), ("peer", options.beside, names(PEER))):
        for name in given:
            if name not in known:
                parser.error(f"no {kind} is named {name}; there are: {', '.join(known) or 'none'}")
    if options.runs < 1:
        parser.error(f"--runs {options.runs}: write at least 1")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 all ran, 1 one failed, 2 a wrong option."""
    options = parsed(arguments)
    if options.list:
        print("\n".join(names()))
        return 0
    jobs = jobs_of(options.names or names(), installed(options.beside), options.durability)
    outcomes = {job: Outcome(job.name) for job in jobs}
    progress = Console(stderr=True)
    for number in range(options.runs):
        for job, outcome in outcomes.items():
            with progress.status(f"{job.name}, run {number + 1} of {options.runs} ..."):
                run(job, outcome)
    compared = ratios_of(outcomes)
    if options.json:
        print_json(list(outcomes.values()), compared)
    else:
        print_table(list(outcomes.values()), compared, options.runs, Console())
    return 1 if any(outcome.failure is not None for outcome in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
