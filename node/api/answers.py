"""The answers that all routes have in common, in the OpenAPI document: errors, the limit of a body, the token.

A route declares what it returns. Everything that the layers around it may answer is declared here, once:

| status | documented for |
|---|---|
| 400, 413, 500, 503, 507 | every route |
| 401, 403, 429 | every route that can require a token |
| 404 | routes with a path parameter, which names a server, a message or the like |
| 409 | routes that change something, and routes with a query parameter |
| 422 | routes with parameters or a body; FastAPI decides it |
| 415 | routes with a body in JSON |
| 502 | routes of a server, because the lab forwards them to the server's process |

A route declares with `refusals` what else it answers. A request for a path with another method gets 405 and the header Allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from node.api.access import OPEN_PATHS, body_limit
from node.api.docs_page import METHODS
from node.api.values import PROBLEM, URN

MEANINGS: Final[Mapping[int, str]] = {
    HTTPStatus.BAD_REQUEST: "This is not HTTP, or the head of the request is far over 64 KB or names two lengths.",
    HTTPStatus.UNAUTHORIZED: "The lab requires its token.",
    HTTPStatus.FORBIDDEN: "The token does not allow this request, the person is not a contact of the folder, the host name is"
    " not one of the lab, or a web page of another origin caused the request.",
    HTTPStatus.NOT_FOUND: "There is no such server, folder, message or path.",
    HTTPStatus.METHOD_NOT_ALLOWED: "The path does not support this method; the header Allow has those that it supports.",
    HTTPStatus.CONFLICT: "The lab or the store refuses the request in its present state.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is over its limit.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body has another Content-Type than application/json.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "The request is not valid, or its Idempotency-Key was used for another request.",
    HTTPStatus.TOO_MANY_REQUESTS: "This address has tried too many wrong tokens, or has too many event streams open.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "An internal error, which is a bug of pflab.",
    HTTPStatus.BAD_GATEWAY: "The process of the server ended before it answered.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The server does not run, the lab is starting, or there are too many connections"
    " or bodies.",
    HTTPStatus.INSUFFICIENT_STORAGE: "The disk is full, or file handles are used up; nothing was changed.",
}
"""Each error status of the API, and what it means."""

_ALWAYS: Final = frozenset({400, 413, 500, 503, 507})
_WITH_TOKEN: Final = frozenset({401, 403, 429})

_PROBLEM: Final = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "required": ["type", "title", "status", "detail"],
    "additionalProperties": False,
    "properties": {
        "type": {"type": "string", "pattern": f"^{URN}[A-Za-z]+$", "description": "The kind of error, for programs."},
        "title": {"type": "string", "description": "The phrase of the status."},
        "status": {"type": "integer", "description": "The status of the answer."},
        "detail": {"type": "string", "description": "One line: what is wrong, and what would be right."},
    },
    "example": {
        "type": URN + "FolderUnknown",
        "title": "Not Found",
        "status": 404,
        "detail": "there is no folder 'Project' on A; did you mean 'Projects'?",
    },
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the declaration of errors that a route answers in addition to those of all routes."""
    return {status: {"description": MEANINGS[status]} for status in statuses}


def links(parameters: Mapping[str, str], *targets: str) -> dict[str, Any]:
    """Return the links of an answer to requests that continue from it, such as `GET /nodes/{name}/versions`.

    parameters: for the path and the query of the targets, as expressions of OpenAPI such as `$response.body#/id`.
    """
    return dict(_link(target, parameters) for target in targets)


def _link(target: str, parameters: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    method, path = target.split()
    name = "-".join([method.lower(), *(part for part in path.split("/") if part and "{" not in part)])
    place = quote(path.replace("/", "~1"), safe="~")
    ref = f"#/paths/{place}/{method.lower()}"
    return name, {"operationRef": ref, "parameters": dict(parameters), "description": target}


def complete(document: dict[str, Any]) -> None:
    """Add the common answers to an OpenAPI document that FastAPI has made."""
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own form of errors
        schemas.pop(name, None)
    schemas["Problem"] = _PROBLEM
    components["responses"] = {_name(status): _error(status) for status in MEANINGS}
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "description": "The lab's token."}}
    document["security"] = [{}, {"token": []}]  # a lab on loopback requires no token
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                _complete_operation(path, method, methods[method])


def _complete_operation(path: str, method: str, operation: dict[str, Any]) -> None:
    answers = operation["responses"]
    statuses = {int(status) for status in answers if status >= "4"} | set(_common(path, method, operation))
    for status in sorted(statuses):
        answers.pop(str(status), None)
        answers[str(status)] = {"$ref": f"#/components/responses/{_name(status)}"}
    if path in OPEN_PATHS:
        operation["security"] = []
    for status, answer in answers.items():
        content = answer.get("content", {})
        if status < "3" and len(content) > 1 and content.get("application/json") == {"schema": {}}:
            del content["application/json"]  # FastAPI adds it to the type that the route declares
    if "requestBody" in operation:
        operation["requestBody"]["description"] = f"At most {body_limit(path) // 2**20} MB."


def _common(path: str, method: str, operation: Mapping[str, Any]) -> Iterator[int]:
    yield from _ALWAYS
    if path not in OPEN_PATHS:
        yield from _WITH_TOKEN
    places = {each["in"] for each in operation.get("parameters", ())}
    if "path" in places:
        yield HTTPStatus.NOT_FOUND
    if method != "get" or "query" in places:
        yield HTTPStatus.CONFLICT
    if "application/json" in operation.get("requestBody", {}).get("content", {}):
        yield HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    if path.startswith("/nodes/"):
        yield HTTPStatus.BAD_GATEWAY


def _name(status: int) -> str:
    return "".join(part.capitalize() for part in HTTPStatus(status).name.split("_"))


def _error(status: int) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "description": MEANINGS[status],
        "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        seconds = {"description": "After how many seconds to try again.", "schema": {"type": "integer", "minimum": 1}}
        answer["headers"] = {"Retry-After": seconds}
    return answer
