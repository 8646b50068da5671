"""Compare two runs: their inputs, the first instant at which they differ, and their outcomes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from pflab.runs.event_lines import one_line
from pflab.runs.events import RunEvents
from pflab.terms.event_words import hours_and_minutes, tag_of, to_the_second
from traces.events import ChangeMade, Event, RunEnded, RunStarted, VersionApplied
from traces.labtime import LabTime, format_instant

SHOWN = 10
"""How many lines of each kind of difference are shown."""

_ALWAYS = frozenset({"run.started"})
"""Types of events that differ between any two runs, so these differences are not shown."""


@dataclass(frozen=True, slots=True)
class RunDiff:
    """The differences of two runs.

    inputs     which inputs differ
    parted_at  the first instant at which the events differ, with the lines that only one run has; None if all is the same
    counts     for each type of which the runs have different numbers of events: these two numbers
    arrivals   changes that a store received at different times in the two runs, or in one run only
    """

    inputs: list[str] = field(default_factory=list)
    parted_at: LabTime | None = None
    only_left: list[str] = field(default_factory=list)
    only_right: list[str] = field(default_factory=list)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    arrivals: list[str] = field(default_factory=list)
    verdicts: tuple[str, str] = ("", "")

    @property
    def same(self) -> bool:
        """Return whether the same events happened, whatever the inputs were."""
        return self.parted_at is None

    def as_document(self) -> dict[str, Any]:
        return {
            "same": self.same,
            "inputs": self.inputs,
            "parted_at": None if self.parted_at is None else format_instant(self.parted_at),
            "only_left": self.only_left,
            "only_right": self.only_right,
            "counts": {tag: list(pair) for tag, pair in self.counts.items()},
            "arrivals": self.arrivals,
            "verdicts": list(self.verdicts),
        }

    def lines(self) -> list[str]:
        lines = [*self.inputs, f"Ends: {'; '.join(self.verdicts)}."]
        if self.parted_at is None:
            return [*lines, "The same happened in both runs, to the last event."]
        lines.append(f"Both runs are the same until {format_instant(self.parted_at)}. Then:")
        for mark, events in (("-", self.only_left), ("+", self.only_right)):
            lines += [f"  {mark} {line}" for line in events[:SHOWN]]
            lines += [f"  {mark} ... and {len(events) - SHOWN} more"] if len(events) > SHOWN else []
        if self.counts:
            lines.append("Events in all, where they differ:")
            lines += [f"  {tag}: {left_count}, {right}" for tag, (left_count, right) in self.counts.items()]
        if self.arrivals:
            lines.append("Changes that arrived on other stores or at other times:")
            lines += [f"  {line}" for line in self.arrivals[:SHOWN]]
            lines += [f"  ... and {len(self.arrivals) - SHOWN} more"] if len(self.arrivals) > SHOWN else []
        return lines


def diff(left: RunEvents, right: RunEvents) -> RunDiff:
    """Return what differs between two runs. Names are compared, not GUIDs, so the runs may have different seeds."""
    parted_at, only_left, only_right = _parting(left, right)
    counts: dict[str, tuple[int, int]] = {}
    if parted_at is not None:
        left_counts, right_counts = (Counter(map(tag_of, run.events)) for run in (left, right))
        counts = {
            tag: (left_counts[tag], right_counts[tag])
            for tag in sorted({*left_counts, *right_counts})
            if left_counts[tag] != right_counts[tag]
        }
    return RunDiff(
        inputs=list(_inputs(left, right)),
        parted_at=parted_at,
        only_left=only_left,
        only_right=only_right,
        counts=counts,
        arrivals=[] if parted_at is None else list(_arrivals(left, right)),
        verdicts=(_verdict(left), _verdict(right)),
    )


def _inputs(left: RunEvents, right: RunEvents) -> Iterator[str]:
    left_run, right_run = left.started, right.started
    if left_run is None or right_run is None:
        return
    for name, left_value, right_value in (
        ("Seed", left_run.seed, right_run.seed),
        ("Trace version", left_run.version, right_run.version),
    ):
        if left_value != right_value:
            yield f"{name}: {left_value}; {right_value}."
    for key in sorted({*left_run.settings, *right_run.settings}):
        left_value, right_value = left_run.settings.get(key, "none"), right_run.settings.get(key, "none")
        if left_value != right_value:
            yield f"{key.capitalize()}: {left_value}; {right_value}."
    if left_run.topology != right_run.topology:
        yield from _documents("", _document(left_run), _document(right_run))


def _document(run: RunStarted) -> Any:
    try:
        return json.loads(run.topology)
    except ValueError:
        return run.topology


def _documents(path: str, left: Any, right: Any) -> Iterator[str]:
    """Yield the differences of two topologies, as `servers.A.settings: ...`."""
    if left == right:
        return
    if isinstance(left, dict) and isinstance(right, dict):
        for key in dict.fromkeys([*left, *right]):
            yield from _documents(f"{path}.{key}" if path else str(key), left.get(key), right.get(key))
        return
    yield f"Topology, {path or 'whole'}: {json.dumps(left, ensure_ascii=False)}; {json.dumps(right, ensure_ascii=False)}."


def _instants(run: RunEvents) -> Iterator[tuple[LabTime, Counter[str]]]:
    """Yield each instant with its events. The order within one instant may differ between drivers."""
    events_told = (event for event in run.events if tag_of(event) not in _ALWAYS)
    for at, events in groupby(events_told, key=lambda event: event.at):
        yield at, Counter(one_line(event, run.names) for event in events)


def _parting(left: RunEvents, right: RunEvents) -> tuple[LabTime | None, list[str], list[str]]:
    left_instants, right_instants = iter(_instants(left)), iter(_instants(right))
    while True:
        left_instant, right_instant = next(left_instants, None), next(right_instants, None)
        if left_instant is None and right_instant is None:
            return None, [], []
        at = min(instant[0] for instant in (left_instant, right_instant) if instant is not None)
        of_left = left_instant[1] if left_instant is not None and left_instant[0] == at else Counter()
        of_right = right_instant[1] if right_instant is not None and right_instant[0] == at else Counter()
        if of_left != of_right:
            return at, sorted((of_left - of_right).elements()), sorted((of_right - of_left).elements())


def _arrivals(left: RunEvents, right: RunEvents) -> Iterator[str]:
    left_times, right_times = _had(left), _had(right)
    for key in sorted({*left_times, *right_times}):
        number, subject, store = key
        left_at, right_at = left_times.get(key), right_times.get(key)
        if left_at == right_at:
            continue
        if left_at is None or right_at is None:
            at = left_at if left_at is not None else right_at
            assert at is not None
            run_name = "the first" if left_at is not None else "the second"
            yield f"{store} has {number} ({subject}) in {run_name} only, since {to_the_second(at)}"
        else:
            later = "later" if right_at > left_at else "earlier"
            yield f"{store} has {number} ({subject}) {hours_and_minutes(abs(right_at - left_at))} {later} in the second"


def _had(run: RunEvents) -> dict[tuple[str, str, str], LabTime]:
    """Return when each store received each change."""
    times: dict[tuple[str, str, str], LabTime] = {}
    for event in run.events:
        if isinstance(event, ChangeMade | VersionApplied):
            key = (
                run.names.number(event.number),
                run.names.as_of(event.at).what(event.folder, event.object, event.number),
                event.node,
            )
            times.setdefault(key, event.at)
    return times


def _verdict(run: RunEvents) -> str:
    end: Event | None = next((event for event in reversed(run.events) if isinstance(event, RunEnded)), None)
    if not isinstance(end, RunEnded):
        return f"{_name(run.path)} did not end"
    return f"{_name(run.path)} {_ENDS.get(end.verdict, end.verdict)}"


_ENDS = {"none": "ended without a verdict"}
"""Verdicts with a special wording. `none`: nobody judged the run; `pflab check` can judge it."""


def _name(path: Path) -> str:
    return "/".join(path.resolve().parts[-2:])
