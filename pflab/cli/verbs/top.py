"""The verb that watches a running lab: top."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any

import msgspec
import typer

from pflab.cli.event_lines import styled_line
from pflab.cli.options import check_types
from pflab.cli.output import CommandError, json_text, out
from pflab.cli.running_lab import Lab, client_of, lexicon_of
from pflab.client import Client
from pflab.runs.events import EventFilter, event_json
from pflab.scenario.session import NOISE
from pflab.terms.lexicon import Lexicon, tag_of
from pflab.terms.verdict import ExitCode
from topology.problems import did_you_mean
from traces.events import AnyEvent, Event


def top(
    nodes: Annotated[
        list[str] | None, typer.Option("--node", "--server", help="Only this server's; may be given again.")
    ] = None,
    folder: Annotated[str | None, typer.Option(help="Only what is about this folder, by path.")] = None,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="Only these, as mail or entry.made; may be given again.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Also events that say little to people.")] = False,
    last: Annotated[int, typer.Option(min=0, max=100_000, help="Begin with so many that have happened.")] = 10,
    once: Annotated[bool, typer.Option("--once", help="Only what has happened; then end.")] = False,
    count: Annotated[int | None, typer.Option(min=1, help="End after so many lines.")] = None,
    lab: Lab = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each event as a line of JSON.")] = False,
) -> int:
    """Watch a running lab: one line an event, as it happens.

    It ends with Ctrl-C, or as --once and --count say. A line tells when, where, and what in words; the colour says of what
    kind it is. If the line to the lab is cut, it goes on where it was.

    Example: pflab top --folder Projects --type mail --type version --count 3 --once
    """
    check_types(types or [])
    with client_of(lab) as client:
        servers = client.servers()
        for name in nodes or ():
            if name not in servers:
                raise CommandError(f"--node {name}: no such server in this lab; {did_you_mean(name, servers)}")
        watch = _Watch(lexicon_of(client), EventFilter(tuple(nodes or ()), folder, tuple(types or ())), every)
        for event in islice(_events(client, watch, last=last, once=once), count):
            _show(event, watch.names, as_json=as_json)
    return ExitCode.GOOD


class _Watch:
    """What is shown, and by which names."""

    def __init__(self, names: Lexicon, wanted: EventFilter, every: bool) -> None:
        self.names = names
        self._wanted = wanted
        self._noise = frozenset() if every or wanted.types else NOISE

    def taken(self, told: dict[str, Any]) -> Event | None:
        """The event, if it is to be shown; its names are learnt in any case."""
        event = msgspec.convert(told, AnyEvent)
        self.names.learn(event)
        return event if tag_of(event) not in self._noise and self._wanted.takes(event, self.names) else None


def _events(client: Client, watch: _Watch, *, last: int, once: bool) -> Iterator[Event]:
    """The last of those that have happened, then those that happen."""
    seen, kept = 0, deque[Event](maxlen=last)
    # From the first on: names of stores and folders are learnt from what happened.
    for told in client.events():
        seen += 1
        if (event := watch.taken(told)) is not None:
            kept.append(event)
    yield from kept
    if once:
        return
    for told in client.events(follow=True, after=seen):
        if (event := watch.taken(told)) is not None:
            yield event


def _show(event: Event, names: Lexicon, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json_text(event_json(event, names)))
    elif out.is_terminal:
        # A screen shows one line an event; what does not fit is in pflab trace.
        out.print(styled_line(event, names), soft_wrap=False, no_wrap=True, overflow="ellipsis")
    else:
        out.print(styled_line(event, names))
