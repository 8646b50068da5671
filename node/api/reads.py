"""The routes that read a store: those of `node.api.read_paths`, its clock, its digests, and its whole state.

The descriptions in the API's documentation are the docstrings of `StoreReader`'s methods and of the functions below.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from http import HTTPStatus
from inspect import Parameter, Signature
from typing import Annotated, Any, Final

from msgspec import Meta

from node.api.asgi import Response
from node.api.hosts import LAST_NUMBER, FolderQuery, Hosts, Name, Number
from node.api.read_paths import READS
from node.api.routing.routes import Routes
from node.api.values import json_bytes, json_response, plain, shown
from node.codec.items import ROOT_TEXT
from node.reads import StoreReader
from node.views import Knowledge, StateView
from traces.labtime import format_instant

_ID = "d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3:17"
_FOLDER = {
    "id": _ID,
    "path": "Projects",
    "replicas": ["A", "B"],
    "schedule": "always",
    "contacts": ["kim@contoso.test"],
    "priority": "normal",
    "hidden": False,
    "held_here": True,
    "resolve": "default",
    "age_limit": "30 d",
    "warning_limit": "8 MB",
    "post_limit": "10 MB",
    "item_limit": None,
}
_VERSION = {
    "folder": "Projects",
    "message": _ID,
    "number": "A-17",
    "change": _ID,
    "store": "A",
    "modified_at": "2003-10-21T00:15:00Z",
    "shown": True,
    "subject": "Hello",
    "sender": "kim@contoso.test",
    "body": "from A",
    "size": 1024,
    "attachments": [["plan.txt", 12]],
    "includes": ["A-17"],
    "associated": False,
    "properties": ["PR_SUBJECT 0x0037001F: Hello"],
}
_RETAINED = {
    "folder": "Projects",
    "message": _ID,
    "subject": "Hello",
    "number": "A-17",
    "numbers": ["A-17"],
    "messages": 0,
    "deleted_at": "2003-10-21T00:15:00Z",
    "until_at": "2003-10-28T00:15:00Z",
}
_SETTING = {
    "name": "Replication Send Status Timeout",
    "value": "24 h",
    "default": "24 h",
    "next_value": "12 h",
    "effective": True,
    "place": "HKLM\\...",
    "does": "what the setting does",
}
_MAIL = "From: kim@contoso.test\r\nSubject: Hello\r\n\r\nfrom A\r\n"
_QUEUED = {
    "id": 7,
    "next_hop": "B",
    "connector": None,
    "recipients": ["B-IS@contoso.test"],
    "subject": "Folder Content",
    "due_at": "2003-10-21T00:15:00Z",
    "attempts": 0,
    "size": 4096,
    "sender": "A-IS@contoso.test",
    "message_id": "1f6c0e5d@contoso.test",
}
_QUEUED_MAIL = "Message-ID: <1f6c0e5d@contoso.test>\r\nSubject: Folder Content\r\n\r\n..."
_BAD_MAIL = {
    "id": 1,
    "at": 1066694400000000,
    "sender": "x@contoso.test",
    "reason": "no certificate",
    "size": 900,
}
_LOG_ENTRY = {"id": 1, "at": 1066694400000000, "event": 3014, "level": "information", "text": "..."}
_NOTICE = {"at": 1066694400000000, "recipient": "kim@contoso.test", "subject": "Conflict in Projects", "id": 1}
_NOTICE_MAIL = "To: kim@contoso.test\r\nSubject: Conflict in Projects\r\n\r\n..."
_STATE = {
    "folder": _ID,
    "path": "Projects",
    "store": "A",
    "rows": [
        {"store": "A", "is_local": True, "numbers": "A-1..100, B-1..50", "numbers_fai": "", "last_sent": "A-100"},
        {"store": "B", "is_local": False, "numbers": "A-1..98", "numbers_fai": "", "heard_at": "2003-10-21T00:15:00Z"},
    ],
}
_STATUS = {
    "folder": _STATE["folder"],
    "path": "Projects",
    "store": "A",
    "unsent": "A-101",
    "replicas": [
        {"store": "A", "sync": "locally modified", "pending": False, "missing": "", "missing_fai": ""},
        {
            "store": "B",
            "sync": "behind",
            "pending": False,
            "missing": "A-99..100",
            "received_at": "2003-10-21T00:15:00Z",
        },
    ],
}
_INSTANCE = {
    "folder": _STATE["folder"],
    "path": "Projects",
    "store": "A",
    "pending": False,
    "items": 98,
    "associated": 2,
    "size": 401_408,
    "changed_at": "2003-10-21T00:10:00Z",
    "leavers": [],
}
_SOURCE = {
    "store": "B",
    "site": "SEA",
    "version": "2003",
    "cost": 0,
    "affinity": 0,
    "transit_us": 2_000_000,
    "backfilled_at": "2003-10-21T06:15:00Z",
    "unavailable": False,
    "preferred": False,
    "addressed": True,
}
_ENTRY = {
    "id": 1,
    "folder": _ID,
    "path": "Projects",
    "missing": "A-99..100",
    "missing_fai": "",
    "made_at": "2003-10-21T12:15:00Z",
    "due_at": "2003-10-21T18:15:00Z",
    "attempts": 0,
    "local": True,
    "waiting_for_slot": False,
    "requests": [],
}
_DIRECTORY_OBJECT = {
    "store": "A",
    "dn": "CN=Public Folder Store (A),CN=First Storage Group,CN=InformationStore,CN=A,CN=Servers,CN=SEA,"
    "CN=Administrative Groups,CN=Contoso,CN=Microsoft Exchange,CN=Services,CN=Configuration,DC=contoso,DC=test",
    "object_class": "msExchPublicMDB",
    "legacy_dn": "/o=Contoso/ou=SEA/cn=Configuration/cn=Servers/cn=A/cn=Microsoft Public MDB",
    "owning_tree": "CN=Public Folders,CN=Folder Hierarchies,CN=SEA,CN=Administrative Groups,CN=Contoso,"
    "CN=Microsoft Exchange,CN=Services,CN=Configuration,DC=contoso,DC=test",
    "mail": "A-IS@contoso.test",
    "proxy_addresses": ["SMTP:A-IS@contoso.test", "X400:c=US;a= ;p=Contoso;o=Exchange;s=A-IS;"],
    "joined_at": "2003-10-21T00:00:00Z",
    "stamp_due_at": None,
}
_DIGESTS = {"Projects": {"id": _STATE["folder"], "held_here": True, "knowledge": "9f2c", "content": "01ab"}}
DIGEST_BYTES = 16
MAIL = "message/rfc822"

_PARAMETERS: Mapping[str, object] = {
    "folder": FolderQuery,
    "notice": Annotated[int, Meta(ge=0, le=LAST_NUMBER)],
    "row": Annotated[int, Meta(ge=0, le=LAST_NUMBER, description="The id of a mail in the queue.")],
    "after": Annotated[Number, Meta(description="The id of the last known entry.")],
    "limit": Annotated[int, Meta(ge=1, le=10_000)],
    "event": Annotated[Number | None, Meta(description="Only entries of this event id.", examples=[3014])],
}
"""The annotations of parameters that need more than their type in Python."""


READ_ROUTES: Final = Routes[Hosts]("/nodes/{name}")
"""The reads of one store."""


def _add_read(name: str, tag: str, example: object = None, operation: str | None = None) -> None:
    """Declare the route of a read of `node.api.read_paths`.

    example: an answer, for the documentation.
    operation: the route's name in the documentation, if it is not the name of the read.
    """
    http_read = READS[name]

    async def answer(hosts: Hosts, /, name: str, **arguments: Any) -> Response:
        value = hosts.host(name).read(lambda node: getattr(node, http_read.name)(**arguments))
        if isinstance(value, bytes):
            return Response(value, media_type=MAIL)
        if isinstance(value, str):
            return Response(value, media_type="text/plain; charset=utf-8")
        return json_response(plain(value))

    subject, *parameters = http_read.signature.parameters.values()
    route_parameters = [subject, Parameter("name", Parameter.KEYWORD_ONLY, annotation=Name)]
    for parameter in parameters:
        annotation = _PARAMETERS.get(parameter.name, parameter.annotation)
        route_parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation))
    if http_read.kind is bytes:
        answers: dict[str, Any] = {"content": {MAIL: {"example": example}}}
    elif http_read.kind is str:
        answers = {"content": {"text/plain": {"schema": {"type": "string"}}}}
    else:
        answers = shown(http_read.kind, example)
    READ_ROUTES.add(
        "GET",
        http_read.path,
        answer,
        signature=Signature(route_parameters),
        name=operation or name,
        text=inspect.cleandoc(http_read.says),
        tag=tag,
        answers={HTTPStatus.OK: answers},
    )


for _name, _tag, _example, _operation in (
    ("folders", "folders", [_FOLDER], None),
    ("retained", "messages", [_RETAINED], None),
    ("versions", "messages", [_VERSION], None),
    ("body", "messages", None, None),
    ("mail", "messages", _MAIL, None),
    ("setting_views", "settings", [_SETTING], "setting_details"),
    ("state", "replication", _STATE, None),
    ("replication_status", "replication", [_STATUS], None),
    ("instances", "replication", [_INSTANCE], None),
    ("sources", "replication", [_SOURCE], None),
    ("backfill", "replication", [_ENTRY], None),
    ("directory", "replication", [_DIRECTORY_OBJECT], None),
    ("knowledge", "replication", {"folder": "Projects"}, None),
    ("queue", "mail", [_QUEUED], None),
    ("frozen_queues", "mail", ["B"], None),
    ("queued_mail", "mail", _QUEUED_MAIL, None),
    ("bad_mail", "mail", [_BAD_MAIL], None),
    ("event_log", "events", [_LOG_ENTRY], "log"),
    ("mailbox_mail", "mail", _NOTICE_MAIL, None),
    ("mailbox", "mail", [_NOTICE], None),
):
    _add_read(_name, _tag, _example, _operation)


@READ_ROUTES.get("/clock", tag="clock")
async def clock(hosts: Hosts, name: Name) -> Response:
    """Return the store's lab time and the rate of its clock."""
    host = hosts.host(name)
    return json_response({"now_at": format_instant(host.now), "rate": host.rate})


