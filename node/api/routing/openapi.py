"""The OpenAPI document of an application, made from its routes.

A route declares its parameters by the signature of its function, and what it returns. Everything that the layers around it may
answer is declared here, once:

| status | documented for |
|---|---|
| 400, 413, 500, 503, 507 | every route |
| 401, 403, 429 | every route that can require a token |
| 404 | routes with a path parameter, which names a server, a message or the like |
| 409 | routes that change something, and routes with a query parameter |
| 422 | routes with parameters or a body in JSON |
| 415 | routes with a body in JSON |
| 502 | routes of a server, because the lab forwards them to the server's process |

A route declares with `refusals` what else it answers. A request for a path with another method gets 405 and the header Allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

import msgspec

from node.api.access import OPEN_PATHS, body_limit
from node.api.routing.parameters import BodyParameter, Parameters
from node.api.routing.routes import Route
from node.api.values import PROBLEM, URN, inlined

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
_WITH_CONTENT: Final = frozenset({200, 201, 202})
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


def refusals(*statuses: int) -> dict[int, dict[str, Any]]:
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


def document(routes: Iterable[Route], *, title: str, description: str) -> dict[str, Any]:
    """Return the OpenAPI document of these routes."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if route.shown:
            paths.setdefault(route.shown_path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "description": description, "version": "1"},
        "paths": paths,
        "components": {
            "schemas": {"Problem": _PROBLEM},
            "responses": {_name(status): _error(status) for status in MEANINGS},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "The lab's token."}},
        },
        "security": [{}, {"token": []}],  # a lab on loopback requires no token
    }


def _operation(route: Route) -> dict[str, Any]:
    parameters, path = route.parameters, route.shown_path
    operation: dict[str, Any] = {
        "tags": [route.tag],
        "summary": route.name.replace("_", " ").title(),
        "description": route.text,
        "operationId": f"{re.sub(r'[^A-Za-z0-9_]', '_', route.name + path)}_{route.method.lower()}",
    }
    described = list(_parameters(parameters))
    if described:
        operation["parameters"] = described
    body = route.body or _body(parameters.body, route.schema)
    if body is not None:
        operation["requestBody"] = {**body, "description": f"At most {body_limit(path) // 2**20} MB."}
    if path in OPEN_PATHS:
        operation["security"] = []
    operation["responses"] = _responses(route, operation)
    return operation


def _parameters(parameters: Parameters) -> Iterator[dict[str, Any]]:
    (_, components) = msgspec.json.schema_components([parameters.struct], ref_template="#/{name}")
    properties = components["Parameters"]["properties"] if parameters.texts else {}
    for text in parameters.texts:
        if text.shown:
            schema = inlined(properties[text.wire_name], components)
            described = {"description": schema["description"]} if "description" in schema else {}
            yield {
                "name": text.wire_name,
                "in": text.place,
                "required": text.required,
                "schema": schema,
                **described,
            }


def _body(body: BodyParameter | None, more: Mapping[str, Any]) -> dict[str, Any] | None:
    if body is None:
        return None
    (schema,), components = msgspec.json.schema_components([body.kind], ref_template="#/{name}")
    schema = {**inlined(schema, components), **more}
    example = _example_of(schema)
    schema.pop("example", None)
    content = {"application/json": {"schema": schema, "example": example}}
    return {"required": True, "content": content} if body.required else {"content": content}


def _example_of(schema: Mapping[str, Any]) -> Any:
    """Return the example of a schema, or one made of the examples of its properties."""
    if "example" in schema:
        return schema["example"]
    if schema.get("examples"):
        return schema["examples"][0]
    if len(schema.get("enum", ())) == 1:
        return schema["enum"][0]
    if "properties" in schema:
        examples = {name: _example_of(member) for name, member in schema["properties"].items()}
        return {name: example for name, example in examples.items() if example is not None}
    options = schema.get("anyOf", ())
    return next((value for option in options if (value := _example_of(option)) is not None), schema.get("default"))


def _responses(route: Route, operation: Mapping[str, Any]) -> dict[str, Any]:
    answers: dict[str, Any] = {str(int(status)): dict(answer) for status, answer in route.answers.items()}
    usual = answers.setdefault(str(int(route.status)), {})
    usual.setdefault("description", "The request was carried out.")
    if route.status in _WITH_CONTENT:
        usual.setdefault("content", {"application/json": {"schema": {}}})
    statuses = {int(status) for status in answers if status >= "4"} | set(_common(route, operation))
    for status in sorted(statuses):
        answers.pop(str(status), None)
        answers[str(status)] = {"$ref": f"#/components/responses/{_name(status)}"}
    return answers


def _common(route: Route, operation: Mapping[str, Any]) -> Iterator[int]:
    path = route.shown_path
    yield from _ALWAYS
    if path not in OPEN_PATHS:
        yield from _WITH_TOKEN
    places = {parameter["in"] for parameter in operation.get("parameters", ())}
    is_json = "application/json" in operation.get("requestBody", {}).get("content", {})
    if "path" in places:
        yield HTTPStatus.NOT_FOUND
    if route.method != "GET" or "query" in places:
        yield HTTPStatus.CONFLICT
    if is_json:
        yield HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    if is_json or places:
        yield HTTPStatus.UNPROCESSABLE_ENTITY
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
