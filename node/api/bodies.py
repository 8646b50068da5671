"""The bodies of requests with their limits and examples, as models of pydantic; and pydantic's errors in words."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from node.views import Post
from topology.problems import counted, quoted
from traces.labtime import MAX_RATE, MIN_RATE, checked_rate

MOST_POSTS: Final = 10_000
"""The most messages in one batch."""

MOST_NAMES: Final = 1_000
MOST_DAYS: Final = 36_500
"""The most days whose changes can be sent again, and by which a request moves a clock: a hundred years."""

MOST_LETTERS: Final = 1_000
MOST_BODY_LETTERS: Final = 40 * 1024 * 1024

Rate = Annotated[
    float,
    AfterValidator(checked_rate),
    WithJsonSchema(
        {"type": "number", "anyOf": [{"const": 0}, {"minimum": MIN_RATE, "maximum": MAX_RATE}], "example": 3600}
    ),
]
"""The rate of a clock."""


def _decoded(given: object) -> object:
    if not isinstance(given, str):
        return given
    try:
        return b64decode(given.replace("\r", "").replace("\n", ""), validate=True)
    except ValueError:
        raise PydanticCustomError("base64_decode", "not base64") from None


_LETTER: Final = r"(?:[A-Za-z0-9+/][\r\n]*)"
Base64 = Annotated[
    bytes,
    BeforeValidator(_decoded),
    WithJsonSchema(
        {
            "type": "string",
            "contentEncoding": "base64",
            "pattern": rf"^[\r\n]*(?:{_LETTER}{{4}})*(?:{_LETTER}{{2}}=[\r\n]*=[\r\n]*|{_LETTER}{{3}}=[\r\n]*)?$",
        }
    ),
]
"""Bytes in base64, in lines or not."""

Line = Annotated[str, Field(max_length=MOST_LETTERS)]
Names = Annotated[list[Line], Field(max_length=MOST_NAMES)]
Priority = Literal["not urgent", "normal", "urgent"]
ResolveMethod = Literal["default", "last writer wins", "no notification"]


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


class Attachment(Body):
    """A file attached to a message; its content is in base64."""

    name: Line
    content: Base64


class NewMessage(Body):
    """A message to post."""

    subject: Line
    body: Annotated[str, Field(max_length=MOST_BODY_LETTERS)] = ""
    sender: Line = ""
    attachments: Annotated[list[Attachment], Field(max_length=MOST_NAMES)] = []

    def as_post(self) -> Post:
        files = tuple((each.name, each.content) for each in self.attachments)
        return Post(self.subject, self.body, self.sender, files)


class PostOne(NewMessage):
    """A message to post into a folder."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"folder": "Projects", "subject": "Hello", "body": "from A"}}
    )
    folder: Line
    associated: bool = False


class PostMany(Body):
    """Messages to post into a folder in one transaction: all of them or none."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"folder": "Projects", "messages": [{"subject": "One"}, {"subject": "Two"}]}}
    )
    folder: Line
    messages: Annotated[list[NewMessage], Field(min_length=1, max_length=MOST_POSTS)]


class Edit(Body):
    """Changes of a message; a field that is missing stays as it is."""

    model_config = ConfigDict(json_schema_extra={"example": {"subject": "Hello again"}})
    subject: Line | None = None
    body: Annotated[str, Field(max_length=MOST_BODY_LETTERS)] | None = None


class SendMail(Body):
    """A mail from a folder's address."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"folder": "Projects", "to": ["kim@contoso.test"], "subject": "Hello"}}
    )
    folder: Line
    to: Annotated[list[Line], Field(min_length=1, max_length=MOST_NAMES)]
    subject: Line
    body: Annotated[str, Field(max_length=MOST_BODY_LETTERS)] = ""
    attachments: Annotated[list[Attachment], Field(max_length=MOST_NAMES)] = []


class Resolve(Body):
    """Which version of a conflict to keep: its change number, or `all`.

    by: the address of the contact who decides; by default the folder's first contact.
    """

    model_config = ConfigDict(json_schema_extra={"example": {"keep": "all", "by": "kim@contoso.test"}})
    keep: Line
    by: Line | None = None


