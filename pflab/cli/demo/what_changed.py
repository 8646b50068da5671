"""What has changed in a lab since a lesson last showed it: events in words, and rows of state tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich.text import Text

from pflab.cli.output import cell
from pflab.explain.fitted_table import FittedGrid
from pflab.explain.state_tables import data_lines
from pflab.runs.event_lines import columns, style_of
from pflab.scenario.session import Play
from pflab.terms.event_words import tag_of
from pflab.terms.folder_ids import HIERARCHY
from topology.problems import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from node.views import StateView
    from traces.events import Event

SHOWN_EVENTS: Final = frozenset(
    {
        "change.made",
        "conflict.aged",
        "conflict.arose",
        "conflict.ended",
        "conflict.notice",
        "content.resumed",
        "content.suspended",
        "entry.made",
        "entry.pruned",
        "entry.satisfied",
        "entry.timed_out",
        "expired.everywhere",
        "hop.deleted",
        "hop.dropped",
        "hop.expired",
        "hop.failed",
        "item.expired",
        "loss",
        "mail.bad",
        "mail.submitted",
        "node.started",
        "node.stopped",
        "queue.frozen",
        "queue.unfrozen",
        "replica.added",
        "replica.dropped",
        "replica.pending",
        "request.deferred",
        "request.sent",
        "source.down",
        "source.up",
        "status.due",
        "store.deleted",
        "version.applied",
        "version.held",
        "version.ignored",
    }
)
"""The event types that a lesson shows; the trace has all events."""

MOST_LINES: Final = 12
"""The largest number of events, and of rows, that a lesson shows at once."""

Row = tuple[str, str, str]
"""A row of a state table: the store that has the table, the path of the folder, and the store that the row is about."""


def states_of(play: Play) -> list[StateView]:
    """Return the state tables of all running stores."""
    tables: list[StateView] = []
    for store in play.running():
        views = play.lab.read(store, lambda node: node.folders())
        paths = [HIERARCHY, *(view.path for view in views if view.held_here)]
        tables += [play.lab.read(store, lambda node, path=path: node.state(path)) for path in paths]  # type: ignore[misc]
    return tables


class WhatChanged:
    """Remembers what a lesson has shown. `folders` has the folders in which anything has changed since the start."""

    def __init__(self) -> None:
        self.folders: set[str] = set()
        self._events: int | None = None
        self._rows: dict[Row, str] = {}

    def show(self, play: Play) -> Iterator[RenderableType]:
        """Yield what has changed since the last call. The first call yields nothing."""
        play.observe()
        rows = _rows(states_of(play))
        if self._events is not None:
            fresh = [event for event in play.log[self._events :] if tag_of(event) in SHOWN_EVENTS]
            changed = {row: words for row, words in rows.items() if words and self._rows.get(row) != words}
            self.folders.update(folder for _, folder, _ in changed)
            if fresh:
                yield _event_lines(fresh, play)
            if changed:
                yield _row_lines(changed)
        self._events, self._rows = len(play.log), rows


def _rows(states: list[StateView]) -> dict[Row, str]:
    return {
        (state.store, state.path, row.store): "; ".join(data_lines(row, state.rows, unreported=False))
        for state in states
        for row in state.rows
    }


def _event_lines(events: list[Event], play: Play) -> FittedGrid:
    lines = FittedGrid(3)
    for event in events[:MOST_LINES]:
        at, node, words = columns(event, play.names)
        lines.add_row(Text(at, style="dim"), Text(node, style="bold"), cell(words, style=style_of(tag_of(event))))
    if len(events) > MOST_LINES:
        lines.add_row(Text(), Text(), Text(f"... and {counted(len(events) - MOST_LINES, 'more event')}", style="dim"))
    return lines


def _row_lines(changed: dict[Row, str]) -> FittedGrid:
    lines = FittedGrid(2)
    for (store, folder, about), words in list(changed.items())[:MOST_LINES]:
        name = "the folder hierarchy" if folder == HIERARCHY else folder
        lines.add_row(cell(f"{store}'s table of {name}, row of {about}:"), cell(words, style="bold"))
    if len(changed) > MOST_LINES:
        lines.add_row(Text(), Text(f"... and {counted(len(changed) - MOST_LINES, 'more row')}", style="dim"))
    return lines
