"""How a change of a store becomes an HTTP route. Its description is the docstring of the method of `Node`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from inspect import Parameter, Signature
from typing import Any, Final

import msgspec

from node.api.asgi import Request, Response
from node.api.changes.arguments import python_arguments
from node.api.changes.table import CHANGES, HttpChange
from node.api.hosts import FolderQuery, Hosts, Key, Name, apply_change
from node.api.routing.openapi import links
from node.api.routing.routes import Routes
from node.api.values import shown

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
    "order": "freeze",
    "mails": [17],
    "message_id": "<1.d0a1b2c3@contoso.test>",
}
"""An example of each field of the views of changes."""

_EXAMPLES: Final[Mapping[str, object]] = {"send_again": {"folder": "Projects", "to": ["B"], "numbers": "A-9..17"}}
"""The answers that have a field of another form."""


def message_links(folder: str) -> dict[str, Any]:
    """Return the links of the answer to a post.

    folder: where the request names the folder.
    """
    parameters = {"name": "$request.path.name", "message": "$response.body#/id", "folder": folder}
    message_path = "/nodes/{name}/messages/{message}"
    ways = [
        f"GET {message_path}/body",
        f"GET {message_path}/mail",
        f"PATCH {message_path}",
        f"DELETE {message_path}",
        f"POST {message_path}/recover",
    ]
    of_versions = {"name": parameters["name"], "message": parameters["message"]}
    return {**links(parameters, *ways), **links(of_versions, "GET /nodes/{name}/versions")}


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


def add_changes(routes: Routes[Hosts]) -> None:
    """Declare the routes of all changes in `node.api.changes.table`."""
    for change in CHANGES.values():
        _add(routes, change)


def _add(routes: Routes[Hosts], change: HttpChange) -> None:
    async def answer(
        hosts: Hosts,
        /,
        name: str,
        request: Request,
        key: str | None,
        body: msgspec.Struct | None = None,
        **where: str,
    ) -> Response:
        arguments = {**where, **(python_arguments(body) if body is not None else {})}
        return await apply_change(
            hosts, name, request, key, lambda node, now: change.make(node, now, arguments), change.status
        )

    by_name = Parameter.KEYWORD_ONLY
    parameters = [
        Parameter("hosts", Parameter.POSITIONAL_ONLY),
        Parameter("request", by_name, annotation=Request),
        Parameter("name", by_name, annotation=Name),
        *(Parameter(name, by_name, annotation=str) for name in change.in_path),
        *(Parameter(name, by_name, annotation=FolderQuery) for name in change.in_query),
        *([] if change.body is None else [Parameter("body", by_name, annotation=change.body)]),
        Parameter("key", by_name, annotation=Key, default=None),
    ]
    documented = answer_of(change.view, _EXAMPLES.get(change.name))
    if change.name in _LINKS:
        documented["links"] = _LINKS[change.name]
    routes.add(
        change.method,
        change.path.replace("{path}", "{path:path}"),
        answer,
        signature=Signature(parameters),
        name=change.name,
        text=change.says,
        tag=change.tag,
        status=change.status,
        answers={change.status: documented},
        schema={**change.schema, "example": change.example},
    )
