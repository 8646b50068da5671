"""Read and write plan files: YAML for people, with one line for each step and fault; JSON for programs.
`pflab schema plan` prints the JSON Schema of these files.

Reading checks the whole file (`pflab.campaign.plans.checks`) before anything is played.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pflab.campaign.plans.checks import duration_of, plan_problems
from pflab.campaign.plans.plan import Plan
from pflab.errors import LabError
from topology.file.schema import topology_schema
from topology.file.yaml_source import read_yaml
from topology.problems import ProblemsError
from traces.labtime import format_duration

_SPANS = frozenset({"at", "lasts", "by", "dead", "gap", "jitter", "length"})
"""Keys whose values are durations of lab time: microseconds in memory, text such as `15 min` in a file."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*( [A-Za-z0-9._/-]+)*|-?[0-9]+ [a-z]+( [0-9]+ [a-z]+)*")
_RESERVED = frozenset({"true", "false", "null"})


class PlanError(ProblemsError):
    """A plan file with mistakes: all of them, one line each."""


MAX_BYTES = 1024 * 1024
"""The size of the largest plan file that is read. Generated plans are far smaller."""


def document_of(plan: Plan) -> dict[str, Any]:
    """Return the plan as plain values, with durations as text."""
    document = msgspec.to_builtins(plan)
    assert isinstance(document, dict)
    return {"plan": plan.plan, **_outside_topology(document, format_duration, int)}


def plan_of(document: Mapping[str, Any]) -> Plan:
    """Return the plan in a document without mistakes (`pflab.campaign.plans.checks`)."""
    return msgspec.convert(_outside_topology(dict(document), duration_of, object), Plan)


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
    return text_of_document(document_of(plan), comments)


def text_of_document(document: dict[str, Any], comments: Sequence[str] = ()) -> str:
    """Return a document as YAML, with one line for each step. It starts with `comments`."""
    lines = [f"# {line}".rstrip() for comment in comments for line in comment.splitlines()]
    return "\n".join([*lines, *_block(document, "")]) + "\n"


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
    """Read what `plan_text` wrote, or JSON. Raises PlanError with every mistake."""
    source = read_yaml(text, name)
    problems = plan_problems(source)
    if problems:
        raise PlanError(problems)
    return plan_of(source.data)


def load_plan(path: Path) -> Plan:
    """Read a plan file. Raises LabError if it cannot be read, and PlanError with every mistake in it."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise LabError(f"{path}: {(error.strerror or str(error)).lower()}; name a plan file") from None
    if len(data) > MAX_BYTES:
        raise LabError(f"{path}: the file is larger than {MAX_BYTES // 1024**2} MiB, the limit for a plan")
    return plan_from_text(data.decode("utf-8", "replace"), str(path))


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema of a plan file, for editors."""
    (plan,), definitions = msgspec.json.schema_components([Plan])
    definitions = {name: _as_in_files(each) for name, each in definitions.items()}
    schema = definitions.pop(plan["$ref"].rpartition("/")[2])
    topology = topology_schema()
    definitions.update(topology.pop("$defs"))
    del topology["$schema"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "pflab plan",
        "properties": {**schema["properties"], "topology": topology},
        "$defs": dict(sorted(definitions.items())),
    }


def _as_in_files(definition: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a class, with durations as text, and with the names of keys in its description."""
    changed = dict(definition)
    if "description" in definition:
        changed["description"] = " ".join(definition["description"].replace("_us", "").split())
    if "properties" in definition:
        changed["properties"] = {
            key: {"type": "string", "examples": ["15 min"]} if key in _SPANS else value
            for key, value in definition["properties"].items()
        }
    return changed
