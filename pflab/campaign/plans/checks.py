"""Find every mistake in a plan file, each with its line and with what would be right.

The structure is checked first: the topology, the keys and the values of each step and fault. Then the names: a step or fault
refers to servers, sites and folders of the topology, and to folders and messages by the labels of the steps that create them.
A wrong name would not fail when the plan is played, because a step whose target was never created is skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from pflab.campaign.plans.plan import (
    FAULT_CLASSES,
    STEP_CLASSES,
    CreateFolder,
    Cut,
    Delay,
    Fault,
    Network,
    Plan,
    Post,
    Reorder,
    Step,
)
from topology.file.load import topology_from_text
from topology.file.yaml_source import YamlSource
from topology.model import Topology
from topology.problems import PathItem, Problem, TopologyError, did_you_mean, quoted
from traces.errors import TimeTextError
from traces.labtime import DAY_US, format_duration, parse_duration

LONGEST_US: Final = 1000 * DAY_US
"""The longest duration in a plan. `--days` is at most 365."""

MOST_POSTS: Final = 10_000
"""The most posts of one step."""

MOST_LETTERS: Final = 10_000_000
"""The most characters that the bodies of one step have together."""

_LEAST: Final[Mapping[str, int]] = {"count": 1, "days": 1, "size": 0, "after": 0, "seed": 0}
"""The smallest value that each of these keys can have."""

_BOTH_WAYS: Final = "by"
"""The only key whose duration may be negative, because a clock can be fast or slow."""

_LATER: Final = (Delay, Reorder)

_SERVERS: Final = ("on", "store", "server", "from", "to", "link", "stop", "start", "replicas")
"""The keys whose values name servers."""

Kinds = Mapping[str, type[Step] | type[Fault]]

_LISTS: Final[tuple[tuple[str, str, Kinds], ...]] = (("steps", "do", STEP_CLASSES), ("faults", "fault", FAULT_CLASSES))
"""Each list of a plan, the key that names the kind of an item, and the kinds."""


def duration_of(value: Any) -> Any:
    """Return the microseconds of a duration in a file. Raises TimeTextError for a number without a unit."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value != 0:
        raise TimeTextError(f"{value} has no unit; write for example 90 min")
    return parse_duration(value) if isinstance(value, str) else value


def plan_problems(source: YamlSource) -> list[Problem]:
    """Return the mistakes of a plan file, in no order."""
    if source.problems:
        return list(source.problems)
    if not isinstance(source.data, dict) or "topology" not in source.data:
        return [source.problem((), "not a plan", "pflab simulate --seeds 1 --expand prints one")]
    check = _Check(source)
    check.plan(source.data)
    return check.found


