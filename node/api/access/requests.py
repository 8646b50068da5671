"""What the head of a request says: its host, its cookies, and whether another web page has caused it."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from node.api.asgi import Headers

READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""The methods that change nothing."""

_OWN_SITE: Final = frozenset({"same-origin", "none"})
"""Sec-Fetch-Site of requests that a page of this server or the user caused. `same-site` is not one: it is another port."""


def is_foreign(method: str, headers: Headers) -> bool:
    """Return whether a web page of another origin has caused a request, as far as the browser says so.

    Each browser sends Origin with a request that may change something. Sec-Fetch-Site is missing in plain HTTP beyond
    loopback. A program that is no browser sends neither.
    """
    origin = headers.get("origin")
    if origin is not None:
        return not _is_ours(origin, headers.get("host", ""))
    return method not in READING and headers.get("sec-fetch-site", "none") not in _OWN_SITE


def is_own(headers: Headers) -> bool:
    """Return whether the browser says that a page of this server has caused a request, or the user did."""
    origin = headers.get("origin")
    if origin is not None:
        return _is_ours(origin, headers.get("host", ""))
    return headers.get("sec-fetch-site") in _OWN_SITE


def wants_page(method: str, headers: Headers) -> bool:
    """Return whether a browser asks for a page, and not a program or a script for data."""
    return method == "GET" and "text/html" in headers.get("accept", "")


def cookie(headers: Headers, name: str) -> str | None:
    """Return the value of a cookie; None if the request has no such cookie."""
    for pair in headers.get("cookie", "").split(";"):
        key, separator, value = pair.strip().partition("=")
        if separator and key == name:
            return value
    return None


def host_name(host: str) -> str:
    """Return the host name without its port; '' if the header is malformed."""
    if "@" in host:
        return ""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_ours(origin: str, host: str) -> bool:
    try:
        return urlsplit(origin).netloc == host
    except ValueError:
        return False
