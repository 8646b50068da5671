"""The actions of `pflab fault` that inject a fault: one for each kind, whose options are the fields of the kind."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any, Final

import msgspec
from typer import Argument, Option

from node.api.routing.reading import Wrong, read_value
from pflab.cli.output import CommandError, Json
from pflab.cli.running_lab import Lab
from pflab.faults.fault import Fault, Separation, ServerFault, Smtp
from pflab.faults.schemas import schema_of

Inject = Callable[[Fault, str | None, bool], int]
"""Injects a fault into the lab of a URL; prints its id, as JSON or not. Returns the exit code."""

EXAMPLES: Final = {
    "lose": "--from A --to B --type content --count 1",
    "alter": "--from A --to B --lasts '2 h'",
    "rewrite": "--header Content-Type --to B --count 1",
    "delay": "--to B --by '40 min'",
    "duplicate": "--type status --count 3",
    "reorder": "--from A --to B",
    "cut": "A B --one-way",
    "blackhole": "A B",
    "smtp": "--verb RCPT --does 451 --to B --count 2",
    "hold": "--from A --to B --lasts '2 h'",
    "unstamp": "B",
    "unlink": "B",
    "double": "B",
    "skew": "B --by '10 min'",
}
"""For each kind, an example of its arguments."""

_METAVARS: Final = {"server": "SERVER", "connector": "CONNECTOR", "span": "DURATION"}
"""For each format of a field's schema, the name of its value in the help."""


_NAMED: Final = {"mail": "MESSAGE-ID", "does": "REPLY|WHAT"}
"""The names of other values that differ from their field."""


def injection(name: str, kind: type[Fault], inject: Inject) -> Callable[..., int]:
    """Return the function of the action that injects a fault of a kind.

    name: the word for the kind.
    inject: injects the fault.
    """
    schema = schema_of(kind)
    parameters = [
        parameter
        for field in msgspec.structs.fields(kind)
        for parameter in _parameters(kind, field, schema["properties"][field.encode_name])
    ]

    def action(lab: str | None, as_json: bool, **options: Any) -> int:
        fields = {field: value for field, value in options.items() if value not in (None, [], ())}
        try:
            fault = read_value({"kind": name, **_joined(kind, fields)}, kind)
        except Wrong as error:
            place, words = error.mistakes[0]
            where = f"--{'.'.join(place)}" if place and place[0] not in {"between", "server"} else "the ends"
            raise CommandError(f"pflab fault {name}: {where.replace('_', '-')}: {words}") from None
        return inject(fault, lab, as_json)

    parameters += [
        Parameter("lab", Parameter.KEYWORD_ONLY, default=None, annotation=Lab),
        Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=Json),
    ]
    action.__signature__ = Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]  # Typer reads it
    action.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    action.__doc__ = f"{schema['description']}\n\nExample: pflab fault {name} {EXAMPLES[name]}"
    return action


def _parameters(kind: type[Fault], field: msgspec.structs.FieldInfo, schema: dict[str, Any]) -> list[Parameter]:
    """Return the parameters for a field: one, and for ends also those of the former spelling."""
    name, help_ = field.name, schema.get("description", "")
    type_: Any = {"integer": int, "boolean": bool, "array": list[str]}.get(schema.get("type", ""), str)
    metavar = (
        _METAVARS.get(schema.get("format", ""))
        or _NAMED.get(name)
        or {str: field.encode_name.upper(), int: "N"}.get(type_)
    )
    words = schema.get("enum")
    more: dict[str, Any] = {"autocompletion": lambda: list(words)} if words else {}
    if issubclass(kind, ServerFault) and name == "server":
        return [_parameter(name, type_, Argument(metavar="SERVER", help=help_))]
    if name == "between":
        ends = Argument(metavar="END...", help=help_)
        former = [_parameter(end, str, Option(f"--{end.rstrip('_')}", hidden=True), None) for end in ("from_", "to")]
        return [_parameter(name, type_, ends, None), *former]
    if name == "link":
        return [_parameter(name, str, Option("--link", metavar="SERVER,SERVER", help=help_), None)]
    options = [f"--{field.encode_name.replace('_', '-')}"]
    if kind is Smtp and name == "verb":
        options.append("--at")  # the spelling of pflab 0.1, for one release
    if type_ is bool:
        return [_parameter(name, bool, Option(options[0], help=help_), False)]
    if not field.required and schema.get("default") is not None:
        help_ = f"{help_.removesuffix('.')}; default: {schema['default']}."
    option = Option(*options, metavar=metavar, help=help_, min=schema.get("minimum"), **more)
    return [_parameter(name, type_, option) if field.required else _parameter(name, type_, option, None)]


def _parameter(name: str, type_: Any, about: Any, default: Any = Parameter.empty) -> Parameter:
    hint = type_ | None if default is None else type_
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[hint, about])


def _joined(kind: type[Fault], fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields as a fault has them."""
    if issubclass(kind, Separation) and ("from_" in fields or "to" in fields):
        fields["between"] = [end for end in (fields.pop("from_", None), fields.pop("to", None)) if end is not None]
    if "link" in fields:
        fields["link"] = [name.strip() for name in fields["link"].split(",")]
    if fields.get("one_way") is False:
        del fields["one_way"]
    return {name.rstrip("_"): value for name, value in fields.items()}
