"""How a change of a store becomes an HTTP route. Its description is the docstring of the method of `Node`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from email.message import Message
from http import HTTPStatus
from inspect import Parameter, Signature
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Path, Request, Response

from node.api.answers import links
from node.api.changes.table import CHANGES, HttpChange
from node.api.hosts import Change, ChangeRequest, FolderQuery, Hosts
from node.api.values import inlined, problem, shown

_ID: Final = "d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3:17"
_VALUES: Final[Mapping[str, object]] = {
    "id": _ID,
    "ids": [_ID],
    "number": "A-17",
    "numbers": ["A-17"],
    "change": _ID,
    "changes": [_ID],
    "folder": "Projects",
    "folders": ["Projects"],
    "deleted": "Projects",
    "kept": [],
    "to": ["B"],
    "asked": ["B"],
    "message_id": "<1.d0a1b2c3@contoso.test>",
}
"""An example of each field of the views of changes."""

_EXAMPLES: Final[Mapping[str, object]] = {"send_again": {"folder": "Projects", "to": ["B"], "numbers": "A-9..17"}}
"""The answers that have a field of another form."""


def message_links(folder: str) -> dict[str, Any]:
    """Return the links of the answer to a post.

    folder: where the request names the folder.
    """
    given = {"name": "$request.path.name", "message": "$response.body#/id", "folder": folder}
    one = "/nodes/{name}/messages/{message}"
    ways = [f"GET {one}/body", f"GET {one}/mail", f"PATCH {one}", f"DELETE {one}", f"POST {one}/recover"]
    of_versions = {"name": given["name"], "message": given["message"]}
    return {**links(given, *ways), **links(of_versions, "GET /nodes/{name}/versions")}


_LINKS: Final[Mapping[str, dict[str, Any]]] = {
    "post": message_links("$request.body#/folder"),
    "create_folder": links(
        {"name": "$request.path.name", "path": "$request.body#/path"},
        "PATCH /nodes/{name}/folders/{path}",
        "DELETE /nodes/{name}/folders/{path}",
        "POST /nodes/{name}/folders/{path}/recover",
    ),
}


def answer_of(view: type[Any], example: object = None) -> dict[str, Any]:
    """Return the documentation of the answer to a change.

    view: what it returns.
    example: by default made of examples of its fields.
    """
    values = {field.name: _VALUES[field.name] for field in fields(view)}
    return shown(view, example or values, str(view.__doc__).partition("\n")[0])


def add_changes(router: APIRouter, hosts: Hosts) -> None:
    """Add the routes of all changes in `node.api.changes.table`."""
    for change in CHANGES.values():
        _add(router, hosts, change)


def _add(router: APIRouter, hosts: Hosts, change: HttpChange) -> None:
    async def answer(request: Request, order: ChangeRequest, **where: str) -> Response:
        if change.body is not None and not _is_json(request):
            detail = "send JSON, with Content-Type: application/json"
            return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Http", detail)
        arguments = {**where, **change.read_body(await request.body() if change.body is not None else b"")}
        return await order.apply(hosts, lambda node, now: change.make(node, now, arguments), change.status)

    by_name = Parameter.KEYWORD_ONLY
    parameters = [
        Parameter("request", by_name, annotation=Request),
        Parameter("order", by_name, annotation=Change),
        *(Parameter(name, by_name, annotation=Annotated[str, Path()]) for name in change.in_path),
        *(Parameter(name, by_name, annotation=FolderQuery) for name in change.in_query),
    ]
    answer.__signature__ = Signature(parameters, return_annotation=Response)  # type: ignore[attr-defined]  # FastAPI reads it
    answer.__doc__ = change.says
    documented = answer_of(change.view, _EXAMPLES.get(change.name))
    if change.name in _LINKS:
        documented["links"] = _LINKS[change.name]
    router.api_route(
        change.path.replace("{path}", "{path:path}"),
        methods=[change.method],
        name=change.name,
        tags=[change.tag],
        status_code=change.status,
        responses={change.status: documented},
        openapi_extra=None if change.body is None else {"requestBody": _body(change, change.body)},
    )(answer)


def _is_json(request: Request) -> bool:
    """Return whether a body is declared as JSON. A page of another site cannot declare that without asking first."""
    message = Message()
    message["Content-Type"] = request.headers.get("Content-Type", "")
    subtype = message.get_content_subtype()
    return message.get_content_maintype() == "application" and (subtype == "json" or subtype.endswith("+json"))


def _body(change: HttpChange, kind: type[msgspec.Struct]) -> dict[str, Any]:
    (schema,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    described = {**inlined(schema, parts), **change.schema, "example": change.example}
    return {"required": True, "content": {"application/json": {"schema": described}}}
