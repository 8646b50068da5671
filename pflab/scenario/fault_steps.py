"""Faults as steps of a scenario: the fields are those of `pflab.faults.fault`, and `as` names the fault for a later heal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from node.api.routing.reading import Mistake, Wrong, read_value
from pflab.faults.fault import KINDS, AnyFault, Fault, Kill, Separation, kind_of
from pflab.faults.schemas import schema_of

FAULT_VERBS: Final[Mapping[str, type[Fault]]] = {name: kind for name, kind in KINDS.items() if kind is not Kill}
"""The kinds of fault that a scenario injects; it kills a server by a verb that takes a list of servers."""


_FORMER: Final[Mapping[str, Mapping[str, str]]] = {
    "smtp": {"at": "verb", "reply": "does", "for": "lasts"},
    "hold": {"for": "lasts"},
    "alter": {"for": "lasts"},
}
"""The keys of pflab 0.1, and those of now. Both work in this release."""


@dataclass(frozen=True, slots=True)
class FaultStep:
    """The arguments of a verb that injects a fault.

    name: its name for later steps.
    """

    fault: AnyFault
    name: str | None = None


def fault_step(kind: type[Fault], value: Any) -> FaultStep:
    """Return the step that a mapping of a file describes. Raises Wrong, which has all mistakes."""
    if not isinstance(value, dict):
        raise Wrong(Mistake((), f"is not a mapping; write the keys {', '.join(keys_of(kind))}"))
    arguments = dict(value)
    name = arguments.pop("as", None)
    if name is not None and not isinstance(name, str):
        raise Wrong(Mistake(("as",), f"{name!r} is not a text; write a name in quotes"))
    for former, key in _FORMER.get(kind_of(kind), {}).items():
        if former in arguments:
            arguments.setdefault(key, arguments.pop(former))
    if issubclass(kind, Separation) and "from" in arguments and "to" in arguments:
        arguments |= {"between": [arguments.pop("from"), arguments.pop("to")], "one_way": True}
    if isinstance(arguments.get("does"), int):
        arguments["does"] = str(arguments["does"])  # a reply such as 451 is a number in YAML
    fault: Any = read_value({"kind": kind_of(kind), **arguments}, kind)
    return FaultStep(fault, name)


def keys_of(kind: type[Fault]) -> list[str]:
    """Return the keys of a step that injects a fault of this kind."""
    return [*(field.encode_name for field in msgspec.structs.fields(kind)), "as"]


def fault_schema(kind: type[Fault]) -> dict[str, Any]:
    """Return the JSON Schema of the arguments of a step that injects a fault of this kind."""
    schema = schema_of(kind)
    properties = {name: value for name, value in schema["properties"].items() if name != "kind"}
    schema["properties"] = {**properties, "as": {"type": "string", "description": "Its name for later steps."}}
    schema["required"] = [name for name in schema.get("required", ()) if name != "kind"]
    return schema


def names_in(fault: Fault) -> Iterator[tuple[str, str | list[str], str]]:
    """Yield the key, the value and the kind of each name in a fault: server, server or site, connector."""
    for field in msgspec.structs.fields(type(fault)):
        value, what = getattr(fault, field.name), _WHAT.get(field.encode_name)
        if value is not None and what is not None:
            yield field.encode_name, value, what


_WHAT: Final[Mapping[str, str]] = {
    "from": "server",
    "to": "server",
    "link": "server",
    "server": "server",
    "between": "server or site",
    "connector": "connector",
}
