"""Verbs that explain and show runs: explain, diff, trace, traffic, log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from node.views import LogView
from pflab.cli.event_colours import styled_line
from pflab.cli.inputs.files import existing_run
from pflab.cli.options import FolderOption, OneFolder, OneServer, RunOption, Servers, Types, check_types
from pflab.cli.output import CommandError, Json, out, page, print_json, print_lines, print_sentences, view_json
from pflab.cli.run_or_lab import chosen_events, chosen_reader, chosen_stores, with_forecast
from pflab.cli.running_lab import Lab
from pflab.explain.change import Life
from pflab.explain.change import explain as explain_in
from pflab.explain.run_diff import diff as diff_of
from pflab.explain.traffic import sentences, traffic_json, traffic_table
from pflab.runs.event_lines import EventFilter, event_json
from pflab.runs.events import RunEvents
from pflab.runs.traffic_sums import traffic_of
from pflab.terms.event_words import Lexicon, to_the_second
from pflab.terms.verdict import ExitCode
from topology.problems import did_you_mean, quoted
from traces.errors import TimeTextError
from traces.labtime import LabTime, parse_instant


def explain(
    what: Annotated[
        str, Argument(metavar="CN|MESSAGE-ID", help="A change number such as A-3, or the Message-ID of a mail.")
    ],
    run: RunOption = None,
    lab: Lab = None,
    *,
    until: Annotated[
        str | None, Option(metavar="DURATION", help='Also say what a running lab will do with it, such as for "36 h".')
    ] = None,
    as_json: Json = False,
) -> int:
    """Explain what happened to a change or a mail on each store of a run or a running lab.

    The explanation says which store made the change and which mails carried it. It also says which stores lacked the
    change and why, and when each store received it. The events that prove this follow. With --until, a copy of the lab plays
    forward, and the explanation goes on with what happens there.

    Example: pflab explain A-1 --run runs/latest
    """
    events, future = (chosen_events(run, lab), None) if until is None else with_forecast(run, lab, until)
    life = explain_in(events, what)
    document = life.as_document(events.names)
    if future is not None:
        later = explain_in(future, what).after(life)
        document["future"] = later.as_document(future.names)
    if as_json:
        print_json(document)
        return ExitCode.GOOD
    _print_life(life, events.names)
    if future is not None:
        out.print()
        _print_life(later, future.names)
    return ExitCode.GOOD


def _print_life(life: Life, names: Lexicon) -> None:
    out.print(life.what, style="bold", markup=False)
    print_sentences([f"  {sentence}" for sentence in life.told])
    out.print()
    for event in life.events:
        out.print(styled_line(event, names))


def diff(
    left: Annotated[Path, Argument(metavar="RUN", help="A run folder.")],
    right: Annotated[Path, Argument(metavar="RUN", help="Another run folder.")],
    as_json: Json = False,
) -> int:
    """Show the first instant at which two runs differ, and how each run ends.

    The verb also prints which inputs differ, and which types of events are more frequent in one run. The exit code is 0
    if all events of both runs are the same, and 1 if not.

    Example: pflab diff runs/lost-mail/00001 runs/latest
    """
    folders = [existing_run(folder) for folder in (left, right)]  # check both before reading either
    difference = diff_of(*map(RunEvents.at, folders))
    if as_json:
        print_json(difference.as_document())
    else:
        print_lines(difference.lines())
    return ExitCode.GOOD if difference.same else ExitCode.VIOLATION


def trace(
    folder: OneFolder = None,
    *,
    folder_option: FolderOption = None,
    servers: Servers = None,
    types: Types = None,
    since: Annotated[
        str | None, Option(help="Only events at or after this instant, such as 2003-10-21T06:00Z.")
    ] = None,
    until: Annotated[str | None, Option(help="Only events before this instant.")] = None,
    limit: Annotated[int, Option(min=1, help="Print at most the last N events.")] = 1000,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the events of a run or a running lab, one line for each.

    Example: pflab trace --server B --type entry --type request
    """
    run_events = chosen_events(run, lab)
    check_types(types or ())
    nodes = {event.node for event in run_events.events}
    for name in servers or ():
        if name not in nodes:
            raise CommandError(f"no server {quoted(name)} in this run; {did_you_mean(name, sorted(nodes))}")
    event_filter = EventFilter(
        tuple(servers or ()),
        folder or folder_option,
        tuple(types or ()),
        _instant("--since", since, 0),
        _instant("--until", until, 2**62),
    )
    events = [event for event in run_events.events if event_filter.takes(event, run_events.names)]
    left_out = max(0, len(events) - limit)
    events = events[left_out:]
    if as_json:
        print_json([event_json(event, run_events.names) for event in events])
        return ExitCode.GOOD
    if left_out:
        print_lines([f"({left_out} earlier events left out; see --limit)"], style="dim")
    for event in events:
        out.print(styled_line(event, run_events.names))
    print_lines(run_events.problems, style="red")
    return ExitCode.GOOD


