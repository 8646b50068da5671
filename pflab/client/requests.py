"""Requests to a lab over HTTP, one at a time on a kept connection: what every client of a lab is built on.

Following what happens in a lab: server-sent events, and going on where a stream was cut.
"""

from __future__ import annotations

import json
import math
import time
import uuid
from collections.abc import Generator, Iterable, Iterator, Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

TIMEOUT_S = 60.0
"""Real time that a client waits for an answer, unless it is made with another `timeout_s`."""

UNHEARD = frozenset({0, 502, 503})
"""Statuses that say nothing of what was asked: no answer, or none of the server."""

SURE_TRIES = 3
"""How often a change under an Idempotency-Key is asked for before it is given up."""


class ClientError(Exception):
    """The lab refused, or did not answer. `status` is the HTTP status, 0 without an answer; `kind` names what is wrong."""

    def __init__(self, status: int, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail

    @property
    def internal(self) -> bool:
        """Whether the lab met a bug of pflab; its log has the traceback."""
        return self.status == HTTPStatus.INTERNAL_SERVER_ERROR


def quoted(text: str) -> str:
    """A name as a part of a path or a query."""
    return quote(text, safe="")


def url_at(address: tuple[str, int]) -> str:
    """The URL of whoever serves HTTP at a host and port."""
    host, port = address
    return f"http://{host}:{port}"


class Requests:
    """Requests to the lab at `url`, such as `http://127.0.0.1:8025`, with `token` if it wants one.

    Each request waits `timeout_s` of real time for its answer; a `patient` one waits without a limit.
    """

    def __init__(self, url: str, *, token: str | None = None, timeout_s: float = TIMEOUT_S) -> None:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ClientError(0, "Url", f"{url!r} is no URL of a lab; write http://127.0.0.1:8025")
        self.url = f"{parts.scheme}://{parts.netloc}"
        self.timeout_s = timeout_s
        self._secure = parts.scheme == "https"
        self._address = (parts.hostname, parts.port)
        self._token = token
        self._connection: HTTPConnection | None = None
        self.replayed = False
        """Whether the last change had been done before under the same key."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up; the next call connects again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def surely(self, method: str, path: str, body: Any, key: str | None = None) -> Any:
        """A change under an Idempotency-Key, asked for again while no answer comes."""
        headers = {"Idempotency-Key": key or str(uuid.uuid4())}
        for left in reversed(range(SURE_TRIES)):
            try:
                return self.json(method, path, body, headers=headers)
            except ClientError as error:
                if error.status or not left:
                    raise
        return None

    def json(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        patient: bool = False,
    ) -> Any:
        """One request; the answer's JSON."""
        return json.loads(self.content(method, path, body, headers=headers, patient=patient) or b"null")

    def text(self, method: str, path: str, body: Any = None) -> str:
        """One request; the answer's text."""
        return self.content(method, path, body).decode("utf-8")

    def content(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        patient: bool = False,
    ) -> bytes:
        """One request; the answer's bytes."""
        return self.read(self.ask(method, path, body, headers=headers, patient=patient))

    def read(self, answer: HTTPResponse) -> bytes:
        """The whole of an answer."""
        try:
            return answer.read()
        except (OSError, HTTPException) as error:
            self.close()
            raise self._silence(error) from error

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        patient: bool = False,
    ) -> HTTPResponse:
        """One request; the answer, not yet read. ClientError for every status from 400 on."""
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        kind = "message/rfc822" if isinstance(body, bytes) else "application/json"
        given = {"Content-Type": kind, **(headers or {})}
        if self._token is not None:
            given["Authorization"] = f"Bearer {self._token}"
        answer = self._asked(method, path, sent, given, patient)
        self.replayed = answer.getheader("Idempotency-Replayed") is not None
        if answer.status < 400:
            return answer
        try:
            told = json.loads(answer.read())
            detail, kind = str(told["detail"]), str(told["type"]).rpartition(":")[2]
        except (ValueError, KeyError, TypeError, OSError, HTTPException):
            detail, kind = f"{method} {path}: {answer.status} {answer.reason}", "Http"
        raise ClientError(answer.status, kind, detail)

    def _asked(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], patient: bool
    ) -> HTTPResponse:
        kept = self._connection is not None
        while True:
            try:
                return self._once(method, path, body, headers, patient)
            except (OSError, HTTPException) as error:
                self.close()
                # A kept connection may have been closed at the other end; reading or putting again does no harm.
                if not kept or method not in {"GET", "PUT"} or isinstance(error, TimeoutError):
                    raise self._silence(error) from error
                kept = False

    def _once(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], patient: bool
    ) -> HTTPResponse:
        wait_s = None if patient else self.timeout_s
        if self._connection is None:
            kind = HTTPSConnection if self._secure else HTTPConnection
            self._connection = kind(*self._address, timeout=wait_s)
        elif self._connection.sock is not None:
            self._connection.sock.settimeout(wait_s)
        self._connection.request(method, path, body, dict(headers))
        return self._connection.getresponse()

    def _silence(self, error: Exception) -> ClientError:
        reason = str(error) or type(error).__name__
        return ClientError(0, "Silence", f"no answer from {self.url} ({reason}); is the lab up? pflab up TOPOLOGY")


RESUME_S = 0.2
"""Real time between two tries to go on with a stream that was cut."""

PATIENCE_S = 30.0
"""Real time for which a stream that was cut is asked for again."""

GONE_S = 15.0
"""The same where nobody listens any more: the lab has ended, and whoever watched it wants to know; a coordinator that was
killed is back by then."""


def followed(own: Requests, path: str, after: str | int) -> Generator[dict[str, Any], None, None]:
    """The events of the stream at `path` after that id, for ever, none missing and none twice. own: a connection for
    this stream alone, closed at its end. Raises ClientError if there is no going on."""
    last, history = str(after), ""
    began, silent_from_s = False, math.inf
    with own:
        while True:
            try:
                # A lab that came up since counts its events from 1 again; one that went back, from where it was saved.
                if path.startswith("/lab/"):
                    history = same_history(own, history)
                with own.ask("GET", f"{path}?{urlencode({'after': last})}") as answer:
                    began, silent_from_s = True, math.inf
                    for id_, data in _sent_events(answer):
                        last = id_
                        yield json.loads(data)
            except ClientError as error:
                now_s = time.monotonic()
                silent_from_s = min(silent_from_s, now_s)
                if not began or error.status not in UNHEARD or now_s - silent_from_s > _patience_s(error):
                    raise
            except (OSError, HTTPException):
                pass  # cut in the middle
            own.close()
            time.sleep(RESUME_S)


def _patience_s(error: ClientError) -> float:
    return GONE_S if isinstance(error.__cause__, ConnectionRefusedError) else PATIENCE_S


def same_history(lab: Requests, history: str) -> str:
    """The lab's course of events, which must be this one unless none is given. Raises ClientError."""
    found = str(lab.json("GET", "/lab")["history"])
    if history not in {"", found}:
        raise ClientError(409, "AnotherLab", f"another lab is up at {lab.url} now, or it was reset; begin again")
    return found


def _sent_events(answer: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Ids and data of server-sent events; one that does not come to its end is none."""
    id_, data = "", b""
    for line in answer:
        if line.startswith(b"id: "):
            id_ = line[len(b"id: ") :].strip().decode()
        elif line.startswith(b"data: "):
            data = line[len(b"data: ") :]
        elif not line.strip() and data:
            yield id_, data
            data = b""
