"""Who may ask what of the server of a class.

| path | the trainer | a pupil | anybody |
|---|---|---|---|
| the page and its files, /docs | yes | yes | yes |
| /room and below | as each route says | as each route says | joins with the key |
| the common lab | everything | reads (`_READABLE`) | no |
| a pupil's own lab | everything | its owner: everything but `_NOT_FOR_PUPILS` | no |
| /lessons, other labs | everything | no | no |
| /labs/stream | yes | of labs that the pupil may read | no |

The page of a class carries the secret or the token in the header field Authorization. `POST /room/window` sets a cookie with
it, so that the console works too: the trainer's with the common lab, and a pupil's with the own lab. A cookie goes with every
request of a browser, so a request with it that changes something must come from a page of this server.

A lesson's notes are in its state, and so in what plays it on and in the file of its replay. Pupils get none of these, not even
in their own lab.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl

from node.api.access.login import cookie_name
from node.api.access.requests import READING, cookie, is_foreign, is_own
from node.api.access.tokens import bearer
from node.api.asgi import Headers, Request, Response, Scope, headers_of
from node.api.values import problem
from pflab.room.pupils import LAB_BYTES, MOST_LAB_STREAMS, Pupil, TooFast
from pflab.room.room import NotOfTheClass, Room, path_of

OPEN: Final = re.compile(r"/|/class|/console/.*|/tab/.*|/docs|/openapi\.json|/livez|/readyz")
"""The paths that need no key: files that are the same for every class."""

PUPIL_BODY_BYTES: Final = 256 * 1024
"""The largest body that a pupil may send: a long post, and not the megabytes of five hundred at once."""

LEAST_BACKUP_BYTES: Final = 256 * 1024
"""What the backup of an empty store counts."""

_READABLE: Final = re.compile(
    r"/lab(/topology|/checkpoint|/events|/clock|/faults(/kinds|/waiting)?|/mails/.*|/verdict)?"
    r"|/nodes/[^/]+/(?!stream$|backup$|copy$|database/).*"
)
"""What pupils may read of the common lab, below its path."""

_NOT_FOR_PUPILS: Final = re.compile(
    r"|/|/lesson|/next|/again|/stream|/lab/(replay|saved|export|stream|traces).*|/nodes/[^/]+/(stream|backup|copy|restore|database).*"
)
"""What a pupil may not do in its own lab: read notes, or keep files and streams on the server."""

LABS_STREAM: Final = "/labs/stream"
"""The path of the events of labs."""

OF_PUPIL: Final = "pflab.pupil"
"""The key in the scope of a request for a lab whose value is the pupil who sends it."""

_LAB: Final = re.compile(r"(/lessons/[^/]+)(.*)", re.DOTALL)


class Access:
    """The access control of one class, for `node.api.http_server.HttpServer`."""

    def __init__(self, room: Room) -> None:
        self._room = room

    def __call__(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the refusal of a request, or None if it is accepted."""
        path, method = scope["path"], scope["method"]
        if OPEN.fullmatch(path):
            return None
        authorization = headers.get("authorization", "")
        if not authorization:
            authorization = self._by_cookie(headers)
            if authorization and (is_foreign(method, headers) or (method not in READING and not is_own(headers))):
                return problem(HTTPStatus.FORBIDDEN, "Refused", "requests from web pages of another origin are refused")
        if self._room.is_trainer(authorization):
            return None
        try:
            pupil = self._room.pupil_of(authorization)
        except NotOfTheClass as error:
            if path == "/room/pupils" and method == "POST":
                return _too_long(headers)  # the route checks the key
            return problem(HTTPStatus.UNAUTHORIZED, type(error).__name__, str(error))
        try:
            self._room.pupils.check_pace(pupil, changes=method not in READING)
        except TooFast as error:
            refusal = problem(HTTPStatus.TOO_MANY_REQUESTS, type(error).__name__, str(error))
            refusal.headers["Retry-After"] = "1"
            return refusal
        if path.startswith("/room"):
            return _too_long(headers)
        if self._is_for(pupil, method, scope):
            if path == LABS_STREAM and pupil.lab_streams >= MOST_LAB_STREAMS:
                return problem(HTTPStatus.TOO_MANY_REQUESTS, "TooFast", "you have too many streams; close a page")
            scope[OF_PUPIL] = pupil
            return _too_long(headers)
        return problem(
            HTTPStatus.FORBIDDEN, "NotTheTrainer", "only the trainer can do this; take the lab as your own to change it"
        )

    def _by_cookie(self, headers: Headers) -> str:
        """Return what a request would carry if its browser could add a header field; the trainer's token goes first."""
        for name in _cookie_names(headers):
            value = cookie(headers, name)
            authorization = f"Bearer {value}"
            if value and (self._room.is_trainer(authorization) or self._room.pupils.with_secret(value) is not None):
                return authorization
        return ""

    def _is_for(self, pupil: Pupil, method: str, scope: Scope) -> bool:
        """Return whether a pupil may make a request for a lab."""
        lesson, own = self._room.lesson, path_of(self._room.lab_of(pupil))
        common = None if lesson is None else path_of(lesson.id)
        if scope["path"] == LABS_STREAM:
            query = parse_qsl(scope["query_string"].decode("latin-1"))
            return method == "GET" and all(value.rpartition("@")[2] in {common, own} for _, value in query)
        match = _LAB.fullmatch(scope["path"])
        if match is None:
            return False
        base, below = match.groups()
        if base == own:
            return not _NOT_FOR_PUPILS.fullmatch(below)
        return base == common and method in READING and _READABLE.fullmatch(below) is not None


def _too_long(headers: Headers) -> Response | None:
    """Return the refusal of a body that is too long for a pupil, or whose length is not known."""
    length = headers.get("content-length", "0")
    if "transfer-encoding" not in headers and length.isdecimal() and int(length) <= PUPIL_BODY_BYTES:
        return None
    detail = f"send at most {PUPIL_BODY_BYTES} bytes in one request, with a Content-Length"
    return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "TooLarge", detail)


def full_lab(scope: Scope) -> Response | None:
    """Count what a pupil puts into its own lab with an accepted request, and return the refusal if that is too much. A backup
    counts as much as all that came before it."""
    pupil: Pupil | None = scope.get(OF_PUPIL)
    if pupil is None or scope["method"] in READING:
        return None
    is_backup = scope["path"].endswith("/backup")
    sent = pupil.lab_bytes + LEAST_BACKUP_BYTES if is_backup else int(headers_of(scope).get("content-length", "0"))
    pupil.lab_bytes += sent
    if pupil.lab_bytes <= LAB_BYTES:
        return None
    return problem(
        HTTPStatus.CONFLICT, "LabFull", "your lab is full; take the lab of the class again to have a new one"
    )


def cookie_of(room: Room, who: str, request: Request) -> str:
    """Return the cookie for the browser of the trainer or of a pupil. No script reads it, and it ends with the browser's
    session.

    who: the header field Authorization.
    """
    headers = headers_of(request.scope)
    is_tls = "https" in {request.scope.get("scheme"), headers.get("x-forwarded-proto")}
    attributes = f"Path=/; HttpOnly; SameSite=Strict{'; Secure' if is_tls else ''}"
    of_trainer, of_pupil = _cookie_names(headers)
    return f"{of_trainer if room.is_trainer(who) else of_pupil}={bearer(who)}; {attributes}"


def _cookie_names(headers: Headers) -> tuple[str, str]:
    """Return the names of the cookies of the trainer and of a pupil."""
    return f"{cookie_name(headers)}-trainer", f"{cookie_name(headers)}-pupil"
