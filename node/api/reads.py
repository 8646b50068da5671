"""How a read of a store becomes an HTTP route, and the routes of replication state, backfill, queues, mail and digests.

The descriptions in the API's documentation are the docstrings of `StoreReader`'s methods and of the functions below.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from node.api.hosts import LAST_NUMBER, FolderQuery, Hosts, Name, Number
from node.api.read_paths import READS
from node.api.values import json_bytes, json_response, plain, shown
from node.codec.items import ROOT_TEXT
from node.reads import StoreReader
from node.views import Knowledge, StateView
from traces.labtime import format_instant

_STATE = {
    "folder": "d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3:17",
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
    "folder": "d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3:17",
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
    "dn": "/o=Contoso/ou=SEA/cn=Configuration/cn=Servers/cn=A/cn=Microsoft Public MDB",
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
    "notice": Annotated[int, Path(ge=0, le=LAST_NUMBER)],
    "row": Annotated[int, Path(ge=0, le=LAST_NUMBER, description="The id of a mail in the queue.")],
    "after": Annotated[Number, Query(description="The id of the last known entry.")],
    "limit": Annotated[int, Query(ge=1, le=10_000)],
    "event": Annotated[Number | None, Query(description="Only entries of this event id.", examples=[3014])],
}
"""The annotations of parameters that need more than their type in Python."""


def add_read(
    router: APIRouter,
    hosts: Hosts,
    name: str,
    *,
    tag: str,
    example: object = None,
    operation: str | None = None,
) -> None:
    """Add the route of a read of `node.api.read_paths`.

    example: an answer, for the documentation.
    operation: the route's name in the documentation, if it is not the name of the read.
    """
    read = READS[name]

    async def answer(**given: Any) -> Response:
        found = hosts.host(given.pop("name")).read(lambda node: getattr(node, read.name)(**given))
        if isinstance(found, bytes):
            return Response(found, media_type=MAIL)
        if isinstance(found, str):
            return Response(found, media_type="text/plain; charset=utf-8")
        return json_response(plain(found))

    _, *parameters = read.signature.parameters.values()
    taken = [Parameter("name", Parameter.KEYWORD_ONLY, annotation=Name)]
    for each in parameters:
        annotation = _PARAMETERS.get(each.name, each.annotation)
        taken.append(each.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation))
    answer.__signature__ = Signature(taken, return_annotation=Response)  # type: ignore[attr-defined]  # FastAPI reads it
    answer.__doc__ = read.says
    if read.kind is bytes:
        told: dict[str, Any] = {"content": {MAIL: {"example": example}}}
    elif read.kind is str:
        told = {"content": {"text/plain": {"schema": {"type": "string"}}}}
    else:
        told = shown(read.kind, example)
    router.get(read.path, name=operation or name, tags=[tag], responses={200: told})(answer)


def reads_router(hosts: Hosts) -> APIRouter:
    """Return the routes below /nodes/{name} that change nothing."""
    router = APIRouter(prefix="/nodes/{name}")
    _replication(router, hosts)
    _mail(router, hosts)

    @router.get("/clock", tags=["clock"])
    async def clock(name: Name) -> Response:
        """Return the store's lab time and the rate of its clock."""
        host = hosts.host(name)
        return json_response({"now_at": format_instant(host.now), "rate": host.rate})

    return router


