"""The mistakes of a request in words: where, what is wrong, and what would be right. Pydantic finds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from topology.problems import counted, quoted

MOST_MISTAKES: Final = 3
"""How many mistakes of a request an answer names."""

_PLACES: Final = frozenset({"body", "query", "path", "header"})
"""The first part of a location, which tells the reader nothing that the name of the field does not."""

_Words = Callable[[Any, Mapping[str, Any]], str]


def _is_not(what: str, right: str) -> _Words:
    return lambda given, _: f"{quoted(given)} is not {what}; {right}"


def _size(unit: str) -> _Words:
    def words(_: Any, limits: Mapping[str, Any]) -> str:
        if "max_length" in limits:
            number = limits["max_length"]
            return f"too long; at most {counted(number, unit)}"
        return f"too short; at least {counted(limits['min_length'], unit)}"

    return words


_WORDS: Final[Mapping[str, _Words]] = {
    "missing": lambda _given, _: "missing; this field must be given",
    "extra_forbidden": lambda _given, _: "there is no such field; /docs lists the fields of each request",
    "string_type": _is_not("a text", "write a text in quotes"),
    "string_too_long": _size("character"),
    "string_too_short": _size("character"),
    "too_long": lambda _, limits: f"too many entries; at most {limits['max_length']}",
    "too_short": lambda _, limits: f"too few entries; at least {limits['min_length']}",
    "int_type": _is_not("a whole number", "write digits"),
    "int_parsing": _is_not("a whole number", "write digits"),
    "int_parsing_size": _is_not("a number that a store can hold", "write a smaller one"),
    "int_from_float": _is_not("a whole number", "write digits"),
    "float_type": _is_not("a number", "write for example 3600"),
    "float_parsing": _is_not("a number", "write for example 3600"),
    "bool_type": _is_not("true or false", "write one of them"),
    "bool_parsing": _is_not("true or false", "write one of them"),
    "greater_than_equal": lambda given, limits: f"{quoted(given)} is too small; at least {limits['ge']}",
    "less_than_equal": lambda given, limits: f"{quoted(given)} is too large; at most {limits['le']}",
    "literal_error": lambda given, limits: f"{quoted(given)} is not known here; write {limits['expected']}",
    "list_type": _is_not("a list", "write for example [A, B]"),
    "dict_type": _is_not("an object", "write for example {...}"),
    "model_type": _is_not("an object", "write for example {...}"),
    "model_attributes_type": _is_not("an object", "send JSON, with Content-Type: application/json"),
    "base64_decode": lambda _given, _: "not base64; write the bytes of the file in base64",
    "string_unicode": lambda _given, _: "not Unicode; write a text without lone surrogates",
    "value_error": lambda _, limits: str(limits["error"]),
}


def in_words(mistakes: Sequence[Mapping[str, Any]]) -> str:
    """Return the first mistakes of a request as one line."""
    return " ".join("; ".join(map(_line, mistakes[:MOST_MISTAKES])).split())


def _line(mistake: Mapping[str, Any]) -> str:
    context: Mapping[str, Any] = mistake.get("ctx") or {}
    if mistake["type"] == "json_invalid":  # the location is the character at which parsing ended
        return f"body: invalid JSON at character {mistake['loc'][-1]}: {str(context['error']).lower()}"
    place = [str(part) for number, part in enumerate(mistake["loc"]) if number or part not in _PLACES]
    message = str(mistake["msg"])
    words = _WORDS.get(mistake["type"], lambda *_: message[:1].lower() + message[1:])
    return f"{'.'.join(place) or 'body'}: {words(mistake.get('input'), context)}"
