"""The bodies of requests with their limits and examples, as models of pydantic; and pydantic's errors in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.fields import FieldInfo

from node.api.changes.arguments import MOST_MISTAKES, right_field
from topology.arguments import MOST_LETTERS
from topology.problems import counted, quoted
from traces.labtime import MAX_RATE, MIN_RATE, checked_rate

Rate = Annotated[
    float,
    AfterValidator(checked_rate),
    WithJsonSchema(
        {"type": "number", "anyOf": [{"const": 0}, {"minimum": MIN_RATE, "maximum": MAX_RATE}], "example": 3600}
    ),
]
"""The rate of a clock."""


Line = Annotated[str, Field(max_length=MOST_LETTERS)]


class Body(BaseModel):
    """The body of a request. Unknown fields are refused, and so are values of another JSON type, such as 1 for true."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _whole_numbers(cls, given: Any) -> Any:
        """JSON has one type of numbers: 7.0 is the whole number 7."""
        if not isinstance(given, dict):
            return given
        return {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in given.items()
        }


# --- the mistakes of a request in words

_PLACES: Final = frozenset({"body", "query", "path", "header"})
"""The first part of a location. Messages omit it, because the name of the field is enough."""

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
    "bytes_type": _is_not("a text", "write the bytes of the file in base64"),
    "list_type": _is_not("a list", "write for example [A, B]"),
    "dict_type": _is_not("an object", "write for example {...}"),
    "model_type": _is_not("an object", "write for example {...}"),
    "model_attributes_type": _is_not("an object", "send JSON, with Content-Type: application/json"),
    "base64_decode": lambda _given, _: "not base64; write the bytes of the file in base64",
    "string_unicode": lambda _given, _: "not Unicode; write a text without lone surrogates",
    "value_error": lambda _, limits: str(limits["error"]),
}


def in_words(mistakes: Sequence[Mapping[str, Any]], body: Any = None) -> str:
    """Return the first mistakes of a request as one line. `body` is the type of the request's body, if it has one."""
    return " ".join("; ".join(_line(each, body) for each in mistakes[:MOST_MISTAKES]).split())


def _line(mistake: Mapping[str, Any], body: Any) -> str:
    context: Mapping[str, Any] = mistake.get("ctx") or {}
    if mistake["type"] == "json_invalid":  # the location is the character at which parsing ended
        return f"body: invalid JSON at character {mistake['loc'][-1]}: {str(context['error']).lower()}"
    place = [str(part) for number, part in enumerate(mistake["loc"]) if number or part not in _PLACES]
    words = _WORDS.get(mistake["type"])
    message = str(mistake["msg"])
    if mistake["type"] == "extra_forbidden":
        what = f"there is no such field; {_right_field(place, body)}"
    else:
        what = message[:1].lower() + message[1:] if words is None else words(mistake.get("input"), context)
    return f"{'.'.join(place) or 'body'}: {what}"


def _right_field(place: Sequence[str], body: Any) -> str:
    """Return which field was meant, or else the fields that a body has where `place` names one that does not exist."""
    model = _model_in(body)
    for part in place[:-1]:
        if model is not None and not part.isdecimal():
            model = next((_model_in(each.annotation) for name, each in _fields(model) if name == part), None)
    if model is None:
        return "/docs lists the fields of each request"
    return right_field(place[-1], [name for name, _ in _fields(model)])


def _fields(model: type[Body]) -> Iterator[tuple[str, FieldInfo]]:
    return ((each.alias or name, each) for name, each in model.model_fields.items())


def _model_in(kind: Any) -> type[Body] | None:
    """Return the model that a type is or contains, such as in a list or an optional value."""
    if isinstance(kind, type) and issubclass(kind, Body):
        return kind
    return next((model for each in get_args(kind) if (model := _model_in(each)) is not None), None)
