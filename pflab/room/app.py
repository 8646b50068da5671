"""The HTTP application of a class: its page, the class itself, and the labs of its lessons. There is no lab beside them."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final

from node.api.app import Api
from node.api.asgi import App, ClientDisconnect, Receive, Request, Response, Scope, Send
from node.api.http_server import HttpLimits
from node.api.routing.routes import Routes
from node.api.values import problem
from pflab.errors import LabError, NotThere
from pflab.lab.served_lab import ServedLab
from pflab.lessons.routes import extension_of
from pflab.room.access import LABS_STREAM, OF_PUPIL, full_lab
from pflab.room.pupils import MOST_PUPILS
from pflab.room.room import NotOfTheClass, NotTheTrainer, Room
from pflab.room.routes import ROOM
from pflab.server.console import CONSOLE_FILES, FILE_PATH, IfNoneMatch, console_file, tagged
from pflab.server.events import EVENTS_OF_LABS
from pflab.server.extension import Extension
from pflab.threads import in_thread

LIMITS: Final = HttpLimits(
    connections=4 * MOST_PUPILS, client_connections=4 * MOST_PUPILS, client_streams=3 * MOST_PUPILS
)
"""A school, or a reverse proxy, is one address: each pupil has a stream of the class, one of a lab, and two connections for
requests."""

_ERRORS: Final[Mapping[type[Exception], int]] = {
    NotOfTheClass: HTTPStatus.UNAUTHORIZED,
    NotTheTrainer: HTTPStatus.FORBIDDEN,
    NotThere: HTTPStatus.NOT_FOUND,
    LabError: HTTPStatus.CONFLICT,
}

PAGE: Final = Routes[None](shown=False)
"""The page of a class, which is the same for every class. The key is in the part of its address that no browser sends."""


@PAGE.get("/class")
async def page(_: None, if_none_match: IfNoneMatch = None) -> Response:
    return console_file("class.html", if_none_match)


@PAGE.get("/")
async def console(_: None, request: Request, if_none_match: IfNoneMatch = None) -> Response:
    """The console of a lab that the address names; without one, lead to the page of the class."""
    if "lab=" in request.query:
        return console_file("index.html", if_none_match)
    return Response(status=HTTPStatus.TEMPORARY_REDIRECT, headers={"Location": "/class"})


TAB: Final = Routes[Path](shown=False)
"""The lab in a browser tab, as `make site` has built it. Its subject is the folder."""

MIME: Final = mimetypes.MimeTypes()
MIME.add_type("text/javascript", ".js")
MIME.add_type("text/javascript", ".mjs")
MIME.add_type("application/wasm", ".wasm")


@TAB.get("/tab/{path:path}")
async def tab_file(folder: Path, path: str, if_none_match: IfNoneMatch = None) -> Response:
    """Return a file of the lab in a tab; its own page has the policy."""
    name = path or "index.html"
    if not FILE_PATH.fullmatch(name) or not (folder / name).is_file():
        return problem(HTTPStatus.NOT_FOUND, "Http", "the lab in a tab has no such file")
    kind = MIME.guess_type(name)[0] or "application/octet-stream"
    headers = {"Cache-Control": "no-cache", "Referrer-Policy": "no-referrer"}
    return tagged(await in_thread((folder / name).read_bytes), kind, if_none_match, headers)


def app_of_class(room: Room) -> App:
    """Return the application of a class. `pflab.room.access` must check its requests."""
    lessons = extension_of(room.classroom)
    api = api_of_class(room, lessons)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := full_lab(scope)) is not None:
            with suppress(ClientDisconnect):
                await Request(scope, receive).body()  # a client sends it whole before it reads the answer
                await refusal(scope, receive, send)
            return
        pupil = scope.get(OF_PUPIL) if scope["type"] == "http" and scope["path"] == LABS_STREAM else None
        if pupil is not None:
            pupil.lab_streams += 1
        try:
            await api(scope, receive, send)
        finally:
            if pupil is not None:
                pupil.lab_streams -= 1
            if scope["type"] == "http" and scope["path"].startswith(lessons.path) and scope["method"] != "GET":
                room.follow()  # the trainer may have played the lesson on in the console

    return app


def api_of_class(room: Room, lessons: Extension) -> Api:
    """Return the routes of a class and of its lessons.

    lessons: what serves the lessons of the class.
    """

    def lab_at(path: str) -> AbstractContextManager[Callable[[], ServedLab | None]]:
        return lessons.lab_at(path) if path else nullcontext(lambda: None)

    served = [
        *PAGE.serving(lambda: None),
        *CONSOLE_FILES.serving(lambda: None),
        *ROOM.serving(lambda: room),
        *EVENTS_OF_LABS.serving(lambda: lab_at),
        *lessons.routes,
    ]
    if room.tab is not None:
        folder = room.tab
        served += TAB.serving(lambda: folder)
    return Api(served, title="pflab class", errors={**_ERRORS, **lessons.errors}, mounts={lessons.path: lessons.app})