@READ_ROUTES.get("/states", tag="replication", answers={HTTPStatus.OK: shown(list[StateView], [_STATE])})
async def states(hosts: Hosts, name: Name) -> Response:
    """Return the whole replication state table: the hierarchy and every folder with a replica here."""
    return json_response(plain(hosts.host(name).read(_states)))


@READ_ROUTES.get("/digests", tag="replication", answers={HTTPStatus.OK: shown(dict[str, dict[str, Any]], _DIGESTS)})
async def digests(hosts: Hosts, name: Name) -> Response:
    """Return two digests of each folder with a replica here and of the hierarchy (1-1): `knowledge`, of the change
    numbers and versions, and `content`, of the items. Stores with equal digests have converged."""  # spec: CV-1
    return json_response(hosts.host(name).read(_digests))


@READ_ROUTES.get("/reading", tag="replication")
async def reading(hosts: Hosts, name: Name) -> Response:
    """Return knowledge, replication state and backfill array at one instant, for programs that judge the whole lab."""
    return json_response(hosts.host(name).read(_reading))


def _states(node: StoreReader) -> list[StateView]:
    paths = [view.path for view in node.folders() if view.held_here and not view.hidden and view.id != ROOT_TEXT]
    return [node.state(folder) for folder in (ROOT_TEXT, *paths)]


