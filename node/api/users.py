"""The routes for users and administrators of a store that are in no table: messages, attachments, settings."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from msgspec import Meta

from node.api.asgi import Request, Response
from node.api.changes.routes import add_changes, answer_of, message_links
from node.api.hosts import FolderQuery, Hosts, Key, Name, apply_change
from node.api.read_paths import MOST_LISTED
from node.api.reads import MAIL
from node.api.routing.parameters import JSON
from node.api.routing.routes import Routes
from node.api.values import json_response, plain, shown
from node.errors import MessageUnknown
from node.views import Made, MessageView
from topology.problems import counted
from topology.settings.values import RawSetting

CREATED: Final = HTTPStatus.CREATED
_ID: Final = "d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3:17"
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
_MAIL = "From: kim@contoso.test\r\nSubject: Hello\r\n\r\nfrom A\r\n"
FILE = "application/octet-stream"


Place = Annotated[int, Meta(ge=1, le=1_000_000, description="Which attachment, counted from 1.")]

SettingValues = Annotated[
    dict[str, RawSetting],
    JSON,
    Meta(max_length=200, examples=[{"Preferred Backfill Source": "A", "Replication Send Status Timeout": "12 h"}]),
]

USERS: Final = Routes[Hosts]("/nodes/{name}")
"""Messages, settings, and all changes of one store."""


@USERS.get("/messages", tag="messages", answers={200: shown(list[MessageView], [_MESSAGE])})
async def messages(
    hosts: Hosts,
    name: Name,
    folder: FolderQuery,
    after: Annotated[str, Meta(max_length=200, description="List only messages whose ids come after this one.")] = "",
    limit: Annotated[int, Meta(ge=1, le=MOST_LISTED)] = MOST_LISTED,
) -> Response:
    """List the live messages of a folder in order of their ids: by the names of the servers that posted them, and those of
    one server in the order in which it posted them. If there are more than `limit`, continue with `after`."""
    views = hosts.host(name).read(lambda node: node.messages(folder, after))
    return json_response(plain(views[:limit]))


@USERS.get("/messages/count", tag="messages")
async def count(hosts: Hosts, name: Name, folder: FolderQuery) -> Response:
    """Return how many live messages the folder has here."""
    return json_response({"count": hosts.host(name).read(lambda node: node.count(folder))})


@USERS.post(
    "/messages/mail",
    tag="messages",
    status=CREATED,
    answers={CREATED: {**answer_of(Made), "links": message_links("$request.query.folder")}},
    body={"required": True, "content": {MAIL: {"example": _MAIL}}},
)
async def post_mail(hosts: Hosts, name: Name, request: Request, folder: FolderQuery, key: Key = None) -> Response:
    """Post a mail (message/rfc822); return the id and change number of the new message. Reading the message as a mail
    returns exactly the same bytes."""
    content = await request.body()  # spec: ML-5
    return await apply_change(
        hosts, name, request, key, lambda node, now: node.post_mail(now, folder, content), CREATED
    )


@USERS.get(
    "/messages/{message}/attachments/{place}",
    tag="messages",
    answers={200: {"description": "The file.", "content": {FILE: {}}}},
)
async def attachment(hosts: Hosts, name: Name, message: str, place: Place, folder: FolderQuery) -> Response:
    """Return an attached file of the shown version, as it was attached. The first one has the place 1."""
    files = hosts.host(name).read(lambda node: node.attachments(folder, message))
    if place > len(files):
        raise MessageUnknown(f"message {message} on {name} has {counted(len(files), 'attachment')}; not place {place}")
    # A browser saves the file. It must never show it as a page of this server, because a user chose its content.
    safe = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
    return Response(files[place - 1][1], media_type=FILE, headers=safe)


@USERS.get("/settings", tag="settings")
async def settings(hosts: Hosts, name: Name) -> Response:
    """Return all settings by their real names, as text, and separately those that differ from the default."""
    all_settings = hosts.host(name).read(lambda node: node.settings())
    changes = {
        setting.spec.name: {"value": setting.value, "default": setting.default}
        for setting in all_settings.not_default()
    }
    return json_response({"settings": all_settings.as_texts(), "not_default": changes})


@USERS.patch("/settings", tag="settings")
async def configure(hosts: Hosts, name: Name, request: Request, values: SettingValues) -> Response:
    """Change settings; null removes one. Registry values apply from the store's next start on. `notices` names values
    that were out of range, and the values used instead."""
    return await apply_change(hosts, name, request, None, lambda node, now: node.configure(now, values))


add_changes(USERS)
