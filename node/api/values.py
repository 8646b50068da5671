"""The answers of the API: views of a node as JSON, and errors as problem+json (RFC 9457).

Instants (fields ending in `_at`) are text in UTC, `2003-10-21T00:15:00Z`; everything else is as in `node.views`. So the field
`at` of a log entry or of a kept mail is in microseconds, as in the events beside which the console shows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import cache
from http import HTTPStatus
from inspect import cleandoc
from typing import Any, Final

import msgspec

from node import errors
from node.api.asgi import Response
from traces.labtime import format_instant

PROBLEM: Final = "application/problem+json"
JSON: Final = "application/json"
LINES: Final = "application/x-ndjson"
DATABASE: Final = "application/vnd.sqlite3"

URN: Final = "urn:pflab:"

_STATUS: Final[dict[type[Exception], int]] = {
    errors.FolderUnknown: HTTPStatus.NOT_FOUND,
    errors.MessageUnknown: HTTPStatus.NOT_FOUND,
    errors.NotAContact: HTTPStatus.FORBIDDEN,
    errors.FolderExists: HTTPStatus.CONFLICT,
    errors.NoReplicaHere: HTTPStatus.CONFLICT,
    errors.OverLimit: HTTPStatus.CONFLICT,
    errors.NotRunning: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.CannotWrite: HTTPStatus.INSUFFICIENT_STORAGE,
    errors.KeyReused: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.Misuse: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.MailRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.NodeError: HTTPStatus.CONFLICT,
}
"""The status of each error of a node; an error that is not listed has the status of its nearest base class."""


class ServerUnknown(Exception):
    """This process or lab has no server of that name."""


def plain(value: Any) -> Any:
    """Return a view, or a list of views, as JSON values."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _field(name, getattr(value, name)) for name in _names(type(value))}
    return value


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _field(name: str, value: Any) -> Any:
    if name.endswith("_at") and isinstance(value, int):
        return format_instant(value)
    return plain(value)


def json_bytes(value: Any) -> bytes:
    return msgspec.json.encode(value)


def json_response(value: Any, status: int = HTTPStatus.OK) -> Response:
    return Response(json_bytes(value), status, media_type=JSON)


_RENAMED: Final = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Content Too Large",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Unprocessable Content",
}
"""The statuses that RFC 9110 calls by another name than Python before 3.13."""


def phrase_of(status: int) -> str:
    """Return the name of a status, the same in each version of Python."""
    http_status = HTTPStatus(status)
    return _RENAMED.get(http_status, http_status.phrase)


def problem(status: int, kind: str, detail: str) -> Response:
    """Return an error; `detail` is one line that says what is wrong and what would be right."""
    content = {"type": URN + kind, "title": phrase_of(status), "status": int(status), "detail": detail}
    return Response(json_bytes(content), status, media_type=PROBLEM)


def not_supported(methods: Iterable[str]) -> Response:
    """Return the answer to a method that a path does not support.

    methods: those that it supports.
    """
    detail = "this path does not support that method; /docs lists all methods"
    answer = problem(HTTPStatus.METHOD_NOT_ALLOWED, "Http", detail)
    answer.headers["Allow"] = ", ".join(methods)
    return answer


def problem_of(error: Exception) -> Response:
    """Return the answer for a node's error; its type is the name of the class, such as `urn:pflab:FolderUnknown`."""
    status = next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)
    return problem(status, type(error).__name__, " ".join(str(error).split()))


# --- the documentation


def shown(kind: Any, example: Any, description: str = "The requested data.") -> dict[str, Any]:
    """Return the documentation of an answer: the schema of a view's class, and an example."""
    (schema,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    content = {"schema": inlined(schema, parts), "example": example}
    return {"description": description, "content": {JSON: content}}


def inlined(schema: Any, parts: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [inlined(member, parts) for member in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return inlined(parts[schema["$ref"].rpartition("/")[2]], parts)
    if "prefixItems" in schema:  # tools that read older schemas do not know the items of a tuple one by one
        kinds = [
            member for place, member in enumerate(schema["prefixItems"]) if member not in schema["prefixItems"][:place]
        ]
        schema = {**schema, "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}
        del schema["prefixItems"]
    result = {
        key: inlined(value, parts)
        for key, value in schema.items()
        # The mapping of a discriminator refers to parts by their place, which inlining removes.
        if (key, value) != ("default", None) and not (key == "discriminator" and isinstance(value, dict))
    }
    if isinstance(result.get("description"), str):
        result["description"] = cleandoc(result["description"])
    for name, member in result.get("properties", {}).items():
        if name.endswith("_at"):
            instant = {"type": "string", "format": "date-time"}
            result["properties"][name] = {"anyOf": [instant, {"type": "null"}]} if "anyOf" in member else instant
    return result
