"""The routes for users and administrators of a store: folders, messages, settings."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Request, Response

from node.api.answers import links
from node.api.bodies import (
    Edit,
    FolderChange,
    NewFolder,
    PostMany,
    PostOne,
    Propagation,
    ReplicaOrder,
    Resolve,
    SendAgain,
    SendMail,
    Synchronize,
)
from node.api.hosts import Change, ChangeRequest, FolderQuery, Hosts, Name
from node.api.read_paths import MOST_LISTED
from node.api.reads import MAIL, add_read
from node.api.values import json_response, plain, shown
from node.errors import MessageUnknown
from node.store.node import Node
from node.views import FoldersChanged, MessageView
from topology.problems import counted
from topology.settings.values import RawSetting
from traces.labtime import LabTime

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


def _message_posted(folder: str) -> dict[str, Any]:
    """Return the documentation of the answer to a post.

    `folder`: where the request names the folder.
    """
    found = {"name": "$request.path.name", "message": "$response.body#/id", "folder": folder}
    one = "/nodes/{name}/messages/{message}"
    ways = [f"GET {one}/body", f"GET {one}/mail", f"PATCH {one}", f"DELETE {one}", f"POST {one}/recover"]
    next_ = links(found, *ways)
    versions = {"name": found["name"], "message": found["message"]}
    return {
        **shown(
            dict[str, str], {"id": _ID, "number": "A-17", "change": _ID}, "The id and the change number of the message."
        ),
        "links": {**next_, **links(versions, "GET /nodes/{name}/versions")},
    }


_FOLDER_CREATED: dict[str, Any] = {
    **shown(
        dict[str, str], {"id": _ID, "number": "A-17", "change": _ID}, "The id and the change number of the folder."
    ),
    "links": links(
        {"name": "$request.path.name", "path": "$request.body#/path"},
        "PATCH /nodes/{name}/folders/{path}",
        "DELETE /nodes/{name}/folders/{path}",
        "POST /nodes/{name}/folders/{path}/recover",
    ),
}

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
    _orders(router, hosts)
    return router


def _folders(router: APIRouter, hosts: Hosts) -> None:
    about: dict[str, Any] = {"tags": ["folders"]}

    add_read(router, hosts, "folders", tag="folders", example=[_FOLDER])

    @router.post("/folders", status_code=CREATED, responses={CREATED: _FOLDER_CREATED}, **about)
    async def create_folder(wanted: NewFolder, change: Change) -> Response:
        """Create a folder; return its id and its change number."""
        given = wanted.given()
        path = given.pop("path")
        return await change.apply(hosts, lambda node, now: node.create_folder(now, path, **given), CREATED)

    @router.patch("/folders/{path:path}", **about)
    async def change_folder(path: str, wanted: FolderChange, change: Change) -> Response:
        """Change the name, parent, schedule, contacts, priority, age limit, storage limits, resolve method or replica list;
        return the change number."""
        given = wanted.given()
        return await change.apply(hosts, lambda node, now: node.change_folder(now, path, **given))

    @router.post("/folders/{path:path}/recover", **about)
    async def recover_folder(path: str, change: Change) -> Response:
        """Recover a deleted folder with its subfolders and messages; return its new id and its change number."""
        return await change.apply(hosts, lambda node, now: node.recover_folder(now, path))  # spec: DL-5

    @router.delete("/folders/{path:path}", **about)
    async def delete_folder(path: str, change: Change) -> Response:
        """Delete the folder and everything below it."""
        return await change.apply(hosts, lambda node, now: node.delete_folder(now, path))


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
        "/messages",
        tags=["messages"],
        status_code=CREATED,
        responses={CREATED: _message_posted("$request.body#/folder")},
    )
    async def post(wanted: PostOne, change: Change) -> Response:
        """Post a message; return its id and its change number. The message is durable when the answer arrives."""
        each = wanted.as_post()
        return await change.apply(
            hosts,
            lambda node, now: node.post(
                now,
                wanted.folder,
                subject=each.subject,
                body=each.body,
                sender=each.sender,
                attachments=each.attachments,
                associated=wanted.associated,
            ),
            CREATED,
        )

    @router.post("/messages/batch", tags=["messages"], status_code=CREATED)
    async def post_batch(wanted: PostMany, change: Change) -> Response:
        """Post messages in one transaction, all of them or none; return their ids and change numbers in order."""
        posts = [each.as_post() for each in wanted.messages]
        return await change.apply(hosts, lambda node, now: node.post_batch(now, wanted.folder, posts), CREATED)

    @router.post(
        "/messages/mail",
        tags=["messages"],
        status_code=CREATED,
        responses={CREATED: _message_posted("$request.query.folder")},
        openapi_extra={"requestBody": {"required": True, "content": {MAIL: {"example": _MAIL}}}},
    )
    async def post_mail(request: Request, folder: FolderQuery, change: Change) -> Response:
        """Post a mail (message/rfc822); return the id and change number of the new message. Reading the message as a mail
        returns exactly the same bytes."""
        content = await request.body()  # spec: ML-5
        return await change.apply(hosts, lambda node, now: node.post_mail(now, folder, content), CREATED)

    @router.post("/messages/send", tags=["messages"], status_code=CREATED)
    async def send(wanted: SendMail, change: Change) -> Response:
        """Send a mail from a folder's address to people or folders; return its Message-ID."""  # spec: ML-5
        files = tuple((each.name, each.content) for each in wanted.attachments)
        return await change.apply(
            hosts,
            lambda node, now: node.send_mail(
                now, wanted.folder, to=wanted.to, subject=wanted.subject, body=wanted.body, attachments=files
            ),
            CREATED,
        )


