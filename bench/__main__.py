"""Run the benchmarks of this folder and print their figures.

    python -m bench                  all, as a table
    python -m bench cnset posts      bench_cnset and bench_posts only
    python -m bench --json           print one JSON object
    python -m bench --list           print the names only

A benchmark is a module `bench_<name>.py` with a function

    figures() -> dict[str, float | str]

whose docstring explains the figures, with units that their names do not contain. The constant `DURABILITY`
says what a commit survives in these figures, such as "full: fsync per commit" or "nothing is committed"; a
figure named "durability" can say it instead. If a benchmark fails, the others still run, and the exit status
is 1.
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
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

PREFIX = "bench_"
NOT_STATED = "not stated"

Value = float | str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one benchmark: its figures, or why it failed."""

    name: str
    about: str
    durability: str
    figures: dict[str, Value] = field(default_factory=dict)
    failure: str | None = None


def names() -> list[str]:
    """Return the names of the benchmarks of this folder, sorted."""
    found = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name.removeprefix(PREFIX) for name in found if name.startswith(PREFIX))


def run(name: str) -> Outcome:
    """Run one benchmark and return its outcome; an exception is part of the outcome."""
    try:
        module = importlib.import_module(f"bench.{PREFIX}{name}")
        figures: dict[str, Value] = dict(module.figures())
    except Exception as error:
        traceback.print_exc()
        return Outcome(name, "", "", failure=f"{type(error).__name__}: {error}")
    stated = figures.pop("durability", getattr(module, "DURABILITY", NOT_STATED))
    return Outcome(name, inspect.getdoc(module.figures) or "", str(stated), figures)


def machine() -> dict[str, str]:
    """Return the facts about this machine that influence the figures."""
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "processors": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
    }


def shown(value: Value) -> str:
    """Return a figure as text: three significant digits below 100, else an integer with commas."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def print_table(outcomes: Sequence[Outcome], console: Console) -> None:
    table = Table(title="pflab benchmarks", title_justify="left")
    table.add_column("benchmark", no_wrap=True)
    table.add_column("figure", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    for outcome in outcomes:
        if outcome.failure is not None:
            table.add_row(outcome.name, escape(outcome.failure), "failed", style="red")
        else:
            about = escape(f"{outcome.about}\nDurability: {outcome.durability}".strip())
            table.add_row(outcome.name, f"[dim]{about}[/dim]", "")
        for figure, value in outcome.figures.items():
            table.add_row("", escape(figure), escape(shown(value)))
        table.add_section()
    console.print(table)
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()), style="dim")


def print_json(outcomes: Sequence[Outcome]) -> None:
    print(json.dumps({"machine": machine(), "benchmarks": [asdict(one) for one in outcomes]}, indent=2))


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status: 0 all ran, 1 one failed, 2 unknown name."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run pflab's benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the benchmarks to run; default: all")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    options = parser.parse_args(arguments)
    known = names()
    if options.list:
        print("\n".join(known))
        return 0
    for name in options.names:
        if name not in known:
            print(f"no benchmark is named {name}; there are: {', '.join(known) or 'none'}", file=sys.stderr)
            return 2
    progress = Console(stderr=True)
    outcomes = []
    for name in options.names or known:
        with progress.status(f"{name} ..."):
            outcomes.append(run(name))
    if options.json:
        print_json(outcomes)
    else:
        print_table(outcomes, Console())
    return 1 if any(outcome.failure is not None for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
