"""The arguments of a change in JSON: a struct for each change, made from the signature of its method, and mistakes in words.

A body is read in one of two ways:

    bytes -- msgspec, with the struct's types and limits --> arguments      almost always
      |
      | msgspec refuses
      v
    JSON value -- read again, along the same types --> mistakes in words, at most three
                                                   or the arguments, if JSON means what msgspec refuses: 7.0 for 7, and
                                                   base64 in lines

What must never happen: the second way accepts what breaks a limit. So it ends in msgspec's own check.
"""

from __future__ import annotations

import json
import types
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import reduce
from inspect import Parameter, Signature
from operator import or_
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect as declared

from topology.arguments import MOST_LETTERS, Line
from topology.problems import counted, quoted

MOST_MISTAKES: Final = 3
"""How many mistakes of a request an answer names."""

ARGUMENT: Final = "argument"
"""The method of a struct that returns what a change takes in its place."""


class Wrong(Exception):
    """The arguments of a request are not valid. The text is one line."""


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
    found: list[Argument] = []
    for parameter in parameters:
        if parameter.kind is Parameter.VAR_KEYWORD:
            (keys,) = get_args(parameter.annotation)
            found += [Argument(name, kind, None, True) for name, kind in _hints(keys).items()]
        else:
            default = msgspec.NODEFAULT if parameter.default is Parameter.empty else parameter.default
            by_name = parameter.kind is Parameter.KEYWORD_ONLY
            found.append(Argument(parameter.name, parameter.annotation, default, by_name))
    return found


def struct_of(name: str, arguments: Sequence[Argument]) -> type[msgspec.Struct]:
    """Return a struct that has these arguments as JSON has them."""
    return _struct(name, [(each.name, json_type(each.kind), each.default) for each in arguments])


def _struct(
    name: str, members: Sequence[tuple[str, Any, Any]], namespace: dict[str, Any] | None = None
) -> type[msgspec.Struct]:
    listed = [
        (field, kind) if default is msgspec.NODEFAULT else (field, kind, default) for field, kind, default in members
    ]
    return msgspec.defstruct(name, listed, kw_only=True, forbid_unknown_fields=True, namespace=namespace)


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
        (each.name, json_type(hints[each.name]), msgspec.NODEFAULT if each.default is MISSING else each.default)
        for each in fields(kind)
    ]

    def argument(self: msgspec.Struct) -> Any:
        return kind(**python_arguments(self))

    return _struct(kind.__name__, members, {ARGUMENT: argument, "__doc__": kind.__doc__})


def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def python_arguments(read: msgspec.Struct) -> dict[str, Any]:
    """Return the arguments as the method takes them. One that is null is left out."""
    given = {name: getattr(read, name) for name in read.__struct_fields__}
    return {name: _python(value) for name, value in given.items() if value is not None}


