"""Verbs that print the events of a running lab: top, events."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any

import msgspec
import typer
from typer import Option

from pflab.cli.event_colours import styled_line
from pflab.cli.options import AllEvents, FolderOption, JsonLines, OneFolder, Servers, Types, check_types
from pflab.cli.output import CommandError, json_text, out
from pflab.cli.running_lab import Lab, client_of, lexicon_of
from pflab.client import Client
from pflab.runs.event_lines import NOISE, EventFilter, event_json
from pflab.terms.event_words import Lexicon, line, tag_of
from pflab.terms.verdict import ExitCode
from topology.problems import did_you_mean, quoted
from traces.events import AnyEvent, Event


def top(
    folder: OneFolder = None,
    *,
    folder_option: FolderOption = None,
    nodes: Servers = None,
    types: Types = None,
    every: AllEvents = False,
    last: Annotated[int, Option(min=0, max=100_000, help="Begin with the last N events.")] = 10,
    once: Annotated[bool, Option("--once", help="Print the last events and exit.")] = False,
    count: Annotated[int | None, Option(min=1, max=1_000_000_000, help="Exit after N lines.")] = None,
    lab: Lab = None,
    as_json: JsonLines = False,
) -> int:
    """Watch a running lab: one line for each event, as it happens.

    A line shows the lab time, the server and the event in words. The colour of the line shows the kind of event. If the
    connection to the lab breaks, pflab top reconnects and continues after the last event. Ctrl-C ends it.

    Example: pflab top Projects --type mail --type version --count 3 --once
    """
    folder = folder or folder_option
    check_types(types or [])
    with client_of(lab) as client:
        servers = client.servers()
        for name in nodes or ():
            if name not in servers:
                raise CommandError(f"no server {quoted(name)} in this lab; {did_you_mean(name, servers)}")
        watch = _Watch(lexicon_of(client), EventFilter(tuple(nodes or ()), folder, tuple(types or ())), every)
        for event in islice(_events(client, watch, last=last, once=once), count):
            _show(event, watch.names, as_json=as_json)
    return ExitCode.GOOD


class _Watch:
    """Chooses which events are shown, and collects the names that replace ids in them."""

    def __init__(self, names: Lexicon, event_filter: EventFilter, every: bool) -> None:
        self.names = names
        self._filter = event_filter
        self._noise = frozenset() if every or event_filter.types else NOISE

    def chosen(self, data: dict[str, Any]) -> Event | None:
        """Learn the names in the event. Return the event if it is to be shown, otherwise None."""
        event = msgspec.convert(data, AnyEvent)
        self.names.learn(event)
        return event if tag_of(event) not in self._noise and self._filter.takes(event, self.names) else None


def _events(client: Client, watch: _Watch, *, last: int, once: bool) -> Iterator[Event]:
    """Yield the last events so far, then new ones as they happen."""
    count, latest = 0, deque[Event](maxlen=last)
    # Read from the first event, because the names of stores and folders come from events.
    for data in client.events():
        count += 1
        if (event := watch.chosen(data)) is not None:
            latest.append(event)
    yield from latest
    if once:
        return
    for data in client.events(follow=True, after=count):
        if (event := watch.chosen(data)) is not None:
            yield event


def _show(event: Event, names: Lexicon, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json_text(event_json(event, names)))
    elif out.is_terminal:
        # One line on the screen for each event; pflab trace prints long lines in full.
        out.print(styled_line(event, names), soft_wrap=False, no_wrap=True, overflow="ellipsis")
    else:
        out.print(styled_line(event, names))


def events(
    node: Annotated[str | None, Option("--node", "--server", help="Only events of this server.")] = None,
    kind: Annotated[
        str | None,
        Option(
            "--type", help="Only events of this type, such as version.applied, or of this group of types, such as mail."
        ),
    ] = None,
    follow: Annotated[bool, Option("--follow", "-f", help="Continue with new events until Ctrl-C.")] = False,
    every: AllEvents = False,
    lab: Lab = None,
    as_json: JsonLines = False,
) -> int:
    """Print the events of a running lab; --follow continues with new events.

    Each event is one line; the oldest event comes first. pflab top is similar: it can select a folder, and it begins with the
    last few events.

    Example: pflab events --node B --type version.applied
    """
    check_types([kind] if kind else [])
    with client_of(lab) as client:
        if node is not None and node not in (known := [*client.servers(), "lab"]):
            raise CommandError(f"no server {quoted(node)} in this lab; {did_you_mean(node, known)}")
        event_filter = EventFilter(() if node is None else (node,), None, () if kind is None else (kind,))
        names = lexicon_of(client)
        for data in client.events(follow=follow):
            event = msgspec.convert(data, AnyEvent)
            names.learn(event)
            if (not every and not kind and tag_of(event) in NOISE) or not event_filter.takes(event, names):
                continue
            if as_json:
                typer.echo(json_text(data))
            else:
                out.print(line(event, names), markup=False)
    return ExitCode.GOOD