@dataclass(slots=True)
class _Check:
    source: YamlSource
    found: list[Problem] = field(default_factory=list)

    def plan(self, data: dict[str, Any]) -> None:
        self._struct((), {**data, "steps": (), "faults": (), "network": {}, "topology": {}}, Plan)
        if "network" in data:
            self._struct(("network",), data["network"], Network)
        topology = self._topology(data["topology"])
        items: list[tuple[tuple[PathItem, ...], Step | Fault]] = []
        for name, tag, kinds in _LISTS:
            listed = data.get(name, [])
            if not isinstance(listed, list):
                self._report((name,), "is not a list", f"write each of the {name} with a dash before it")
                continue
            for index, each in enumerate(listed):
                item = self._item((name, index), each, tag, kinds)
                if item is not None:
                    items.append(((name, index), item))
        if topology is not None and not self.found:  # a step with a mistake may be the one that defines a label
            self._names(items, topology)

    # -- structure

    def _report(self, path: tuple[PathItem, ...], what: str, right: str = "", *, of_key: bool = False) -> None:
        self.found.append(self.source.problem(path, what, right, of_key=of_key))

    def _topology(self, document: Any) -> Topology | None:
        if not isinstance(document, dict):
            self._report(("topology",), "is not a topology", "write the keys of a topology file below it")
            return None
        try:
            return topology_from_text(json.dumps(document), self.source.name)
        except TopologyError as error:
            self.found += [self.source.moved("topology", problem) for problem in error.problems]
            return None

    def _item(self, path: tuple[PathItem, ...], value: Any, tag: str, kinds: Kinds) -> Any:
        """Return a step or a fault, or None if it has mistakes."""
        if not isinstance(value, dict):
            self._report(path, f"{quoted(value)} has no keys", f"write for example {{at: 1 h, {tag}: ...}}")
            return None
        if tag not in value:
            self._report(path, f"has no {quoted(tag)}", did_you_mean("", kinds))
            return None
        kind = kinds.get(str(value[tag]))
        if kind is None:
            self._report((*path, tag), f"{quoted(value[tag])} is unknown", did_you_mean(str(value[tag]), kinds))
            return None
        return self._struct(path, value, kind, tag)

    def _struct(self, path: tuple[PathItem, ...], value: Any, kind: type[msgspec.Struct], tag: str = "") -> Any:
        """Return the struct that a mapping describes, or None if it has mistakes."""
        if not isinstance(value, dict):
            self._report(path, f"{quoted(value)} has no keys", "write its keys and values")
            return None
        before = len(self.found)
        fields = {each.encode_name: each for each in msgspec.structs.fields(kind)}
        for key in value:
            if key not in fields and key != tag:
                self._report((*path, key), "is unknown", did_you_mean(str(key), fields), of_key=True)
        for key, each in fields.items():
            if each.required and key not in value:
                self._report(path, f"has no {quoted(key)}", f"add {key}: ...")
        given = dict(value)
        for key in given.keys() & {name for name, each in fields.items() if each.name.endswith("_us")}:
            try:
                given[key] = duration_of(given[key])
            except TimeTextError as error:
                self._report((*path, key), str(error))
        if len(self.found) > before:
            return None
        try:
            made = msgspec.convert(given, kind)
        except msgspec.ValidationError as error:
            what, _, where = str(error).partition(" - at `$")
            key = where.strip("`.").partition("[")[0]
            self._report((*path, key) if key in value else path, what[:1].lower() + what[1:])
            return None
        self._limits(path, made)
        return made if len(self.found) == before else None

    # -- limits

    def _limits(self, path: tuple[PathItem, ...], item: Any) -> None:
        for each in msgspec.structs.fields(type(item)):
            value, key = getattr(item, each.name), each.encode_name
            if each.name.endswith("_us"):
                self._span((*path, key), value, key)
            elif key in _LEAST and value is not None and value < _LEAST[key]:
                self._report((*path, key), f"{value}; {_LEAST[key]} or more")
        if isinstance(item, Post):
            if item.count > MOST_POSTS:
                self._report((*path, "count"), f"{item.count}; at most {MOST_POSTS} posts a step")
            elif item.count * item.size > MOST_LETTERS:
                what = f"{item.count} posts of {item.size} characters; at most {MOST_LETTERS} characters a step"
                self._report((*path, "size"), what)
        if isinstance(item, _LATER) and item.by_us <= 0:
            self._report((*path, "by"), "the delay must be more than 0 s", "write for example 20 min")
        if isinstance(item, Cut) and item.between[0] == item.between[1]:
            what = f"{item.between[0]} is named twice"
            self._report((*path, "between"), what, "name two different servers or sites")

    def _span(self, path: tuple[PathItem, ...], value: int, key: str) -> None:
        if key == "at" and value < 0:
            what = f"{format_duration(value)} is before the lab's start"
            self._report(path, what, "`at` counts from the start")
        elif value < 0 and key != _BOTH_WAYS:
            self._report(path, f"{format_duration(value)} is negative", "write 0 s or more")
        elif abs(value) > LONGEST_US:
            self._report(path, f"{format_duration(value)}; at most {format_duration(LONGEST_US)}")

    # -- names

    def _names(self, items: Iterable[tuple[tuple[PathItem, ...], Step | Fault]], topology: Topology) -> None:
        items = list(items)
        made = [item for _, item in items]
        folders = [*topology.folders, *(each.label for each in made if isinstance(each, CreateFolder))]
        messages = [label for each in made if isinstance(each, Post) for label in each.labels()]
        known: dict[str, tuple[str, Iterable[str]]] = {
            **dict.fromkeys(_SERVERS, ("server", topology.servers)),
            "between": ("server or site", [*topology.servers, *topology.sites]),
            "folder": ("folder", folders),
            "under": ("folder", folders),
            "recipient": ("folder", folders),
            "message": ("message", messages),
        }
        for path, item in items:
            for each in msgspec.structs.fields(type(item)):
                key = each.encode_name
                what, names = known.get(key, ("", ()))
                for place, name in _named((*path, key), getattr(item, each.name)) if what else ():
                    if name not in names:
                        self._report(place, f"no {what} {quoted(name)}", did_you_mean(name, names))


def _named(path: tuple[PathItem, ...], value: Any) -> Iterator[tuple[tuple[PathItem, ...], str]]:
    """Yield each name in a value, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, tuple):
        yield from (((*path, index), each) for index, each in enumerate(value))
