"""Verbs that look into a run's stores: state, backfill."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Protocol

import typer

from node.views import EntryView, FolderView, StateView
from pflab.cli.lablink import Lab, LabReader, client_of, is_up
from pflab.cli.labs import existing_run
from pflab.cli.output import CommandError, Json, out, page, print_json
from pflab.oracle import HIERARCHY
from pflab.runread import RunReader
from pflab.statepage import backfill_table, entry_json, state_json, state_tables
from pflab.verdict import ExitCode
from topology.problems import did_you_mean

Run = Annotated[Path | None, typer.Argument(metavar="[RUN]", help="A run folder; default: runs/latest.")]
OneFolder = Annotated[str | None, typer.Option("--folder", help="Only this folder, by path, or 1-1 for the hierarchy.")]
OneServer = Annotated[str | None, typer.Option("--server", "--node", help="Only this server.")]


def state(
    run: Run = None,
    folder: OneFolder = None,
    server: OneServer = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the replication state tables of a run's or a running lab's stores.

    What a store has sent and received, what it lacks in between, and when it last heard of the others.

    Example: pflab state --folder Projects --server A
    """
    found: list[tuple[StateView, int]] = []
    with _reader(run, lab) as reader:
        for store in _stores(reader, server):
            with reader.reading(store) as look:
                held = [HIERARCHY, *(view.path for view in look.folders() if view.held_here)]
                wanted = [path for path in held if folder in (None, path)]
                found += [(look.state(path), look.now) for path in wanted]
        if folder is not None and not found:
            known = did_you_mean(folder, [HIERARCHY, *reader.folders()])
            raise CommandError(f"--folder {folder}: no store of this run holds it; {known}")
    if as_json:
        print_json([state_json(view) for view, _ in found])
        return ExitCode.GOOD
    for view, now in found:
        for table in state_tables([view], now):
            page.print(table)
            page.print()
    return ExitCode.GOOD


def backfill(
    run: Run = None,
    folder: OneFolder = None,
    server: OneServer = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print what stores know to be missing, and when they ask for it.

    With it stand since when it is known, and which stores have been asked.

    Example: pflab backfill --server B
    """
    found: list[tuple[str, list[EntryView]]] = []
    with _reader(run, lab) as reader:
        for store in _stores(reader, server):
            with reader.reading(store) as look:
                found.append((store, [each for each in look.backfill() if folder in (None, each.path, each.folder)]))
    if as_json:
        print_json([entry_json(store, entry) for store, entries in found for entry in entries])
        return ExitCode.GOOD
    for store, entries in found:
        if entries:
            page.print(backfill_table(store, entries))
            page.print()
        else:
            out.print(f"Server {store} misses nothing that it knows of.")
    return ExitCode.GOOD


class _Look(Protocol):
    """One store, of a run's databases or of a running lab."""

    @property
    def now(self) -> int: ...
    def folders(self) -> list[FolderView]: ...
    def state(self, folder: str) -> StateView: ...
    def backfill(self) -> list[EntryView]: ...


class _Reader(Protocol):
    """A run, over or not."""

    def stores(self) -> list[str]: ...
    def folders(self) -> list[str]: ...
    def reading(self, store: str) -> AbstractContextManager[_Look]: ...


@contextmanager
def _reader(run: Path | None, lab: str | None) -> Iterator[_Reader]:
    if run is not None and lab is not None:
        raise CommandError("a run folder and a running lab were named; name one of the two")
    if lab is not None or (run is None and is_up()):
        with client_of(lab) as client:
            yield LabReader(client)
    else:
        yield RunReader.at(existing_run(run))


def _stores(reader: _Reader, server: str | None) -> list[str]:
    stores = reader.stores()
    if not stores:
        raise CommandError("no databases here; a live run leaves them, a simulated one with --traces")
    if server is None:
        return stores
    if server not in stores:
        raise CommandError(f"--server {server}: no such server in this run; {did_you_mean(server, stores)}")
    return [server]