def _python(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
        return tuple(getattr(each, ARGUMENT)() for each in value)
    return value


def read(content: bytes, kind: type[msgspec.Struct]) -> msgspec.Struct:
    """Return the struct that a body has in JSON. Raise Wrong, which names the first mistakes."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _read_again(content, kind)


# --- the second way: along the types


class _Place(tuple[str, ...]):
    """Where a value is in the body: the names and numbers that lead to it."""

    __slots__ = ()

    def __truediv__(self, part: object) -> _Place:
        return _Place((*self, str(part)))


def _read_again(content: bytes, kind: type[msgspec.Struct]) -> msgspec.Struct:
    mistakes: list[str] = []
    value = _Reader(mistakes).read(declared.type_info(kind), _parsed(content), _Place())
    if mistakes:
        raise Wrong(" ".join("; ".join(mistakes[:MOST_MISTAKES]).split()))
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise Wrong(f"body: {str(error)[:1].lower()}{str(error)[1:]}") from None


def _parsed(content: bytes) -> Any:
    if not content:
        raise Wrong("body: missing; this field must be given")
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        raise Wrong(f"body: invalid JSON at character {error.pos}: {error.msg.lower()}") from None
    except (ValueError, RecursionError) as error:
        raise Wrong(f"body: {why_no_json(error)}") from None


def why_no_json(error: BaseException) -> str:
    """Return why Python could not read a body that looks like JSON, in words."""
    return next(words for kind, words in _NO_JSON.items() if isinstance(error, kind))


_NO_JSON: Final[Mapping[type[Exception], str]] = {
    UnicodeDecodeError: "not UTF-8; send JSON in UTF-8",
    RecursionError: "nested too deeply; send JSON with fewer levels",
    ValueError: "a number has too many digits; send a shorter one",
}
"""The first kind that fits counts."""


class _Reader:
    """Reads parsed JSON along types, and collects what is wrong as lines of text.

    mistakes: the list that gets the lines.
    """

    def __init__(self, mistakes: list[str]) -> None:
        self._mistakes = mistakes

    def read(self, kind: Any, value: Any, place: _Place) -> Any:
        """Return the value as msgspec accepts it."""
        if isinstance(kind, declared.UnionType):
            if value is None:
                return None
            (kind,) = (each for each in kind.types if not isinstance(each, declared.NoneType))
        words: Sequence[str] = ()
        if isinstance(kind, declared.Metadata):
            words, kind = (kind.extra_json_schema or {}).get("enum", ()), kind.type
        if isinstance(kind, declared.IntType) and isinstance(value, float) and value.is_integer():
            value = int(value)
        form, right = _FORMS[type(kind)]
        if not isinstance(value, form) or (isinstance(value, bool) and form is not bool):
            self._add(place, f"{quoted(value)} is not {right if place else _NO_OBJECT}")
            return value
        if words and value not in words:
            *most, last = map(repr, words)
            self._add(place, f"{quoted(value)} is not known here; write {', '.join(most)} or {last}")
        return _READERS[type(kind)](self, kind, value, place)

    def _add(self, place: _Place, words: str) -> None:
        self._mistakes.append(f"{'.'.join(place) or 'body'}: {words}")

    def text(self, kind: declared.StrType, value: str, place: _Place) -> str:
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            self._add(place, "not Unicode; write a text without lone surrogates")
        elif kind.max_length is not None and len(value) > kind.max_length:
            self._add(place, f"too long; at most {counted(kind.max_length, 'character')}")
        return value

    def number(self, kind: declared.IntType, value: int, place: _Place) -> int:
        if kind.ge is not None and value < kind.ge:
            self._add(place, f"{quoted(value)} is too small; at least {kind.ge}")
        elif kind.le is not None and value > kind.le:
            self._add(place, f"{quoted(value)} is too large; at most {kind.le}")
        return value

    def same(self, _kind: declared.Type, value: Any, _place: _Place) -> Any:
        return value

    def file(self, _kind: declared.BytesType, value: str, place: _Place) -> bytes:
        try:
            return b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
        except ValueError:
            self._add(place, "not base64; write the bytes of the file in base64")
            return b""

    def entries(self, kind: declared.ListType, value: list[Any], place: _Place) -> list[Any]:
        if kind.max_length is not None and len(value) > kind.max_length:
            self._add(place, f"too many entries; at most {kind.max_length}")
        elif kind.min_length is not None and len(value) < kind.min_length:
            self._add(place, f"too few entries; at least {kind.min_length}")
        return [self.read(kind.item_type, entry, place / number) for number, entry in enumerate(value)]

    def object(self, kind: declared.StructType, value: dict[str, Any], place: _Place) -> dict[str, Any]:
        names = [field.name for field in kind.fields]
        result = {}
        for field in kind.fields:
            if field.name in value:
                result[field.name] = self.read(field.type, value[field.name], place / field.name)
            elif field.required:
                self._add(place / field.name, "missing; this field must be given")
        for name in value:
            if name not in names:
                self._add(place / name, f"there is no such field; {right_field(name, names)}")
        return result


def right_field(name: str, names: Sequence[str]) -> str:
    """Return which of these fields was meant by a name that is none of them, or else all of them, in words."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed only after a mistake

    near = get_close_matches(name[:MOST_LETTERS], names, n=1)
    return f"did you mean {quoted(near[0])}?" if near else f"the fields are {', '.join(names)}"


_NO_OBJECT: Final = "an object; send JSON, with Content-Type: application/json"

_FORMS: Final[Mapping[type[Any], tuple[type[Any], str]]] = {
    declared.StrType: (str, "a text; write a text in quotes"),
    declared.LiteralType: (str, "a text; write a text in quotes"),
    declared.BytesType: (str, "a text; write the bytes of the file in base64"),
    declared.IntType: (int, "a whole number; write digits"),
    declared.BoolType: (bool, "true or false; write one of them"),
    declared.ListType: (list, "a list; write for example [A, B]"),
    declared.StructType: (dict, "an object; write for example {...}"),
}
"""For each type: its form in JSON, and the words for a value of another form."""

_READERS: Final[Mapping[type[Any], Callable[..., Any]]] = {
    declared.StrType: _Reader.text,
    declared.LiteralType: _Reader.same,
    declared.BytesType: _Reader.file,
    declared.IntType: _Reader.number,
    declared.BoolType: _Reader.same,
    declared.ListType: _Reader.entries,
    declared.StructType: _Reader.object,
}
