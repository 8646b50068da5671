"""Read and write plan files: YAML for people, with one line for each step and fault; JSON for programs.

Reading checks the structure of a file, and then the limits of its values. A typing error or a malicious file is refused
with one line, before anything is played.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pflab.campaign.plans.plan import Delay, Partition, Plan, Reordering
from pflab.errors import LabError
from topology.file.yaml_source import read_yaml
from traces.errors import TimeTextError
from traces.labtime import DAY_US, format_duration, parse_duration

_SPANS = frozenset({"at", "lasts", "by", "dead", "gap", "jitter", "length"})
"""Keys whose values are durations of lab time: microseconds in memory, text such as `15 min` in a file."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*( [A-Za-z0-9._/-]+)*|-?[0-9]+ [a-z]+( [0-9]+ [a-z]+)*")
_RESERVED = frozenset({"true", "false", "null"})

MAX_BYTES = 1024 * 1024
"""The size of the largest plan file that is read. Generated plans are far smaller."""


def document_of(plan: Plan) -> dict[str, Any]:
    """Return the plan as plain values, with durations as text."""
    document = msgspec.to_builtins(plan)
    assert isinstance(document, dict)
    return {"plan": plan.plan, **_outside_topology(document, format_duration, int)}


def plan_of(document: Any, name: str = "plan") -> Plan:
    """Return the plan in a document. If it is not a plan, raise LabError with one line that says what is wrong and where."""
    if not isinstance(document, dict) or "topology" not in document:
        raise LabError(f"{name}: not a plan; `pflab simulate --seeds 1 --expand` prints one")
    try:
        plan = msgspec.convert(_outside_topology(document, _parsed, object), Plan)
    except (msgspec.ValidationError, TimeTextError) as error:
        raise LabError(f"{name}: {error}") from None
    problem = problem_of(plan)
    if problem:
        raise LabError(f"{name}: {problem}")
    return plan


def _parsed(value: Any) -> Any:
    """Return the microseconds of a duration in a file. Raises TimeTextError for a number without a unit."""
    if isinstance(value, int | float) and value != 0:
        raise TimeTextError(f"{value} has no unit; write for example 90 min")
    return parse_duration(value) if isinstance(value, str) else value


def _outside_topology(document: dict[str, Any], change: Callable[[Any], Any], kind: type) -> dict[str, Any]:
    """Apply `change` to all durations outside the topology. Durations in the topology are always text."""
    rest = {key: value for key, value in document.items() if key != "topology"}
    return {
        key: document["topology"] if key == "topology" else value
        for key, value in {**dict.fromkeys(document), **_spans(rest, change, kind)}.items()
    }


def _spans(value: Any, change: Callable[[Any], Any], kind: type) -> Any:
    if isinstance(value, dict):
        return {
            key: change(item) if key in _SPANS and isinstance(item, kind) else _spans(item, change, kind)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_spans(item, change, kind) for item in value]
    return value


def plan_text(plan: Plan, comments: Sequence[str] = ()) -> str:
    """Return the plan as YAML. It starts with `comments`."""
    lines = [f"# {line}".rstrip() for comment in comments for line in comment.splitlines()]
    return "\n".join([*lines, *_block(document_of(plan), "")]) + "\n"


def _block(document: dict[str, Any], margin: str) -> Iterator[str]:
    """Yield one line for each step, fault, server, folder and setting."""
    for key, value in document.items():
        if key == "topology":
            yield f"{margin}{key}:"
            yield from _block(value, margin + "  ")
        elif isinstance(value, dict) and value:
            yield f"{margin}{_scalar(key)}:"
            yield from (f"{margin}  {_scalar(name)}: {_scalar(item)}" for name, item in value.items())
        elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            yield f"{margin}{_scalar(key)}:"
            yield from (f"{margin}  - {_scalar(_time_first(item))}" for item in value)
        else:
            yield f"{margin}{_scalar(key)}: {_scalar(value)}"


