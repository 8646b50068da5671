"""The browser console: the files of the folder `console/`, with headers that let a browser load nothing from elsewhere."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Final

from node.api.asgi import Response
from node.api.routing.parameters import Header
from node.api.routing.routes import Routes
from node.api.values import problem
from pflab.replay.console_files import CONSOLE

POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        *(f"{kind} 'self'" for kind in ("script-src", "style-src", "font-src", "connect-src", "form-action")),
        "img-src 'self' data:",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
"""The page loads, asks and sends only what this server has; no markup in a mail or a name can add a script or a style."""

TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".yaml": "text/plain; charset=utf-8",
}
"""The content type of each kind of file that is served."""

_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",  # the browser keeps a file, but asks each time whether its ETag still holds
}

_PART: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
FILE_PATH: Final = re.compile(rf"(?:{_PART}/){{0,7}}{_PART}")
"""A path below the folder. No part begins with a dot, so no path leaves the folder."""

IfNoneMatch = Annotated[str | None, Header("If-None-Match")]

CONSOLE_PAGE: Final = Routes[None](shown=False)
"""The page of a lab, which is the same for every lab."""

CONSOLE_FILES: Final = Routes[None](shown=False)
"""What the page loads."""


@CONSOLE_PAGE.get("/")
async def page(_: None, if_none_match: IfNoneMatch = None) -> Response:
    return console_file("index.html", if_none_match)


@CONSOLE_FILES.get("/console/{path:path}")
async def file(_: None, path: str, if_none_match: IfNoneMatch = None) -> Response:
    return console_file(path, if_none_match)


def console_file(path: str, etags: str | None) -> Response:
    """Return a file of the console, or 304 if the browser has it already."""
    file = CONSOLE / path
    if not FILE_PATH.fullmatch(path) or file.suffix not in TYPES or not file.is_file():
        return problem(HTTPStatus.NOT_FOUND, "Http", "the console has no such file")
    return tagged(file.read_bytes(), TYPES[file.suffix], etags, _HEADERS)


def tagged(content: bytes, kind: str, etags: str | None, headers: Mapping[str, str]) -> Response:
    """Return a file for a browser with its ETag, or 304 if the browser has it already.

    kind: its content type.
    etags: what the browser has, as If-None-Match says.
    """
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {**headers, "ETag": tag}
    if etags is not None and tag in {etag.strip() for etag in etags.split(",")}:
        return Response(status=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(content, media_type=kind, headers=headers)
