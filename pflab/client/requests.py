"""HTTP requests to a lab, one at a time on a connection that stays open, and its stream of server-sent events.

If the connection breaks, the stream continues after the last event that arrived.
"""

from __future__ import annotations

import json
import math
import selectors
import time
import uuid
from base64 import b64encode
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Final, Self, TypedDict, Unpack
from urllib.parse import quote, urlencode, urlsplit

__tracebackhide__ = True  # pytest shows the lines of the test that calls this module, not those in it

TIMEOUT_S = 60.0
"""Real time that a client waits for an answer, unless its `timeout_s` is different."""

CONNECT_TIMEOUT_S = 10.0
"""Real time that a client waits until its connection is open, unless its `timeout_s` is shorter."""

CHECK_S = 1.0
"""Real time without an answer after which a client calls its `check`."""

_Selector: Final[type[selectors.BaseSelector]] = getattr(selectors, "PollSelector", selectors.SelectSelector)
"""poll(2), which needs no file handle. Windows does not have it."""

UNHEARD = frozenset({0, 502, 503})
"""Statuses that leave open whether the request was carried out: no answer from the lab (0), or none from its server."""

SURE_TRIES = 3
"""How many times a change with an Idempotency-Key is requested if no answer comes."""


class ClientError(Exception):
    """Raised if the lab refuses a request or does not answer. `status` is the HTTP status, or 0 if there is no answer. `kind`
    is the type of error."""

    def __init__(self, status: int, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail

    @property
    def internal(self) -> bool:
        """Return whether this is an internal error of the lab. The lab's log has the traceback."""
        return self.status == HTTPStatus.INTERNAL_SERVER_ERROR


def quoted(text: str) -> str:
    """Return a name, quoted for the path or query of a URL. The name can be any text, even with bytes that are not UTF-8."""
    return quote(text, safe="", errors="surrogatepass")


def sent(value: object) -> object:
    """Return an argument as JSON has it: a file, given by its name and content, is an object with the content in base64."""
    match value:
        case (str(name), bytes(content)):
            return {"name": name, "content": b64encode(content).decode("ascii")}
        case list() | tuple():
            return list(map(sent, value))
        case Mapping():
            return {name: sent(entry) for name, entry in value.items()}
    return value


def url_at(address: tuple[str, int]) -> str:
    """Return the URL of an HTTP server."""
    host, port = address
    return f"http://{host}:{port}"


class RequestOptions(TypedDict, total=False):
    """How a request is sent: additional headers, and whether it waits for its answer without a limit."""

    headers: Mapping[str, str]
    patient: bool


class Requests:
    """Requests to the lab at `url`, such as `http://127.0.0.1:8025`, or `http://127.0.0.1:8025/lessons/ID` for the lab of a
    lesson; `token` if the lab requires one.

    Each request waits `timeout_s` of real time for its answer; a `patient` request waits without a limit. If `check` is given,
    all requests are patient, and the client calls `check` each CHECK_S without an answer. `check` raises an error to end the
    request.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout_s: float = TIMEOUT_S,
        check: Callable[[], None] | None = None,
    ) -> None:
        try:
            parts = urlsplit(url if "//" in url else f"http://{url}")
            host, port = parts.hostname or "", parts.port
            host.encode("idna")
        except ValueError:  # also a UnicodeError
            host, port = "", None
        if not host or parts.scheme not in {"http", "https"} or not parts.netloc.isprintable() or " " in parts.netloc:
            raise ClientError(
                0, "Url", f"{url[:80]!r} is not the URL of a lab; write for example http://127.0.0.1:8025"
            )
        self._base = parts.path.rstrip("/")
        self.url = f"{parts.scheme}://{parts.netloc}{self._base}"
        self.timeout_s = timeout_s
        self._check = check
        self._secure = parts.scheme == "https"
        self._address = (host, port)
        self._token = token
        self._connection: HTTPConnection | None = None
        self.replayed = False
        """Whether the last request repeated a change that had already been done under the same key."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. The next call opens another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def surely(self, method: str, path: str, body: Any, key: str | None = None) -> Any:
        """Request a change under an Idempotency-Key, up to SURE_TRIES times if no answer comes. Return the answer's JSON."""
        headers = {"Idempotency-Key": key or str(uuid.uuid4())}
        for tries_left in reversed(range(SURE_TRIES)):
            try:
                return self.json(method, path, body, headers=headers)
            except ClientError as error:
                if error.status or not tries_left:
                    raise
        return None

    def _change(self, method: str, node: str, path: str, body: Mapping[str, object] | None, key: str | None) -> Any:
        """Request a change of a store.

        path: below that of the store.
        body: its arguments; those that are None are left out.
        key: as in `surely`.
        """
        fields = None if body is None else {name: sent(value) for name, value in body.items() if value is not None}
        return self.surely(method, f"/nodes/{quoted(node)}{path}", fields, key)

    def json(self, method: str, path: str, body: Any = None, **options: Unpack[RequestOptions]) -> Any:
        """Send a request and return the JSON of the answer."""
        return json.loads(self.content(method, path, body, **options) or b"null")

    def text(self, method: str, path: str, body: Any = None) -> str:
        """Send a request and return the text of the answer."""
        return self.content(method, path, body).decode("utf-8")

    def content(self, method: str, path: str, body: Any = None, **options: Unpack[RequestOptions]) -> bytes:
        """Send a request and return the bytes of the answer."""
        return self.read(self.ask(method, path, body, **options))

    def read(self, answer: HTTPResponse) -> bytes:
        """Return the complete body of an answer."""
        try:
            return answer.read()
        except (OSError, HTTPException) as error:
            self.close()
            raise self._silence(error, "the rest of an answer") from error

    def ask(self, method: str, path: str, body: Any = None, **options: Unpack[RequestOptions]) -> HTTPResponse:
        """Send a request and return the answer before its body is read. Raises ClientError for a status of 400 or more."""
        payload = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        kind = "message/rfc822" if isinstance(body, bytes) else "application/json"
        headers = {"Content-Type": kind, **options.get("headers", {})}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        answer = self._answer(method, path, payload, headers, options.get("patient", False))
        self.replayed = answer.getheader("Idempotency-Replayed") is not None
        if answer.status < 400:
            return answer
        try:
            problem = json.loads(answer.read())
            detail, kind = str(problem["detail"]), str(problem["type"]).rpartition(":")[2]
        except (ValueError, KeyError, TypeError, OSError, HTTPException):
            detail, kind = f"{method} {path}: {answer.status} {answer.reason}", "Http"
        raise ClientError(answer.status, kind, detail)

    def _answer(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], patient: bool
    ) -> HTTPResponse:
        is_reused = self._connection is not None
        while True:
            try:
                return self._once(method, path, body, headers, patient)
            except (OSError, HTTPException) as error:
                self.close()
                # The server may have closed the connection since the last request. Repeating GET and PUT is harmless.
                if not is_reused or method not in {"GET", "PUT"} or isinstance(error, TimeoutError):
                    raise self._silence(error, f"the answer to {method} {path.partition('?')[0]}") from error
                is_reused = False

    def _once(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], patient: bool
    ) -> HTTPResponse:
        check = self._check_for(patient=patient)
        wait_s = None if patient or check is not None else self.timeout_s
        if self._connection is None:
            kind = HTTPSConnection if self._secure else HTTPConnection
            self._connection = kind(*self._address, timeout=min(self.timeout_s, CONNECT_TIMEOUT_S))
        if self._connection.sock is None:
            self._connect(self._connection)
        self._connection.sock.settimeout(wait_s)
        self._connection.request(method, self._base + path, body, dict(headers))
        if check is not None:
            self._wait_for_answer(check)
            self._connection.sock.settimeout(self.timeout_s)
        return self._connection.getresponse()

    def _check_for(self, *, patient: bool) -> Callable[[], None] | None:
        """Return what is called each CHECK_S until the answer to one request begins; None: nothing."""
        del patient
        return self._check

    def _answers(self) -> bool:
        """Return whether the lab answers on another connection within CHECK_S, even if it is busy with a request."""
        with Requests(self.url, timeout_s=CHECK_S) as connection:
            try:
                connection.content("GET", "/livez")
            except ClientError as error:
                return bool(error.status)
        return True

    @staticmethod
    def _connect(connection: HTTPConnection) -> None:
        try:
            connection.connect()
        except TimeoutError:
            assert connection.timeout is not None
            raise TimeoutError(
                f"it neither accepted nor refused the connection within {connection.timeout:g} s"
            ) from None

    def _wait_for_answer(self, check: Callable[[], None]) -> None:
        assert self._connection is not None
        try:
            with _Selector() as answer:
                answer.register(self._connection.sock, selectors.EVENT_READ)
                while not answer.select(CHECK_S):
                    check()
        except BaseException:
            self.close()
            raise

    def _silence(self, error: Exception, awaited: str) -> ClientError:
        """Return the error for a request without an answer.

        awaited: what the client waited for.
        """
        reason = str(error) or type(error).__name__
        if reason == "timed out":
            reason = f"{awaited} did not come within {self.timeout_s:g} s"
        return ClientError(0, "Silence", f"no answer from {self.url} ({reason}); is the lab up? pflab up TOPOLOGY")


