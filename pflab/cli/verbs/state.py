"""Verbs that print the state of stores: state, status, instances, backfill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from rich.text import Text
from typer import Argument

from node.views import EntryView, FolderStatus, InstanceView, SourceView, StateView
from pflab.cli.options import FolderOption, OneFolder, OneServer, RunOption
from pflab.cli.output import CommandError, Json, out, page, print_json, print_sentences, print_texts, view_json
from pflab.cli.run_or_lab import RECENT, Reader, chosen_reader, chosen_stores, events_of
from pflab.cli.running_lab import Lab, LabReader
from pflab.explain.state_tables import (
    backfill_table,
    data_lines,
    entry_json,
    sources_table,
    state_json,
    state_tables,
)
from pflab.explain.status_tables import detail, instances_table, matrix, status_json
from pflab.explain.traffic import recent_sentences
from pflab.terms.event_words import SETUP, SETUP_TOLD
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.verdict import ExitCode
from topology.problems import did_you_mean
from traces.labtime import parse_instant


def state(
    folder: OneFolder = None,
    *,
    folder_option: FolderOption = None,
    server: OneServer = None,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the replication state tables of the stores of a run or a running lab.

    Each store has a table for each folder that it holds. A row of the table is about one holder of the folder. It shows
    which changes this holder has, as far as the store knows, and when the store last received a mail from it. It also
    names changes that exist elsewhere. The last table shows how the store chooses the server that it asks for missing
    changes.

    Example: pflab state Projects --server A
    """
    folder = folder or folder_option
    tables_of: list[tuple[str, int, list[StateView], list[SourceView]]] = []
    with chosen_reader(run, lab) as reader:
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                paths = [view.path for view in look.replication_status()]
                if chosen_paths := [path for path in paths if folder in (None, path)]:
                    tables_of.append((store, reader.now(look), list(map(look.state, chosen_paths)), look.sources()))
        if folder is not None and not tables_of:
            hint = did_you_mean(folder, [HIERARCHY, *reader.folders()])
            raise CommandError(f"pflab state {folder}: no store here holds this folder; {hint}")
    if as_json:
        print_json([state_json(view, sources) for _, _, views, sources in tables_of for view in views])
        return ExitCode.GOOD
    for store, now, views, sources in tables_of:
        for table in [*state_tables(views, now), sources_table(store, sources)]:
            page.print(table)
            page.print()
    lines = (
        line
        for _, _, views, _ in tables_of
        for view in views
        for row in view.rows
        for line in data_lines(row, view.rows)
    )
    if any(f"{SETUP}-" in line for line in lines):
        print_sentences([SETUP_TOLD], style="dim")
    return ExitCode.GOOD


def status(
    folder: Annotated[
        str | None, Argument(help="Only this folder, in detail: its path, or 1-1 for the hierarchy.")
    ] = None,
    *,
    server: OneServer = None,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the replication status of each folder on each server of a run or a running lab: in sync, behind and so on.

    Without a folder, the verb prints a matrix of folders by servers, and what each connector has carried in the last day and
    hour. With a folder, it prints what each server knows about each replica: what the replica lacks, when the last mail
    arrived, and how long mails take on average. A server knows about the others only what their mails have reported.

    Example: pflab status Projects
    """
    statuses_of: dict[str, list[FolderStatus]] = {}
    with chosen_reader(run, lab) as reader:
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                every = look.replication_status()
            statuses_of[store] = [view for view in every if folder in (None, view.path, view.folder)]
        if folder is not None and not any(statuses_of.values()):
            hint = did_you_mean(folder, [HIERARCHY, *reader.folders()])
            raise CommandError(f"pflab status {folder}: no store here holds this folder; {hint}")
        traffic = [] if as_json or folder is not None or server is not None else [*_traffic(reader)]
    if as_json:
        print_json([status_json(view) for statuses in statuses_of.values() for view in statuses])
    elif folder is None:
        print_texts(matrix(statuses_of, page.width))
        print_sentences(traffic)
    else:
        for statuses in statuses_of.values():
            for view in statuses:
                print_texts([*detail(view, page.width), Text()])
    return ExitCode.GOOD


def _traffic(reader: Reader) -> Iterator[str]:
    """Yield what each connector has carried lately; nothing if there are no connectors."""
    if isinstance(reader, LabReader):
        now, connectors = parse_instant(reader.client.now()), reader.topology.connectors
        events = events_of(reader, last=RECENT).events if connectors else ()
    else:
        run_events = events_of(reader)
        events, connectors = run_events.events, run_events.topology.connectors if run_events.topology else ()
        now = max((event.at for event in events), default=0)
    yield from recent_sentences(events, (connector.name for connector in connectors), now)


def instances(
    folder: Annotated[str | None, Argument(help="Only this folder: its path.")] = None,
    *,
    server: OneServer = None,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the replicas of each server of a run or a running lab: items, size, last change, and whether they differ.

    Replicas that wait to be removed are listed too. "5 + 1" means five messages and one associated message. A replica
    with fewer items than another one can lack changes, or can have a shorter age limit.

    Example: pflab instances Projects
    """
    replicas: list[InstanceView] = []
    with chosen_reader(run, lab) as reader:
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                replicas += [view for view in look.instances() if folder in (None, view.path, view.folder)]
        if folder is not None and not replicas:
            hint = did_you_mean(folder, reader.folders())
            raise CommandError(f"pflab instances {folder}: no store here holds this folder; {hint}")
    if as_json:
        print_json([view_json(view) for view in replicas])
    else:
        page.print(instances_table(replicas))
    return ExitCode.GOOD


def backfill(
    folder: OneFolder = None,
    *,
    folder_option: FolderOption = None,
    server: OneServer = None,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print which changes each store knows to be missing, and when it will request them.

    Each entry also shows when the store found the changes missing, and which stores it has asked. pflab cannot read
    servers that do not run, and names them on stderr. In JSON such a server has an entry with only `store` and
    `not_asked`.

    Example: pflab backfill --server B
    """
    folder = folder or folder_option
    entries_of: list[tuple[str, list[EntryView]]] = []
    with chosen_reader(run, lab) as reader:
        away = reader.away() if server is None else []
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                entries_of.append(
                    (store, [entry for entry in look.backfill() if folder in (None, entry.path, entry.folder)])
                )
    if as_json:
        not_asked = [{"store": store, "not_asked": "it does not run"} for store in away]
        print_json([entry_json(store, entry) for store, entries in entries_of for entry in entries] + not_asked)
        return ExitCode.GOOD
    for store, entries in entries_of:
        if entries:
            page.print(backfill_table(store, entries))
            page.print()
        else:
            out.print(f"Server {store} knows of no missing changes.")
    return ExitCode.GOOD