def _time_first(item: dict[str, Any]) -> dict[str, Any]:
    """Put the time and the kind of a step or fault first, so that the times form a column."""
    return {**{key: item[key] for key in ("at", "do", "fault") if key in item}, **item}


def _scalar(value: Any) -> str:
    """Return a value as one line of YAML 1.2."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_scalar(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_scalar(each) for each in value)}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    return json.dumps(value, ensure_ascii=False)


def plan_from_text(text: str, name: str = "plan") -> Plan:
    """Read what `plan_text` wrote, or JSON. Raises LabError if the text is not a plan."""
    source = read_yaml(text, name)
    if source.problems:
        raise LabError(str(source.problems[0]))
    return plan_of(source.data, name)


def load_plan(path: Path) -> Plan:
    """Read a plan file. Raises LabError if it cannot be read or is not a plan."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise LabError(f"{path}: {(error.strerror or str(error)).lower()}; name a plan file") from None
    if len(data) > MAX_BYTES:
        raise LabError(f"{path}: the file is larger than {MAX_BYTES // 1024**2} MiB, the limit for a plan")
    return plan_from_text(data.decode("utf-8", "replace"), str(path))


LONGEST_US = 1000 * DAY_US
"""The longest duration in a plan. `--days` is at most 365."""

MOST_POSTS = 10_000
"""The most posts of one step."""

MOST_LETTERS = 10_000_000
"""The most characters that the bodies of one step have together."""

_LEAST: Mapping[str, int] = {"count": 1, "size": 0, "after": 0, "seed": 0}
"""The smallest value that each of these keys can have."""

_BOTH_WAYS = "by"
"""The only key whose duration may be negative, because a clock can be fast or slow."""

_LATER = (Delay, Reordering)


def problem_of(plan: Plan) -> str:
    """Return a text about the first value of a plan that is outside its limits, or '' if there is none."""
    return next(_problems(plan), "")


def _problems(plan: Plan) -> Iterator[str]:
    yield from _amounts(plan, "")
    yield from _amounts(plan.network, "network.")
    for what, items in (("steps", plan.steps), ("faults", plan.faults)):
        for index, item in enumerate(items):
            yield from _amounts(item, f"{what}[{index}].")
    for index, step in enumerate(plan.steps):
        count, size = getattr(step, "count", 1), getattr(step, "size", 0)
        if count > MOST_POSTS:
            yield f"steps[{index}].count: {count}; at most {MOST_POSTS} posts a step"
        elif count * size > MOST_LETTERS:
            yield f"steps[{index}].size: {count} posts of {size} characters; at most {MOST_LETTERS} characters a step"
    for index, fault in enumerate(plan.faults):
        if isinstance(fault, _LATER) and fault.by_us <= 0:
            yield f"faults[{index}].by: the delay must be more than 0 s; write for example 20 min"
        if isinstance(fault, Partition) and fault.between[0] == fault.between[1]:
            yield f"faults[{index}].between: {fault.between[0]} is named twice; name two different servers or sites"


def _amounts(item: Any, where: str) -> Iterator[str]:
    for field in msgspec.structs.fields(item):
        value, key = getattr(item, field.name), field.encode_name
        if field.name.endswith("_us"):
            yield from _span(value, key, where + key)
        elif key in _LEAST and value is not None and value < _LEAST[key]:
            yield f"{where}{key}: {value}; {_LEAST[key]} or more"


def _span(value: int, key: str, where: str) -> Iterator[str]:
    if key == "at" and value < 0:
        yield f"{where}: {format_duration(value)} is before the lab's start; `at` counts from the start"
    elif value < 0 and key != _BOTH_WAYS:
        yield f"{where}: {format_duration(value)} is negative; write 0 s or more"
    elif abs(value) > LONGEST_US:
        yield f"{where}: {format_duration(value)}; at most {format_duration(LONGEST_US)}"