RECONNECT_S = 0.2
"""Real time between two attempts to continue a broken stream."""

RECONNECT_TIMEOUT_S = 30.0
"""How long, in real time, the client tries to continue a broken stream."""

REFUSED_TIMEOUT_S = 15.0
"""How long, in real time, the client tries if connections are refused: the lab has probably stopped. A killed coordinator
is back within this time.
"""


def follow_events(connection: Requests, path: str, after: str | int) -> Generator[dict[str, Any], None, None]:
    """Yield each event of the stream at `path` that comes after the id `after`, exactly once and without end.

    connection: is for this stream only, and is closed at the end. Raises ClientError if a broken stream cannot continue, also
    because the lab was reset or replaced (409).
    """
    query, headers = {"after": str(after)}, dict[str, str]()
    began, silent_since_s = False, math.inf
    with connection:
        while True:
            try:
                with connection.ask("GET", f"{path}?{urlencode(query)}", headers=headers) as answer:
                    began, silent_since_s = True, math.inf
                    query["history"] = answer.headers.get("Pflab-History", "")
                    for id_, data in _sent_events(answer):
                        headers["Last-Event-ID"] = id_
                        yield json.loads(data)
            except ClientError as error:
                now_s = time.monotonic()
                silent_since_s = min(silent_since_s, now_s)
                if not began or error.status not in UNHEARD or now_s - silent_since_s > _reconnect_timeout_s(error):
                    raise
            except (OSError, HTTPException):
                pass  # the connection broke
            connection.close()
            time.sleep(RECONNECT_S)


def _reconnect_timeout_s(error: ClientError) -> float:
    return REFUSED_TIMEOUT_S if isinstance(error.__cause__, ConnectionRefusedError) else RECONNECT_TIMEOUT_S


def _sent_events(answer: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the id and data of each server-sent event; an incomplete event is dropped."""
    id_, data = "", b""
    for line in answer:
        if line.startswith(b"id: "):
            id_ = line[len(b"id: ") :].strip().decode()
        elif line.startswith(b"data: "):
            data = line[len(b"data: ") :]
        elif not line.strip() and data:
            yield id_, data
            data = b""