class FolderProperties(Body):
    """Properties of a folder. A missing property stays as it is, or gets its default in a new folder.

    alias: the local part of its mail address.
    age_limit: for example 30 d, or none.
    warning_limit, post_limit and item_limit: storage limits, for example 10 MB, or none.
    resolve: how its conflicts are resolved, and whether contacts are notified.
    """

    replicas: Names | None = None
    schedule: Line | None = None
    contacts: Names | None = None
    priority: Priority | None = None
    alias: Line | None = None
    age_limit: Line | None = None
    warning_limit: Line | None = None
    post_limit: Line | None = None
    item_limit: Line | None = None
    resolve: ResolveMethod | None = None

    def given(self) -> dict[str, Any]:
        return {name: value for name, value in self.model_dump().items() if value is not None}


class NewFolder(FolderProperties):
    """A new folder."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"path": "Projects/2003", "replicas": ["A", "B"], "schedule": "every 1 h"}}
    )
    path: Line


class FolderChange(FolderProperties):
    """Changes of a folder.

    move_to: the path of its new parent; '' for the root.
    """

    model_config = ConfigDict(json_schema_extra={"example": {"replicas": ["A", "B", "C"]}})
    rename: Line | None = None
    move_to: Line | None = None


class SendAgain(Body):
    """Changes to send again.

    folder: 1-1 for the hierarchy.
    days: those of the last days.
    to: the stores that get them; default: all other holders.
    """

    model_config = ConfigDict(json_schema_extra={"example": {"folder": "Projects", "days": 7, "to": ["B"]}})
    folder: Line
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)]
    to: Annotated[list[Line], Field(min_length=1, max_length=MOST_NAMES)] | None = None


def _only(**given: str) -> dict[str, Any]:
    """Return the JSON schema of an order with these fields of these types, and without the others."""
    kinds = {name: {"type": given.get(name, "null")} for name in ("add", "remove", "replace", "by")}
    return {"required": list(given), "properties": kinds}


class ReplicaOrder(Body):
    """Replicas of a folder and all its subfolders; folder 1-1: of all folders. One of `add`, `remove` and `replace`, the last
    with `by`: the store that takes the place of the replaced one."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"folder": "Projects", "replace": "A", "by": "B"},
            "oneOf": [_only(add="array"), _only(remove="array"), _only(replace="string", by="string")],
        }
    )
    folder: Line
    add: Names | None = None
    remove: Names | None = None
    replace: Line | None = None
    by: Line | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(each is not None for each in (self.add, self.remove, self.replace)) != 1:
            raise ValueError("give one of add, remove and replace")
        if (self.replace is None) != (self.by is None):
            raise ValueError("give both replace and by, such as {replace: A, by: B}")
        return self


class Propagation(Body):
    """Properties of a folder that all its subfolders get: replicas, schedule, contacts, priority, age_limit,
    warning_limit, post_limit, item_limit, resolve."""

    model_config = ConfigDict(json_schema_extra={"example": {"folder": "Projects", "properties": ["schedule"]}})
    folder: Line
    properties: Annotated[Names, Field(min_length=1)]


class Synchronize(Body):
    """The folder whose status is requested; 1-1 for the hierarchy."""

    model_config = ConfigDict(json_schema_extra={"example": {"folder": "Projects"}})
    folder: Line


# --- the mistakes of a request in words

MOST_MISTAKES: Final = 3
"""How many mistakes of a request an answer names."""

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
    from difflib import get_close_matches  # noqa: PLC0415 - needed only after a mistake

    names = [name for name, _ in _fields(model)]
    near = get_close_matches(place[-1][:MOST_LETTERS], names, n=1)
    return f"did you mean {quoted(near[0])}?" if near else f"the fields are {', '.join(names)}"


def _fields(model: type[Body]) -> Iterator[tuple[str, FieldInfo]]:
    return ((each.alias or name, each) for name, each in model.model_fields.items())


def _model_in(kind: Any) -> type[Body] | None:
    """Return the model that a type is or contains, such as in a list or an optional value."""
    if isinstance(kind, type) and issubclass(kind, Body):
        return kind
    return next((model for each in get_args(kind) if (model := _model_in(each)) is not None), None)
