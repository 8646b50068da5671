"""The routes for users and administrators of a store: folders, messages, settings."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request, Response

from node.api.changes.routes import add_changes, answer_of, message_links
from node.api.hosts import Change, ChangeRequest, FolderQuery, Hosts, Name
from node.api.read_paths import MOST_LISTED
from node.api.reads import MAIL, add_read
from node.api.values import json_response, plain, shown
from node.errors import MessageUnknown
from node.views import Made, MessageView
from topology.problems import counted
from topology.settings.values import RawSetting

CREATED = HTTPStatus.CREATED
_ID = "d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3:17"
_NUMBER = {"number": _ID}

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
_MESSAGE = {
    "id": _ID,
    "subject": "Hello",
    "sender": "kim@contoso.test",
    "number": "A-17",
    "change": _ID,
    "modified_at": "2003-10-21T00:15:00Z",
    "in_conflict": False,
    "versions": [_ID],
    "size": 1024,
    "associated": False,
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
FILE = "application/octet-stream"


Place = Annotated[int, Path(ge=1, le=1_000_000, description="Which attachment, counted from 1.")]


SettingValues = Annotated[
    dict[str, RawSetting],
    Body(examples=[{"Preferred Backfill Source": "A", "Replication Send Status Timeout": "12 h"}], max_length=200),
]


def users_router(hosts: Hosts) -> APIRouter:
    """Return the routes of folders, messages and settings below /nodes/{name}."""
    router = APIRouter(prefix="/nodes/{name}")
    _folders(router, hosts)
    _messages(router, hosts)
    _message(router, hosts)
    _settings(router, hosts)
    add_changes(router, hosts)
    return router


def _folders(router: APIRouter, hosts: Hosts) -> None:
    add_read(router, hosts, "folders", tag="folders", example=[_FOLDER])


def _messages(router: APIRouter, hosts: Hosts) -> None:
    @router.get("/messages", tags=["messages"], responses={200: shown(list[MessageView], [_MESSAGE])})
    async def messages(
        name: Name,
        folder: FolderQuery,
        after: Annotated[
            str, Query(max_length=200, description="List only messages whose ids come after this one.")
        ] = "",
        limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = MOST_LISTED,
    ) -> Response:
        """List the live messages of a folder in order of their ids: by the names of the servers that posted them, and those of
        one server in the order in which it posted them. If there are more than `limit`, continue with `after`."""
        found = hosts.host(name).read(lambda node: node.messages(folder, after))
        return json_response(plain(found[:limit]))

    @router.get("/messages/count", tags=["messages"])
    async def count(name: Name, folder: FolderQuery) -> Response:
        """Return how many live messages the folder has here."""
        return json_response({"count": hosts.host(name).read(lambda node: node.count(folder))})

    @router.post(
        "/messages/mail",
        tags=["messages"],
        status_code=CREATED,
        responses={CREATED: {**answer_of(Made), "links": message_links("$request.query.folder")}},
        openapi_extra={"requestBody": {"required": True, "content": {MAIL: {"example": _MAIL}}}},
    )
    async def post_mail(request: Request, folder: FolderQuery, change: Change) -> Response:
        """Post a mail (message/rfc822); return the id and change number of the new message. Reading the message as a mail
        returns exactly the same bytes."""
        content = await request.body()  # spec: ML-5
        return await change.apply(hosts, lambda node, now: node.post_mail(now, folder, content), CREATED)


def _message(router: APIRouter, hosts: Hosts) -> None:
    add_read(router, hosts, "retained", tag="messages", example=[_RETAINED])
    add_read(router, hosts, "versions", tag="messages", example=[_VERSION])
    add_read(router, hosts, "body", tag="messages")
    add_read(router, hosts, "mail", tag="messages", example=_MAIL)

    @router.get(
        "/messages/{message}/attachments/{place}",
        tags=["messages"],
        responses={200: {"description": "The file.", "content": {FILE: {}}}},
    )
    async def attachment(name: Name, message: str, place: Place, folder: FolderQuery) -> Response:
        """Return an attached file of the shown version, as it was attached. The first one has the place 1."""
        files = hosts.host(name).read(lambda node: node.attachments(folder, message))
        if place > len(files):
            raise MessageUnknown(
                f"message {message} on {name} has {counted(len(files), 'attachment')}; not place {place}"
            )
        # A browser saves the file. It must never show it as a page of this server, because a user chose its content.
        safe = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
        return Response(files[place - 1][1], media_type=FILE, headers=safe)


def _settings(router: APIRouter, hosts: Hosts) -> None:
    @router.get("/settings", tags=["settings"])
    async def settings(name: Name) -> Response:
        """Return all settings by their real names, as text, and separately those that differ from the default."""
        found = hosts.host(name).read(lambda node: node.settings())
        other = {each.spec.name: {"value": each.value, "default": each.default} for each in found.not_default()}
        return json_response({"settings": found.as_texts(), "not_default": other})

    add_read(router, hosts, "setting_views", tag="settings", example=[_SETTING], operation="setting_details")

    @router.patch("/settings", tags=["settings"])
    async def configure(request: Request, name: Name, values: SettingValues) -> Response:
        """Change settings; null removes one. Registry values apply from the store's next start on. `notices` names values
        that were out of range, and the values used instead."""
        return await ChangeRequest(request, name).apply(hosts, lambda node, now: node.configure(now, values))
