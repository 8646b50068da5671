"""Values of a request along types with limits: JSON, and the texts of a path, a query and a header. Mistakes become words.

Both are read in one of two ways:

    msgspec, with the type's limits --> the value      almost always
      |
      | msgspec refuses
      v
    read again, along the same types --> mistakes in words, at most three
                                     or the value, if JSON means what msgspec refuses: 7.0 for 7, and base64 in lines

What must never happen: the second way accepts a value that breaks a limit. So it ends with msgspec's own check.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import inspect as declared

from topology.arguments import MOST_LETTERS
from topology.problems import counted, quoted

T = TypeVar("T")

MISSING: Final = "missing; this field must be given"

MOST_MISTAKES: Final = 3
"""How many mistakes of a request an answer names."""


class Mistake(NamedTuple):
    """What is wrong with one value, and after a semicolon what would be right.

    place: the names and numbers that lead to the value; empty for the whole body.
    """

    place: tuple[str, ...]
    words: str

    def __str__(self) -> str:
        return f"{'.'.join(self.place) or 'body'}: {self.words}"


class Wrong(Exception):
    """A request is not valid. The text is one line; it has the first mistakes."""

    def __init__(self, *mistakes: Mistake) -> None:
        super().__init__(" ".join("; ".join(map(str, mistakes[:MOST_MISTAKES])).split()))
        self.mistakes = mistakes


def wrong_body(words: str) -> Wrong:
    """Return the error for a mistake of the whole body."""
    return Wrong(Mistake((), words))


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a request in JSON. Unknown fields are refused, and so are values of another JSON type, such as 1 for true."""


def read(content: bytes, kind: type[T]) -> T:
    """Return the value of this type that a body has in JSON. Raises Wrong, which names the first mistakes."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _read_again(_Reader(), _parsed(content), kind)


def read_value(value: Any, kind: type[T]) -> T:
    """Return the value of this type that parsed JSON or YAML means. Raises Wrong, which has all mistakes."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return _read_again(_Reader(), value, kind)


def read_texts(texts: Mapping[str, str | list[str]], kind: type[T]) -> T:
    """Return the struct of this type whose fields are texts, as in a query. Raises Wrong, which names the first mistakes.

    texts: by field; a list for a field that may be repeated.
    """
    try:
        return msgspec.convert(texts, kind, strict=False)
    except msgspec.ValidationError:
        return _read_again(_TextReader(), texts, kind)


# --- the second way: along the types


class _Place(tuple[str, ...]):
    """Where a value is in the body: the names and numbers that lead to it."""

    __slots__ = ()

    def __truediv__(self, part: object) -> _Place:
        return _Place((*self, str(part)))


def _read_again(reader: _Reader, raw: Any, kind: type[T]) -> T:
    value = reader.read(declared.type_info(kind), raw, _Place())
    if reader.mistakes:
        raise Wrong(*reader.mistakes)
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, ValueError):  # from the body's own check, which names the field
            name, _, words = str(error.__cause__).partition(": ")
            raise Wrong(Mistake((name,), words)) from None
        raise wrong_body(f"{str(error)[:1].lower()}{str(error)[1:]}") from None