def traffic(
    connector: Annotated[
        str | None, Argument(metavar="[CONNECTOR]", help="Only this connector, such as LONDON-PARIS.")
    ] = None,
    *,
    hourly: Annotated[
        bool, Option("--hourly", help="A row for each hour, in place of sums over the whole time.")
    ] = False,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print how many mails and bytes each connector has carried in a run or a running lab, by type of mail.

    A mail counts each time it crosses the connector. Below the table, each connector has its busiest hour, and how long a line
    with a limited bandwidth needed for its mails. pflab what-if tells what connectors will carry, and what a change would add.
    The JSON has a row for each hour.

    Example: pflab traffic --hourly
    """
    run_events = chosen_events(run, lab)
    rows = traffic_of(run_events.events, run_events.topology)
    if connector is not None:
        topology = run_events.topology
        names = {row.connector for row in rows} | {known.name for known in (topology.connectors if topology else ())}
        if connector not in names:
            raise CommandError(
                f"no connector {quoted(connector)} in this lab; {did_you_mean(connector, sorted(names))}"
            )
        rows = [row for row in rows if row.connector == connector]
    if as_json:
        print_json([traffic_json(row) for row in rows])
    elif rows:
        page.print(traffic_table(rows, hourly=hourly))
        print_sentences([*sentences(rows)])
    else:
        print_sentences(["No mail has crossed a connector yet; mail within a site crosses none."])
    return ExitCode.GOOD


def log(
    run: RunOption = None,
    server: OneServer = None,
    event: Annotated[int | None, Option(help="Only this event id, such as 3020.")] = None,
    limit: Annotated[int, Option(min=1, max=10_000, help="Print at most the last N entries of each server.")] = 200,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the application logs of the stores of a run or a running lab.

    The entries have the event ids, categories and texts that Exchange wrote to the Windows application log. The texts write a
    change number as Exchange did: in 1-A, 1 is the id of a store, and A is the number 10 in hexadecimal. Each server numbers
    the stores in its own way, and its own store is always 1. All other verbs write the store's name: A-10.

    Example: pflab log --server B --event 3031
    """
    entries: list[tuple[str, LogView]] = []
    with chosen_reader(run, lab) as reader:
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                entries += [(store, entry) for entry in look.event_log(limit=limit, event=event)]
    entries.sort(key=lambda entry: entry[1].at)
    if as_json:
        print_json([{"store": store, **view_json(entry)} for store, entry in entries])
        return ExitCode.GOOD
    for store, entry in entries:
        head = f"{to_the_second(entry.at)}  {store}  {entry.event}  {entry.level}  {entry.source}  {entry.category}"
        out.print(head, style=_LEVELS.get(entry.level, "bold"), markup=False)
        print_lines([f"  {line}" for line in entry.text.splitlines()])
    return ExitCode.GOOD


_LEVELS = {"Warning": "bold yellow", "Error": "bold red"}


def _instant(option: str, text: str | None, default: LabTime) -> LabTime:
    if text is None:
        return default
    try:
        return parse_instant(text)
    except TimeTextError as error:
        raise CommandError(f"{option} {text}: {error}") from None