def _digests(node: StoreReader) -> dict[str, Any]:
    digests: dict[str, Any] = {}
    for view in node.folders():
        if view.id != ROOT_TEXT and not view.hidden and view.held_here:
            digests[view.path] = {"id": view.id, "held_here": True, **_digest_pair(node.knowledge(view.id))}
    return {ROOT_TEXT: {"id": ROOT_TEXT, "held_here": True, **_digest_pair(node.knowledge(ROOT_TEXT))}, **digests}


def _digest_pair(knowledge: Knowledge) -> dict[str, str]:
    # spec: CV-1
    changes = {object_: [change for change, _ in pairs] for object_, pairs in knowledge.versions.items()}
    return {
        "knowledge": _digest([knowledge.numbers, knowledge.numbers_fai, changes, knowledge.tombstones]),
        "content": _digest({object_: [digest for _, digest in pairs] for object_, pairs in knowledge.versions.items()}),
    }


def _digest(value: Any) -> str:
    return hashlib.blake2b(json_bytes(value), digest_size=DIGEST_BYTES).hexdigest()


def _reading(node: StoreReader) -> dict[str, Any]:
    views = [view for view in node.folders() if view.id != ROOT_TEXT and not view.hidden]
    folder_ids = [ROOT_TEXT, *(view.id for view in views)]
    held_ids = [ROOT_TEXT, *(view.id for view in views if view.held_here)]
    return {
        "folders": plain(node.folders()),
        "knowledge": {folder: plain(node.knowledge(folder)) for folder in folder_ids},
        "states": {folder: plain(node.state(folder)) for folder in held_ids},
        "backfill": plain(node.backfill()),
    }
