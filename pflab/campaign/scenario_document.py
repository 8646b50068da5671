"""The scenario of a seed as a document: the values of a scenario file, which a campaign draws, plays, reduces and writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pflab.faults.fault import KINDS
from pflab.scenario.load import Scenario, scenario_from_source
from pflab.terms.folder_ids import HIERARCHY
from topology.file.yaml_source import YamlSource
from topology.recipient_policy import DEFAULT_POLICY

Document = dict[str, Any]
"""A scenario as in its file. All steps except the last one have times; the last two repair the lab, and wait until it has
converged."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*( [A-Za-z0-9._/-]+)*|-?[0-9]+ [a-z]+( [0-9]+ [a-z]+)*")
_RESERVED = frozenset({"true", "false", "null"})

TAIL = 2
"""How many steps at the end are not part of the work."""


def scenario_of_document(document: Document) -> Scenario:
    """Return the checked scenario. Raises ScenarioError if the document has mistakes."""
    return scenario_from_source(YamlSource(document["title"], document, (), None))


def verb_of(step: Mapping[str, Any]) -> str:
    return next(key for key in step if key != "at")


def known_steps(steps: Sequence[Document], topology: Mapping[str, Any]) -> list[Document]:
    """Return the steps whose folders, messages, faults, backups, sites, servers, connectors and recipient policies the topology
    or other steps create."""
    connectors = [entry.get("name", "-".join(entry["between"])) for entry in topology.get("connectors") or ()]
    policies = [entry["name"] for entry in topology.get("recipient_policies") or ()]
    places = (topology.get("folders") or {}, topology["servers"], topology.get("sites") or (), connectors, policies)
    known = {HIERARCHY, DEFAULT_POLICY, "/", "all", *_names_of(steps), *(name for names in places for name in names)}
    fitting = [step for step in steps if _names_in(step) <= known]
    return fitting if len(fitting) == len(steps) else known_steps(fitting, topology)


def _names_of(steps: Sequence[Document]) -> Iterator[str]:
    for step in steps:
        args = step[verb_of(step)]
        if verb_of(step) in {"site", "server", "connector", "recipient_policy"} and "add" in args:
            yield args["add"]
        if isinstance(args, dict) and "as" in args:
            yield args["as"]
            yield from (f"{args['as']}-{number}" for number in range(1, args.get("count") or 1))
            if "count" in args:
                yield f"{args['as']}-{args['count']}"


def _names_in(step: Document) -> set[str]:
    """Return the names that a step uses."""
    verb = verb_of(step)
    args = step[verb]
    if verb in {"heal", "start", "stop", "kill"}:
        return set(_listed(args))
    if not isinstance(args, dict):
        return set()
    keys = ["folder", "message", "backup", "change", "rename", "move", "propagate", "under", "connector"]
    keys += ["on", "site", "between", "based_on"]
    keys += {
        "send": ["to"],
        "folder": ["delete"],
        "connector": ["remove"],
        "recipient_policy": ["remove"],
        "replica": ["add", "remove"],
    }.get(verb, [])
    names = {name for key in keys for name in _listed(args.get(key))}
    if verb == "recipient_policy":
        filter_ = args.get("filter") or {}
        names |= {name for part in ("sites", "servers") for name in _listed(filter_.get(part))}
    return names


def _listed(value: str | Sequence[str] | None) -> Sequence[str]:
    """Return one name, several or none as a list."""
    return [value] if isinstance(value, str) else value or []


def is_live(document: Document) -> bool:
    """Return whether real servers can have all faults of a scenario."""
    return not any(
        (kind := KINDS.get(verb_of(step))) and (kind.only_simulated or "how" in step[verb_of(step)])
        for step in document["steps"]
    )


def scenario_text(document: Document, comments: Sequence[str] = ()) -> str:
    """Return the document as YAML, with one line for each step. It starts with `comments`."""
    head = {**document, **({} if is_live(document) else {"live": False})}
    head |= {key: head.pop(key) for key in ("topology", "steps")}  # at the end
    lines = [f"# {line}".rstrip() for comment in comments for line in comment.splitlines()]
    return "\n".join([*lines, *_block(head, "")]) + "\n"


def _block(document: Document, margin: str) -> Iterator[str]:
    """Yield one line for each step, server, folder and setting."""
    for key, value in document.items():
        if key == "topology":
            yield f"{margin}{key}:"
            yield from _block(value, margin + "  ")
        elif isinstance(value, dict) and value:
            yield f"{margin}{_scalar(key)}:"
            yield from (f"{margin}  {_scalar(name)}: {_scalar(item)}" for name, item in value.items())
        elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            yield f"{margin}{_scalar(key)}:"
            yield from (f"{margin}  - {_scalar(item)}" for item in value)
        else:
            yield f"{margin}{_scalar(key)}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    """Return a value as one line of YAML 1.2."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_scalar(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_scalar, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    return json.dumps(value, ensure_ascii=False)