def _replication(router: APIRouter, hosts: Hosts) -> None:
    about: dict[str, Any] = {"tags": ["replication"]}
    add_read(router, hosts, "state", tag="replication", example=_STATE)

    @router.get("/states", responses={200: shown(list[StateView], [_STATE])}, **about)
    async def states(name: Name) -> Response:
        """Return the whole replication state table: the hierarchy and every folder with a replica here."""
        return json_response(plain(hosts.host(name).read(_states)))

    add_read(router, hosts, "replication_status", tag="replication", example=[_STATUS])
    add_read(router, hosts, "instances", tag="replication", example=[_INSTANCE])
    add_read(router, hosts, "sources", tag="replication", example=[_SOURCE])
    add_read(router, hosts, "backfill", tag="replication", example=[_ENTRY])
    add_read(router, hosts, "directory", tag="replication", example=[_DIRECTORY_OBJECT])
    add_read(router, hosts, "knowledge", tag="replication", example={"folder": "Projects"})

    @router.get("/digests", responses={200: shown(dict[str, dict[str, Any]], _DIGESTS)}, **about)
    async def digests(name: Name) -> Response:
        """Return two digests of each folder with a replica here and of the hierarchy (1-1): `knowledge`, of the change
        numbers and versions, and `content`, of the items. Stores with equal digests have converged."""  # spec: CV-1
        return json_response(hosts.host(name).read(_digests))

    @router.get("/reading", **about)
    async def reading(name: Name) -> Response:
        """Return knowledge, replication state and backfill array at one instant, for programs that judge the whole lab."""
        return json_response(hosts.host(name).read(_reading))


def _states(node: StoreReader) -> list[StateView]:
    held = [view.path for view in node.folders() if view.held_here and not view.hidden and view.id != ROOT_TEXT]
    return [node.state(each) for each in (ROOT_TEXT, *held)]


def _digests(node: StoreReader) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for view in node.folders():
        if view.id != ROOT_TEXT and not view.hidden and view.held_here:
            found[view.path] = {"id": view.id, "held_here": True, **_digest_pair(node.knowledge(view.id))}
    return {ROOT_TEXT: {"id": ROOT_TEXT, "held_here": True, **_digest_pair(node.knowledge(ROOT_TEXT))}, **found}


def _digest_pair(known: Knowledge) -> dict[str, str]:
    # spec: CV-1
    kept = {object_: [change for change, _ in pairs] for object_, pairs in known.versions.items()}
    return {
        "knowledge": _digest([known.numbers, known.numbers_fai, kept, known.tombstones]),
        "content": _digest({object_: [digest for _, digest in pairs] for object_, pairs in known.versions.items()}),
    }


def _digest(value: Any) -> str:
    return hashlib.blake2b(json_bytes(value), digest_size=DIGEST_BYTES).hexdigest()


def _reading(node: StoreReader) -> dict[str, Any]:
    views = [view for view in node.folders() if view.id != ROOT_TEXT and not view.hidden]
    known = [ROOT_TEXT, *(view.id for view in views)]
    held = [ROOT_TEXT, *(view.id for view in views if view.held_here)]
    return {
        "folders": plain(node.folders()),
        "knowledge": {folder: plain(node.knowledge(folder)) for folder in known},
        "states": {folder: plain(node.state(folder)) for folder in held},
        "backfill": plain(node.backfill()),
    }


def _mail(router: APIRouter, hosts: Hosts) -> None:
    queued = {
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
    bad = {"id": 1, "at": 1066694400000000, "sender": "x@contoso.test", "reason": "no certificate", "size": 900}
    entry = {"id": 1, "at": 1066694400000000, "event": 3014, "level": "information", "text": "..."}
    notice = {"at": 1066694400000000, "recipient": "kim@contoso.test", "subject": "Conflict in Projects", "id": 1}

    queued_mail = "Message-ID: <1f6c0e5d@contoso.test>\r\nSubject: Folder Content\r\n\r\n..."
    notice_mail = "To: kim@contoso.test\r\nSubject: Conflict in Projects\r\n\r\n..."

    add_read(router, hosts, "queue", tag="mail", example=[queued])
    add_read(router, hosts, "queued_mail", tag="mail", example=queued_mail)
    add_read(router, hosts, "bad_mail", tag="mail", example=[bad])
    add_read(router, hosts, "event_log", tag="events", example=[entry], operation="log")
    add_read(router, hosts, "mailbox_mail", tag="mail", example=notice_mail)
    add_read(router, hosts, "mailbox", tag="mail", example=[notice])
