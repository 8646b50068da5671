"""How long a client waits for an answer, and how it divides the answer into events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from pflab.client import Client, ClientError, requests
from tests.support.dropped_packets import packets_dropped

pytestmark = pytest.mark.live


@contextmanager
def lab_that_answers_after(late_s: float, answer: bytes = b"{}") -> Iterator[str]:
    """The URL of an HTTP server that answers each request after so many seconds."""

    class Late(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            time.sleep(late_s)
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET  # noqa: N815 - as above

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Late)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def limit_of(client: Client) -> float | None:
    """Return how long the connection waited for its latest answer."""
    assert client._connection is not None
    limit: float | None = client._connection.sock.gettimeout()
    return limit


@pytest.mark.parametrize("timeout_s", [0.5, 60.0, 300.0])
def test_each_request_waits_as_long_as_the_client_was_told(timeout_s: float) -> None:
    """The time-out applies to the first request and to those on a kept connection; moving the clock has none."""
    with lab_that_answers_after(0) as url, Client(url, timeout_s=timeout_s) as client:
        for _ in range(2):
            client.lab()
            assert limit_of(client) == timeout_s
        client.advance("15 min")
        assert limit_of(client) is None
        client.surely("POST", "/lab/export", {})
        assert limit_of(client) == timeout_s


def test_an_answer_after_the_limit_is_silence() -> None:
    """An answer after the time-out counts as no answer."""
    with lab_that_answers_after(0.2) as url, Client(url, timeout_s=0.05) as client:
        with pytest.raises(
            ClientError, match=r"no answer from .*the answer to GET /lab did not come within 0\.05 s"
        ) as silent:
            client.lab()
        assert silent.value.status == 0


def test_a_separator_of_lines_inside_an_event_does_not_split_it() -> None:
    """JSON strings may contain U+0085, U+2028 and U+2029; only a line feed ends an event."""
    subjects = ["one\u2028two", "one\u2029two", "one\u0085two", "one\x1ctwo\x0cthree"]
    events = "".join(json.dumps({"subject": each}, ensure_ascii=False) + "\n" for each in subjects).encode()
    with lab_that_answers_after(0, events) as url, Client(url) as client:
        found = client.events()
        assert [next(found)["subject"] for _ in subjects] == subjects


@pytest.mark.parametrize(
    "url",
    [
        "",
        ".",
        "x" * 70,
        "http://",
        "http://[",
        "[red]",
        "http://a:99999",
        "http://a:x",
        "http://\u2028",
        "a b",
        "ftp://a",
        "http://\udcff",
    ],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    """A URL that no lab can have is one clear error, before any request."""
    with pytest.raises(ClientError, match="is not the URL of a lab; write for example"):
        Client(url)


@pytest.mark.parametrize("name", ["\udcff", "\u2028", "\0", "a/b", "x" * 2000])
def test_a_name_may_be_any_text(name: str) -> None:
    """A name from the command line may have bytes that are not UTF-8; the lab refuses it, not the client."""
    with lab_that_answers_after(0) as url, Client(url) as client:
        client.state(name, name)
        client.stop(name)


@pytest.mark.parametrize("check", [None, lambda: None], ids=["plain", "with a check"])
def test_a_patient_request_has_a_limit_for_its_connection(
    monkeypatch: pytest.MonkeyPatch, check: Callable[[], None] | None
) -> None:
    """Behind a firewall that drops packets no request waits for ever, and the message says why it ends."""
    monkeypatch.setattr(requests, "CONNECT_TIMEOUT_S", 0.05)
    with (
        packets_dropped() as (host, port),
        Client(f"http://{host}:{port}", check=check) as client,
        pytest.raises(ClientError, match=r"neither accepted nor refused the connection within 0\.05 s"),
    ):
        client.advance("1 h")