def _message(router: APIRouter, hosts: Hosts) -> None:
    about: dict[str, Any] = {"tags": ["messages"]}

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

    @router.patch("/messages/{message}", **about)
    async def edit(message: str, folder: FolderQuery, wanted: Edit, change: Change) -> Response:
        """Make a new version of a message; return its change number."""
        return await change.apply(
            hosts, lambda node, now: node.edit(now, folder, message, subject=wanted.subject, body=wanted.body)
        )

    @router.delete("/messages/{message}", **about)
    async def delete(message: str, folder: FolderQuery, change: Change) -> Response:
        """Delete a message; return the change number of the deletion."""
        return await change.apply(hosts, lambda node, now: node.delete(now, folder, message))

    @router.post("/messages/{message}/recover", **about)
    async def recover(message: str, folder: FolderQuery, change: Change) -> Response:
        """Recover a deleted message as a new one; return its id and its change number."""  # spec: DL-5
        return await change.apply(hosts, lambda node, now: node.recover(now, folder, message))

    @router.post("/messages/{message}/resolve", tags=["messages"])
    async def resolve(message: str, folder: FolderQuery, wanted: Resolve, change: Change) -> Response:
        """End a conflict as a contact of the folder does; return the change numbers that this made."""
        return await change.apply(hosts, lambda node, now: node.resolve(now, folder, message, wanted.keep, wanted.by))


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


def _orders(router: APIRouter, hosts: Hosts) -> None:
    about: dict[str, Any] = {"tags": ["orders"]}

    @router.post("/send", **about)
    async def send_again(wanted: SendAgain, change: Change) -> Response:
        """Send the changes of the last days again (Send Hierarchy, Send Contents); return the stores that get them, and the
        change numbers that the mails claim."""  # spec: AD-1
        return await change.apply(
            hosts, lambda node, now: node.send_again(now, wanted.folder, days=wanted.days, to=wanted.to)
        )

    @router.post("/replicas", **about)
    async def replicas(wanted: ReplicaOrder, change: Change) -> Response:
        """Add, remove or replace replicas of a folder and all its subfolders; return the paths and change numbers of the
        changed folders, and the folders that were left out because they would have no replica."""  # spec: AD-1

        def act(node: Node, now: LabTime) -> FoldersChanged:
            if wanted.add is not None:
                return node.add_replicas(now, wanted.folder, wanted.add)
            if wanted.remove is not None:
                return node.remove_replicas(now, wanted.folder, wanted.remove)
            return node.replace_replicas(now, wanted.folder, wanted.replace or "", wanted.by or "")

        return await change.apply(hosts, act)

    @router.post("/propagate", **about)
    async def propagate(wanted: Propagation, change: Change) -> Response:
        """Give all subfolders of a folder its values of some properties; return the changed subfolders."""  # spec: AD-1
        return await change.apply(hosts, lambda node, now: node.propagate(now, wanted.folder, wanted.properties))

    @router.post("/synchronize", **about)
    async def synchronize(wanted: Synchronize, change: Change) -> Response:
        """Request the status of a folder now (Synchronize Hierarchy, Synchronize Content, Update-PublicFolder); return the
        stores that must answer."""  # spec: AD-1
        return await change.apply(hosts, lambda node, now: node.synchronize(now, wanted.folder))
