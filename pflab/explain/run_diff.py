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
        told = [*self.inputs, f"Ends: {'; '.join(self.verdicts)}."]
        if self.parted_at is None:
            return [*told, "The same happened in both runs, to the last event."]
        told.append(f"Both runs are the same until {format_instant(self.parted_at)}. Then:")
        for mark, found in (("-", self.only_left), ("+", self.only_right)):
            told += [f"  {mark} {line}" for line in found[:SHOWN]]
            told += [f"  {mark} ... and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        if self.counts:
            told.append("Events in all, where they differ:")
            told += [f"  {tag}: {left}, {right}" for tag, (left, right) in self.counts.items()]
        if self.arrivals:
            told.append("Changes that arrived on other stores or at other times:")
            told += [f"  {line}" for line in self.arrivals[:SHOWN]]
            told += [f"  ... and {len(self.arrivals) - SHOWN} more"] if len(self.arrivals) > SHOWN else []
        return told


def diff(left: RunEvents, right: RunEvents) -> RunDiff:
    """Return what differs between two runs. Names are compared, not GUIDs, so the runs may have different seeds."""
    parted_at, only_left, only_right = _parting(left, right)
    counts: dict[str, tuple[int, int]] = {}
    if parted_at is not None:
        here, there = (Counter(map(tag_of, run.events)) for run in (left, right))
        counts = {tag: (here[tag], there[tag]) for tag in sorted({*here, *there}) if here[tag] != there[tag]}
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
    here, there = left.started, right.started
    if here is None or there is None:
        return
    for name, one, other in (("Seed", here.seed, there.seed), ("Trace version", here.version, there.version)):
        if one != other:
            yield f"{name}: {one}; {other}."
    for key in sorted({*here.settings, *there.settings}):
        one, other = here.settings.get(key, "none"), there.settings.get(key, "none")
        if one != other:
            yield f"{key.capitalize()}: {one}; {other}."
    if here.topology != there.topology:
        yield from _documents("", _document(here), _document(there))


def _document(started: RunStarted) -> Any:
    try:
        return json.loads(started.topology)
    except ValueError:
        return started.topology


def _documents(path: str, one: Any, other: Any) -> Iterator[str]:
    """Yield the differences of two topologies, as `servers.A.settings: ...`."""
    if one == other:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            yield from _documents(f"{path}.{key}" if path else str(key), one.get(key), other.get(key))
        return
    yield f"Topology, {path or 'whole'}: {json.dumps(one, ensure_ascii=False)}; {json.dumps(other, ensure_ascii=False)}."


def _instants(run: RunEvents) -> Iterator[tuple[LabTime, Counter[str]]]:
    """Yield each instant with its events. The order within one instant may differ between drivers."""
    told = (event for event in run.events if tag_of(event) not in _ALWAYS)
    for at, events in groupby(told, key=lambda event: event.at):
        yield at, Counter(one_line(event, run.names) for event in events)


def _parting(left: RunEvents, right: RunEvents) -> tuple[LabTime | None, list[str], list[str]]:
    here, there = iter(_instants(left)), iter(_instants(right))
    while True:
        one, other = next(here, None), next(there, None)
        if one is None and other is None:
            return None, [], []
        at = min(each[0] for each in (one, other) if each is not None)
        of_left = one[1] if one is not None and one[0] == at else Counter()
        of_right = other[1] if other is not None and other[0] == at else Counter()
        if of_left != of_right:
            return at, sorted((of_left - of_right).elements()), sorted((of_right - of_left).elements())


def _arrivals(left: RunEvents, right: RunEvents) -> Iterator[str]:
    here, there = _had(left), _had(right)
    for key in sorted({*here, *there}):
        number, what, store = key
        one, other = here.get(key), there.get(key)
        if one == other:
            continue
        if one is None or other is None:
            at = one if one is not None else other
            assert at is not None
            which = "the first" if one is not None else "the second"
            yield f"{store} has {number} ({what}) in {which} only, since {to_the_second(at)}"
        else:
            later = "later" if other > one else "earlier"
            yield f"{store} has {number} ({what}) {hours_and_minutes(abs(other - one))} {later} in the second"


def _had(run: RunEvents) -> dict[tuple[str, str, str], LabTime]:
    """Return when each store received each change."""
    found: dict[tuple[str, str, str], LabTime] = {}
    for event in run.events:
        if isinstance(event, ChangeMade | VersionApplied):
            key = (
                run.names.number(event.number),
                run.names.as_of(event.at).what(event.folder, event.object, event.number),
                event.node,
            )
            found.setdefault(key, event.at)
    return found


def _verdict(run: RunEvents) -> str:
    ended: Event | None = next((event for event in reversed(run.events) if isinstance(event, RunEnded)), None)
    if not isinstance(ended, RunEnded):
        return f"{_name(run.path)} did not end"
    return f"{_name(run.path)} {_ENDS.get(ended.verdict, ended.verdict)}"


_ENDS = {"none": "ended without a verdict"}
"""Verdicts with a special wording. `none`: nobody judged the run; `pflab check` can judge it."""


def _name(path: Path) -> str:
    return "/".join(path.resolve().parts[-2:])
