"""Which values a plan file may have. Structure and kinds are checked as it is read; here come the amounts, so that a slip
of the pen, or a file by an enemy, is one line before anything is played.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pflab.campaign_plan import Delay, Partition, Plan, Reordering
from traces.labtime import DAY_US, format_duration

LONGEST_US = 1000 * DAY_US
"""Of any span in a plan. `--days` draws at most 365 days."""

MOST_POSTS = 10_000
"""Of one step."""

MOST_LETTERS = 10_000_000
"""Of one step's bodies, all together."""

_LEAST: Mapping[str, int] = {"count": 1, "size": 0, "after": 0, "seed": 0}
"""Of numbers."""

_BOTH_WAYS = "by"
"""The one span that may be below nothing: a clock is fast or slow."""

_LATER = (Delay, Reordering)


def problem_of(plan: Plan) -> str:
    """What is out of bounds in a plan, and where; '' if nothing is."""
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
            yield f"steps[{index}].size: {count} of {size} letters; at most {MOST_LETTERS} a step, all together"
    for index, fault in enumerate(plan.faults):
        if isinstance(fault, _LATER) and fault.by_us <= 0:
            yield f"faults[{index}].by: a mail comes later by more than nothing; say for instance 20 min"
        if isinstance(fault, Partition) and fault.between[0] == fault.between[1]:
            yield f"faults[{index}].between: {fault.between[0]} twice; name two servers or sites"


def _amounts(item: Any, where: str) -> Iterator[str]:
    for field in msgspec.structs.fields(item):
        value, key = getattr(item, field.name), field.encode_name
        if field.name.endswith("_us"):
            yield from _span(value, key, where + key)
        elif key in _LEAST and value is not None and value < _LEAST[key]:
            yield f"{where}{key}: {value}; {_LEAST[key]} or more"


def _span(value: int, key: str, where: str) -> Iterator[str]:
    if key == "at" and value < 0:
        yield f"{where}: {format_duration(value)} is a time before the lab's start; `at` counts from it"
    elif value < 0 and key != _BOTH_WAYS:
        yield f"{where}: {format_duration(value)} is less than nothing; a span of 0 s or more"
    elif abs(value) > LONGEST_US:
        yield f"{where}: {format_duration(value)}; at most {format_duration(LONGEST_US)}"
