"""The changes of a store that HTTP offers: one table, beside the table of reads (`node.api.read_paths`).

The method of `Node` declares the arguments of a change with their limits, the view that it returns, and its description; this
table adds what only HTTP has. To offer another change over HTTP, write the method, add a row here, and run `make changes`,
which writes `pflab/lab/remote_changes.py` and `pflab/client/changes.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from http import HTTPStatus
from string import Formatter
from typing import Any, Final

import msgspec

from node.api.changes.arguments import Argument, arguments_of, struct_of
from node.store.node import Node
from traces.labtime import LabTime

CREATED: Final = HTTPStatus.CREATED


class HttpChange:
    """One change.

    name: of the method of Node.
    request: method and path below `/nodes/{name}`, such as `PATCH /messages/{message}?folder`. After `?` are the arguments of
        the query. Those in neither path nor query are in the body.
    tag: the section of the documentation.
    example: a body, for the documentation.
    status: of the answer.
    schema: what the JSON schema of the body has in addition.
    """

    def __init__(
        self,
        name: str,
        request: str,
        tag: str,
        example: Mapping[str, object] | None = None,
        status: HTTPStatus = HTTPStatus.OK,
        schema: Mapping[str, object] | None = None,
    ) -> None:
        self.name, self.tag, self.example, self.status, self.schema = name, tag, example, status, schema or {}
        self.method, _, target = request.partition(" ")
        self.path, _, query = target.partition("?")
        self.in_path = tuple(field for _, field, _, _ in Formatter().parse(self.path) if field)
        self.in_query = tuple(filter(None, query.split("&")))
        method = getattr(Node, name)
        self.says = inspect.cleandoc(method.__doc__)
        signature = inspect.signature(method, eval_str=True)
        self.view: type[Any] = signature.return_annotation
        self.arguments: list[Argument] = arguments_of(signature)
        self.in_body = [argument for argument in self.arguments if argument.name not in (*self.in_path, *self.in_query)]
        self.body: type[msgspec.Struct] | None = None
        if self.in_body:
            self.body = struct_of("".join(map(str.capitalize, name.split("_"))), self.in_body)

    def make(self, node: Node, now: LabTime, arguments: Mapping[str, Any]) -> Any:
        """Make the change on a node, and return its view."""
        return getattr(node, self.name)(now, **arguments)


def _order(**kinds: str) -> dict[str, object]:
    """Return the schema of an order for replicas that has these fields, of these types, and no others."""
    properties = {name: {"type": kinds.get(name, "null")} for name in ("add", "remove", "replace", "by")}
    return {"required": list(kinds), "properties": properties}


_HELLO: Final = {"folder": "Projects", "subject": "Hello"}
_BATCH: Final = {"folder": "Projects", "messages": [{"subject": "One"}, {"subject": "Two"}]}
_LETTER: Final = {**_HELLO, "to": ["kim@contoso.test"]}
_NEW: Final = {"path": "Projects/2003", "replicas": ["A", "B"], "schedule": "every 1 h"}
_ORDER: Final = {"folder": "Projects", "replace": "A", "by": "B"}
_ONE_ORDER: Final = {"oneOf": [_order(add="array"), _order(remove="array"), _order(replace="string", by="string")]}

CHANGES: Final = {
    change.name: change
    for change in (
        HttpChange("create_folder", "POST /folders", "folders", _NEW, CREATED),
        HttpChange("change_folder", "PATCH /folders/{path}", "folders", {"replicas": ["A", "B", "C"]}),
        HttpChange("recover_folder", "POST /folders/{path}/recover", "folders"),
        HttpChange("delete_folder", "DELETE /folders/{path}", "folders"),
        HttpChange("post", "POST /messages", "messages", {**_HELLO, "body": "from A"}, CREATED),
        HttpChange("post_batch", "POST /messages/batch", "messages", _BATCH, CREATED),
        HttpChange("send_mail", "POST /messages/send", "messages", _LETTER, CREATED),
        HttpChange("edit", "PATCH /messages/{message}?folder", "messages", {"subject": "Hello again"}),
        HttpChange("delete", "DELETE /messages/{message}?folder", "messages"),
        HttpChange("recover", "POST /messages/{message}/recover?folder", "messages"),
        HttpChange("resolve", "POST /messages/{message}/resolve?folder", "messages", {"keep": "all"}),
        HttpChange("send_again", "POST /send", "orders", {"folder": "Projects", "days": 7, "to": ["B"]}),
        HttpChange("change_replicas", "POST /replicas", "orders", _ORDER, schema=_ONE_ORDER),
        HttpChange("propagate", "POST /propagate", "orders", {"folder": "Projects", "properties": ["schedule"]}),
        HttpChange("change_queue", "POST /queue", "orders", {"order": "freeze", "next_hop": "B"}),
        HttpChange("synchronize", "POST /synchronize", "orders", {"folder": "Projects"}),
    )
}
