"""Verbs that tell what happened in a run, and what a topology asks for: explain, diff, trace, log, analyze."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from node.views import LogView
from pflab.cli.event_lines import styled_line
from pflab.cli.lab_options import existing_run, read_topology
from pflab.cli.options import OneFolder, OneServer, Run, check_types
from pflab.cli.output import CommandError, Json, out, print_json, print_lines
from pflab.cli.run_or_lab import chosen_events, chosen_reader, chosen_stores
from pflab.cli.running_lab import Lab
from pflab.explain.change import explain as explain_in
from pflab.explain.run_diff import diff as diff_of
from pflab.explain.settings_report import analyze as analyze_topology
from pflab.runs.events import EventFilter, RunEvents, event_json
from pflab.terms.lexicon import to_the_second
from pflab.terms.verdict import ExitCode
from topology.problems import did_you_mean
from traces import TimeTextError
from traces.labtime import LabTime, format_instant, parse_instant

RunOption = Annotated[Path | None, typer.Option("--run", help="A run folder; default: runs/latest.")]


def explain(
    what: Annotated[str, typer.Argument(metavar="CN|MESSAGE-ID", help="A change, as A-3, or a mail's Message-ID.")],
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Tell the life of a change or of a mail across the stores of a run or a running lab, in words.

    Who made it, which mails carried it, who lacked it and why, and since when each store has it; then every event that
    says so.

    Example: pflab explain A-1 --run runs/latest
    """
    events = chosen_events(run, lab)
    life = explain_in(events, what)
    if as_json:
        print_json(life.as_document(events.names))
        return ExitCode.GOOD
    out.print(life.what, style="bold", markup=False)
    print_lines([f"  {each}" for each in life.told])
    out.print()
    for event in life.events:
        out.print(styled_line(event, events.names))
    return ExitCode.GOOD


def diff(
    left: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    right: Annotated[Path, typer.Argument(metavar="RUN", help="Another.")],
    as_json: Json = False,
) -> int:
    """Say where two runs part, and what came of it.

    Exits 0 when the same happened in both, to the last event, and 1 when not.

    Example: pflab diff runs/lost-mail/00001 runs/latest
    """
    folders = [existing_run(each) for each in (left, right)]  # both are there before either is read
    found = diff_of(*map(RunEvents.at, folders))
    if as_json:
        print_json(found.as_document())
    else:
        print_lines(found.lines())
    return ExitCode.GOOD if found.same else ExitCode.VIOLATION


def trace(
    run: Run = None,
    servers: Annotated[
        list[str] | None, typer.Option("--server", "--node", help="Only of this server; may be given again.")
    ] = None,
    folder: OneFolder = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", help="Only of this type, as version.applied, or group, as mail; may be given again."),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only from this instant on, as 2003-10-21T06:00Z.")] = None,
    until: Annotated[str | None, typer.Option(help="Only up to this instant.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, the last ones.")] = 1000,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print what happened in a run or in a running lab, one line an event.

    Example: pflab trace --server B --type entry --type request
    """
    found = chosen_events(run, lab)
    check_types(types or ())
    nodes = {event.node for event in found.events}
    for name in servers or ():
        if name not in nodes:
            raise CommandError(f"--server {name}: no such server in this run; {did_you_mean(name, sorted(nodes))}")
    wanted = EventFilter(
        tuple(servers or ()),
        folder,
        tuple(types or ()),
        _instant("--since", since, 0),
        _instant("--until", until, 2**62),
    )
    shown = [event for event in found.events if wanted.takes(event, found.names)]
    left_out = max(0, len(shown) - limit)
    shown = shown[left_out:]
    if as_json:
        print_json([event_json(event, found.names) for event in shown])
        return ExitCode.GOOD
    if left_out:
        print_lines([f"({left_out} earlier ones; --limit shows more)"], style="dim")
    for event in shown:
        out.print(styled_line(event, found.names))
    print_lines(found.problems, style="red")
    return ExitCode.GOOD


def log(
    run: Run = None,
    server: OneServer = None,
    event: Annotated[int | None, typer.Option(help="Only this event id, as 3020.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many of each server, the last ones.")] = 200,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the application logs of a run's or a running lab's stores.

    Ids, categories and texts are those that the original wrote into the Event Viewer.

    Example: pflab log --server B --event 3031
    """
    found: list[tuple[str, LogView]] = []
    with chosen_reader(run, lab) as reader:
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                found += [(store, entry) for entry in look.event_log(limit=limit, event=event)]
    found.sort(key=lambda each: each[1].at)
    if as_json:
        print_json([_log_json(store, entry) for store, entry in found])
        return ExitCode.GOOD
    for store, entry in found:
        head = f"{to_the_second(entry.at)}  {store}  {entry.event}  {entry.level}  {entry.source}  {entry.category}"
        out.print(head, style=_LEVELS.get(entry.level, "bold"), markup=False)
        print_lines([f"  {line}" for line in entry.text.splitlines()])
    return ExitCode.GOOD


_LEVELS = {"Warning": "bold yellow", "Error": "bold red"}


def _log_json(store: str, entry: LogView) -> dict[str, Any]:
    return {
        "store": store,
        "id": entry.id,
        "at": format_instant(entry.at),
        "event": entry.event,
        "level": entry.level,
        "source": entry.source,
        "category": entry.category,
        "logging": entry.logging,
        "text": entry.text,
    }


def analyze(
    topology: Annotated[Path, typer.Argument(help="A topology file.")],
    as_json: Json = False,
) -> int:
    """List the settings of a topology that are not the default, and what they do.

    With them what was clamped, what has no effect, and what works otherwise than it looks.

    Example: pflab analyze topology/examples/two-sites.yaml
    """
    try:
        found = analyze_topology(read_topology(topology))
    except OSError as error:
        raise CommandError(f"{topology}: {(error.strerror or str(error)).lower()}; name a topology file") from None
    if as_json:
        print_json(found.as_document())
    else:
        print_lines(found.lines())
    return ExitCode.GOOD


def _instant(option: str, text: str | None, default: LabTime) -> LabTime:
    if text is None:
        return default
    try:
        return parse_instant(text)
    except TimeTextError as error:
        raise CommandError(f"{option} {text}: {error}") from None