def _parsed(content: bytes) -> Any:
    if not content:
        raise wrong_body(MISSING)
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        raise wrong_body(f"invalid JSON at character {error.pos}: {error.msg.lower()}") from None
    except (ValueError, RecursionError) as error:
        raise wrong_body(why_no_json(error)) from None


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
    """Reads parsed JSON along types, and collects what is wrong."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def read(self, kind: Any, value: Any, place: _Place) -> Any:
        """Return the value as msgspec accepts it."""
        words: Sequence[str] = ()
        while isinstance(kind, declared.Metadata | declared.UnionType):
            if isinstance(kind, declared.Metadata):
                words, kind = words or (kind.extra_json_schema or {}).get("enum", ()), kind.type
                continue
            members = [member for member in kind.types if not isinstance(member, declared.NoneType)]
            if value is None and len(members) < len(kind.types):
                return value
            if len(members) > 1:
                return self._tagged(members, value, place)
            (kind,) = members
        if isinstance(kind, declared.AnyType):
            return value
        value = self.converted(kind, value)
        form, right = _FORMS[type(kind)]
        if not isinstance(value, form) or (isinstance(value, bool) and form is not bool):
            self._add(place, f"{quoted(value)} is not {right if place else _NO_OBJECT}")
            return value
        if words and value not in words:
            self._add(place, f"{quoted(value)} is not known here; write {_one_of(words)}")
        return _READERS[type(kind)](self, kind, value, place)

    def converted(self, kind: declared.Type, value: Any) -> Any:
        """Return the value in the form that JSON means for a type: 7.0 is the whole number 7."""
        if isinstance(kind, declared.IntType) and isinstance(value, float) and value.is_integer():
            return int(value)
        return value

    def _add(self, place: _Place, words: str) -> None:
        self.mistakes.append(Mistake(tuple(place), words))

    def _tagged(self, kinds: Sequence[declared.Type], value: Any, place: _Place) -> Any:
        """Return a value of one of several structs, which a field of the value names; and any value along other types."""
        structs = {kind.tag: kind for kind in kinds if isinstance(kind, declared.StructType) and kind.tag is not None}
        if not structs or not isinstance(value, dict):
            return value if not structs else self.read(next(iter(structs.values())), value, place)
        tag = str(next(iter(structs.values())).tag_field)
        named = value.get(tag)
        if tag not in value:
            self._add(place / tag, f"missing; write {_one_of(structs)}")
        elif not isinstance(named, str) or named not in structs:
            self._add(place / tag, f"{quoted(named)} is not known here; write {_one_of(structs)}")
        else:
            return self.read(structs[named], value, place)
        return value

    def text(self, kind: declared.StrType, value: str, place: _Place) -> str:
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            self._add(place, "not Unicode; write a text without lone surrogates")
        elif kind.max_length is not None and len(value) > kind.max_length:
            self._add(place, f"too long; at most {counted(kind.max_length, 'character')}")
        elif kind.min_length is not None and len(value) < kind.min_length:
            self._add(place, f"too short; at least {counted(kind.min_length, 'character')}")
        elif kind.pattern is not None and not re.search(kind.pattern, value):
            self._add(place, f"{quoted(value)} does not match the pattern {kind.pattern}")
        return value

    def number(self, kind: declared.IntType | declared.FloatType, value: float, place: _Place) -> float:
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

    def pair(self, kind: declared.TupleType, value: list[Any], place: _Place) -> list[Any]:
        if len(value) != len(kind.item_types):
            self._add(place, f"{len(value)} entries, not {len(kind.item_types)}")
            return value
        return [
            self.read(item, entry, place / number)
            for number, (item, entry) in enumerate(zip(kind.item_types, value, strict=True))
        ]

    def mapping(self, kind: declared.DictType, value: dict[str, Any], place: _Place) -> dict[str, Any]:
        if kind.max_length is not None and len(value) > kind.max_length:
            self._add(place, f"too many entries; at most {kind.max_length}")
        return {name: self.read(kind.value_type, entry, place / name) for name, entry in value.items()}

    def object(self, kind: declared.StructType, value: dict[str, Any], place: _Place) -> dict[str, Any]:
        names = [field.encode_name for field in kind.fields]
        result = {}
        for field, name in zip(kind.fields, names, strict=True):
            if name in value:
                result[name] = self.read(field.type, value[name], place / name)
            elif field.required:
                self._add(place / name, MISSING)
        if kind.tag_field in value:
            result[kind.tag_field] = value[kind.tag_field]
        for name in value:
            if kind.forbid_unknown_fields and name not in names and name != kind.tag_field:
                self._add(place / name, f"there is no such field; {right_field(name, names)}")
        return result


class _TextReader(_Reader):
    """Reads texts: the digits of a number, and the words of a truth value."""

    def converted(self, kind: declared.Type, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if isinstance(kind, declared.IntType) and re.fullmatch(r"[+-]?[0-9]{1,300}", value):
            return int(value)
        if isinstance(kind, declared.FloatType) and re.fullmatch(r"[+-]?[0-9]{1,300}(\.[0-9]{0,300})?", value):
            return float(value)
        if isinstance(kind, declared.BoolType):
            return {"true": True, "1": True, "false": False, "0": False}.get(value.lower(), value)
        return value


def _one_of(words: Iterable[Any]) -> str:
    *most, last = map(repr, words)
    return f"{', '.join(most)} or {last}"


def right_field(name: str, names: Sequence[str]) -> str:
    """Return, in words, which of these fields an unknown name probably means, or all of them if none is similar."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed only after a mistake

    near = get_close_matches(name[:MOST_LETTERS], names, n=1)
    return f"did you mean {quoted(near[0])}?" if near else f"the fields are {', '.join(names)}"


_NO_OBJECT: Final = "an object; send JSON, with Content-Type: application/json"

_FORMS: Final[Mapping[type[Any], tuple[type[Any] | tuple[type[Any], ...], str]]] = {
    declared.StrType: (str, "a text; write a text in quotes"),
    declared.LiteralType: (str, "a text; write a text in quotes"),
    declared.BytesType: (str, "a text; write the bytes of the file in base64"),
    declared.IntType: (int, "a whole number; write digits"),
    declared.FloatType: ((int, float), "a number; write for example 3600"),
    declared.BoolType: (bool, "true or false; write one of them"),
    declared.ListType: (list, "a list; write for example [A, B]"),
    declared.TupleType: (list, "a list; write for example [A, B]"),
    declared.DictType: (dict, "an object; write for example {...}"),
    declared.StructType: (dict, "an object; write for example {...}"),
}
"""For each type: its form in JSON, and the words for a value of another form."""

_READERS: Final[Mapping[type[Any], Callable[..., Any]]] = {
    declared.StrType: _Reader.text,
    declared.LiteralType: _Reader.same,
    declared.BytesType: _Reader.file,
    declared.IntType: _Reader.number,
    declared.FloatType: _Reader.number,
    declared.BoolType: _Reader.same,
    declared.ListType: _Reader.entries,
    declared.TupleType: _Reader.pair,
    declared.DictType: _Reader.mapping,
    declared.StructType: _Reader.object,
}
