"""The parameters of a route: what a request gives to the route's function, by the types in the function's signature.

| the parameter | gets |
|---|---|
| the first one | what the application serves, such as the hosts of a process |
| with the type `Request` | the request itself |
| with a type derived from `msgspec.Struct`, or marked with `JSON` | the body |
| marked with `Header(name)` | a header field |
| whose name is in the path | that part of the path |
| any other | a field of the query; a `_` at the end of its name is left out |

Limits are metadata of msgspec: `Annotated[int, Meta(ge=0, description="...")]`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Literal, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec

from node.api.asgi import Request
from node.api.routing.reading import MISSING, read, read_texts, wrong_body

JSON: Final = object()
"""Marks a parameter that gets the body although its type is no struct."""


@dataclass(frozen=True, slots=True)
class Header:
    """Marks a parameter that gets a header field.

    shown: whether the documentation lists it.
    """

    name: str
    shown: bool = True


@dataclass(frozen=True, slots=True)
class TextParameter:
    """A parameter that a request gives as text.

    name: in the function.
    wire_name: in the request.
    repeated: whether a query may have it several times; its value is a list.
    """

    name: str
    wire_name: str
    place: Literal["path", "query", "header"]
    kind: Any
    default: Any
    repeated: bool
    shown: bool

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class BodyParameter:
    """The parameter that gets the body.

    required: otherwise the body may be missing, and the parameter keeps its default.
    """

    name: str
    kind: Any
    required: bool


class Parameters:
    """The parameters of one route.

    signature: of its function, with evaluated annotations.
    in_path: the names in its path.
    """

    def __init__(self, signature: inspect.Signature, in_path: Sequence[str]) -> None:
        self.texts: list[TextParameter] = []
        self.body: BodyParameter | None = None
        self._request: str | None = None
        _, *parameters = signature.parameters.values()
        for parameter in parameters:
            self._add(parameter, in_path)

    def _add(self, parameter: inspect.Parameter, in_path: Sequence[str]) -> None:
        name, kind, marks = parameter.name, parameter.annotation, _marks(parameter.annotation)
        header = next((mark for mark in marks if isinstance(mark, Header)), None)
        if kind is Request:
            self._request = name
        elif JSON in marks or _struct_in(kind) is not None:
            self.body = BodyParameter(name, _struct_in(kind) or kind, parameter.default is inspect.Parameter.empty)
        elif header is not None:
            self.texts.append(TextParameter(name, header.name, "header", kind, parameter.default, False, header.shown))
        else:
            place: Literal["path", "query"] = "path" if name in in_path else "query"
            repeated = get_origin(_bare(kind)) is list
            self.texts.append(
                TextParameter(name, name.removesuffix("_"), place, kind, parameter.default, repeated, True)
            )

    @cached_property
    def struct(self) -> type[msgspec.Struct]:
        """The struct that has the text parameters as fields."""
        members = [
            (text.name, text.kind) if text.required else (text.name, text.kind, text.default) for text in self.texts
        ]
        names = {text.name: text.wire_name for text in self.texts}
        return msgspec.defstruct("Parameters", members, kw_only=True, rename=names)

    async def read(self, request: Request, in_path: Mapping[str, str]) -> dict[str, Any]:
        """Return the arguments of the function by name. Raises Wrong, and what reading the body raises.

        in_path: the parts of the path by name.
        """
        content = b"" if request.method == "GET" else await request.body()
        arguments: dict[str, Any] = {}
        if self.texts:
            texts = read_texts(self._texts_of(request, in_path), self.struct)
            arguments = {text.name: getattr(texts, text.name) for text in self.texts}
        if self.body is not None and (content or self.body.required):
            if not content:
                raise wrong_body(MISSING)
            if not is_json(request):
                raise NotJson
            arguments[self.body.name] = read(content, self.body.kind)
        if self._request is not None:
            arguments[self._request] = request
        return arguments

    def _texts_of(self, request: Request, in_path: Mapping[str, str]) -> dict[str, str | list[str]]:
        pairs = parse_qsl(request.query, keep_blank_values=True) if request.query else []
        by_name: dict[str, str | list[str]] = dict(pairs)
        fields: dict[str, str | list[str]] = {}
        for text in self.texts:
            value: str | list[str] | None
            if text.place == "path":
                value = in_path[text.name]
            elif text.place == "header":
                value = request.headers.get(text.wire_name.lower())
            elif text.repeated:
                value = [value for name, value in pairs if name == text.wire_name] or None
            else:
                value = by_name.get(text.wire_name)
            if value is not None:
                fields[text.wire_name] = value
        return fields


class NotJson(Exception):
    """The body of a request is not declared as JSON."""


def is_json(request: Request) -> bool:
    """Return whether a body is declared as JSON. A page of another site cannot declare that without asking first."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind.startswith("application/") and (kind == "application/json" or kind.endswith("+json"))


def _marks(kind: Any) -> tuple[Any, ...]:
    return get_args(kind)[1:] if get_origin(kind) is Annotated else ()


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _struct_in(kind: Any) -> type[msgspec.Struct] | None:
    """Return the struct that a type is, or is beside None."""
    kinds = get_args(kind) or (kind,)
    return next((part for part in kinds if isinstance(part, type) and issubclass(part, msgspec.Struct)), None)
