"""Plans as files: YAML for people (a line for each step and fault), JSON for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

from pflab.campaign_plan import Plan
from pflab.lab import LabError
from topology import read_yaml
from traces.errors import TimeTextError
from traces.labtime import format_duration, parse_duration

_SPANS = frozenset({"at", "lasts", "by", "gap", "jitter", "length"})
"""Keys whose values are spans of lab time: numbers in memory, `15 min` in a file."""

MAX_BYTES = 4 * 1024 * 1024
"""Far more than any plan that was drawn."""


def document_of(plan: Plan) -> dict[str, Any]:
    """The plan as plain values, spans as text."""
    document = msgspec.to_builtins(plan)
    assert isinstance(document, dict)
    return {
        key: value if key == "topology" else _spans(value, format_duration, int) for key, value in document.items()
    }


def plan_of(document: Any, name: str = "plan") -> Plan:
    """The plan of a document. Raises LabError, one line that says what is wrong and where."""
    if not isinstance(document, dict) or "topology" not in document:
        raise LabError(f"{name}: not a plan; `pflab simulate --seeds 1 --expand` prints one")
    try:
        read = {
            key: value if key == "topology" else _spans(value, parse_duration, str) for key, value in document.items()
        }
        plan = msgspec.convert(read, Plan)
    except (msgspec.ValidationError, TimeTextError) as error:
        raise LabError(f"{name}: {error}") from None
    if any(each.at_us < 0 for each in (*plan.steps, *plan.faults)):
        raise LabError(f"{name}: a time before the lab's start; `at` counts from it")
    return plan


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
    """The plan as YAML, `comments` on top, one line each."""
    document = document_of(plan)
    steps, faults = document.pop("steps", []), document.pop("faults", [])
    lines = [f"# {line}".rstrip() for comment in comments for line in comment.splitlines()]
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)
    lines += text.rstrip("\n").splitlines()
    for title, items in (("steps", steps), ("faults", faults)):
        lines.append(f"{title}:" if items else f"{title}: []")
        lines += [f"  - {_flow(item)}" for item in items]
    return "\n".join(lines) + "\n"


def _flow(item: dict[str, Any]) -> str:
    # The time first, then what it is: a list that can be read downwards.
    first = [key for key in ("at", "do", "fault") if key in item]
    ordered = {key: item[key] for key in [*first, *(key for key in item if key not in first)]}
    text = yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True, default_flow_style=True, width=10_000)
    return text.strip()


def plan_from_text(text: str, name: str = "plan") -> Plan:
    """Reads what `plan_text` wrote, or JSON. Raises LabError."""
    source = read_yaml(text, name)
    if source.problems:
        raise LabError(str(source.problems[0]))
    return plan_of(source.data, name)


def load_plan(path: Path) -> Plan:
    """Raises LabError for what is not a plan or cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise LabError(f"{path}: {(error.strerror or str(error)).lower()}; name a plan file") from None
    if len(data) > MAX_BYTES:
        raise LabError(f"{path}: over {MAX_BYTES // 1024**2} MiB; no plan is that large")
    return plan_from_text(data.decode("utf-8", "replace"), str(path))
