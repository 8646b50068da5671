"""The arguments of a change in JSON: a struct for each change, made from the signature of its method."""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import reduce
from inspect import Parameter, Signature
from operator import or_
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from topology.arguments import Line

ARGUMENT: Final = "argument"
"""The method by which a struct returns the value that the change takes instead of it."""


class Argument(NamedTuple):
    """One argument of a change.

    kind: its type in Python, with limits.
    default: `msgspec.NODEFAULT` if it must be given.
    by_name: whether Python code gives it by name only.
    """

    name: str
    kind: Any
    default: Any
    by_name: bool


def arguments_of(signature: Signature) -> list[Argument]:
    """Return the arguments after `self` and `now`. Those of `**fields` are the keys of its TypedDict."""
    _, _, *parameters = signature.parameters.values()
    arguments: list[Argument] = []
    for parameter in parameters:
        if parameter.kind is Parameter.VAR_KEYWORD:
            (keys,) = get_args(parameter.annotation)
            arguments += [Argument(name, kind, None, True) for name, kind in _hints(keys).items()]
        else:
            default = msgspec.NODEFAULT if parameter.default is Parameter.empty else parameter.default
            by_name = parameter.kind is Parameter.KEYWORD_ONLY
            arguments.append(Argument(parameter.name, parameter.annotation, default, by_name))
    return arguments


def struct_of(name: str, arguments: Sequence[Argument]) -> type[msgspec.Struct]:
    """Return a struct that has these arguments as JSON has them."""
    return _struct(name, [(argument.name, json_type(argument.kind), argument.default) for argument in arguments])


def _struct(
    name: str, members: Sequence[tuple[str, Any, Any]], namespace: dict[str, Any] | None = None
) -> type[msgspec.Struct]:
    struct_fields = [
        (field, kind) if default is msgspec.NODEFAULT else (field, kind, default) for field, kind, default in members
    ]
    return msgspec.defstruct(name, struct_fields, kw_only=True, forbid_unknown_fields=True, namespace=namespace)


_LETTER: Final = r"(?:[A-Za-z0-9+/][\r\n]*)"
_BASE64: Final = rf"^[\r\n]*(?:{_LETTER}{{4}})*(?:{_LETTER}{{2}}=[\r\n]*=[\r\n]*|{_LETTER}{{3}}=[\r\n]*)?$"
"""Base64, in lines or not."""


class Attachment(msgspec.Struct, forbid_unknown_fields=True):
    """A file attached to a message; its content is in base64."""

    name: Line
    content: Annotated[bytes, msgspec.Meta(extra_json_schema={"pattern": _BASE64})]

    def argument(self) -> tuple[str, bytes]:
        return self.name, self.content


def json_type(kind: Any) -> Any:
    """Return the type that JSON has for a type of an argument: a file and a dataclass are objects, a sequence is a list."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind == tuple[str, bytes]:
        return Attachment
    if is_dataclass(kind) and isinstance(kind, type):
        return _record(kind)
    if origin is Literal:  # msgspec sorts the words, but mistakes and documentation have them in their own order
        return Annotated[kind, msgspec.Meta(extra_json_schema={"enum": list(parts)})]
    if origin is Annotated:
        return Annotated[(json_type(parts[0]), *parts[1:])]
    if origin in {Sequence, tuple}:
        return list[json_type(parts[0])]  # type: ignore[misc]
    if origin in {Union, types.UnionType}:
        return reduce(or_, map(json_type, parts))
    return kind


def _record(kind: type[Any]) -> type[msgspec.Struct]:
    hints = _hints(kind)
    members = [
        (field.name, json_type(hints[field.name]), msgspec.NODEFAULT if field.default is MISSING else field.default)
        for field in fields(kind)
    ]

    def argument(self: msgspec.Struct) -> Any:
        return kind(**python_arguments(self))

    return _struct(kind.__name__, members, {ARGUMENT: argument, "__doc__": kind.__doc__})


def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def python_arguments(body: msgspec.Struct) -> dict[str, Any]:
    """Return the arguments as the method takes them. One that is null is left out."""
    return {name: _python(value) for name in body.__struct_fields__ if (value := getattr(body, name)) is not None}


def _python(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
        return tuple(getattr(element, ARGUMENT)() for element in value)
    return value
