"""Every client of a lab's HTTP port gets an answer of one line, and can change only what the API offers."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from pflab.client import Client
from tests.support.running_lab import lab_up

pytestmark = pytest.mark.live

HUGE = "9" * 30
JSON = {"Content_Type": "application/json"}
LARGEST = 2**63 - 1
ENDLESS = "9" * 5000


@pytest.fixture(scope="module", params=["embedded", "processes"])
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a lab that is up."""
    folder = tmp_path_factory.mktemp("lab")
    with lab_up(folder, *(["--processes"] if request.param == "processes" else [])) as url:
        yield url
    told = b"".join(log.read_bytes() for log in folder.glob("runs/up/*/logs/*.log"))
    assert b"Traceback" not in told


@pytest.mark.parametrize("path", ["/", "/docs", "/lab", "/nodes/A/folders", "/nothing"])
def test_browsers_must_not_guess_the_type_of_an_answer(lab: str, path: str) -> None:
    """What users wrote is never taken for a page or a script, because every answer says so."""
    connection = HTTPConnection(urlsplit(lab).netloc, timeout=30)
    connection.request("GET", path)
    assert connection.getresponse().headers.get_all("X-Content-Type-Options") == ["nosniff"]
    connection.close()


def request(lab: str, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, Any]]:
    """Return the status and JSON of an answer; do not wait for the end of a stream."""
    connection = HTTPConnection(urlsplit(lab).netloc, timeout=30)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        if answer.headers.get_content_type() == "text/event-stream":
            return answer.status, {}
        content = answer.read()
        return answer.status, json.loads(content) if content.startswith(b"{") else {"detail": content.decode()}
    finally:
        connection.close()


@pytest.mark.parametrize(
    "origin", ["http://[", "null", "http://evil.test", "http://localhost:1", "http://evil@127.0.0.1"]
)
def test_requests_of_another_origin_are_refused(lab: str, origin: str) -> None:
    """An Origin header that is invalid, or not the lab's own, is refused."""
    status, told = request(lab, "POST", "/lab/clock/step", Origin=origin)
    assert (status, told["status"]) == (403, 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "other"])
def test_requests_that_a_browser_calls_foreign_are_refused(lab: str, site: str) -> None:
    """A request that may change something is refused if the browser says that another site, or another port, caused it."""
    assert request(lab, "POST", "/lab/clock/step", Sec_Fetch_Site=site)[0] == 403
    assert request(lab, "GET", "/lab", Sec_Fetch_Site=site)[0] == 200


def test_requests_of_the_labs_own_page_are_allowed(lab: str) -> None:
    """The page of documentation can call every route, also of nodes in other processes."""
    body = b'{"folder": "Projects", "subject": "from the page"}'
    status, _ = request(lab, "POST", "/nodes/A/messages", body, Origin=lab, Content_Type="application/json")
    assert status == 201


@pytest.mark.parametrize("host", ["evil.test", "", "[", "evil.test@localhost", "localhost@evil.test"])
def test_a_foreign_host_name_is_refused(lab: str, host: str) -> None:
    """A request under another host name than the lab's is refused (DNS rebinding)."""
    assert request(lab, "GET", "/lab", Host=host)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        f"/nodes/A/events?after={HUGE}",
        f"/nodes/A/log?after={HUGE}",
        f"/nodes/A/log?event={HUGE}",
        f"/nodes/A/mailbox/{HUGE}",
        f"/nodes/A/stream?after={HUGE}",
    ],
)
def test_numbers_out_of_range_are_refused(lab: str, path: str) -> None:
    """A number that no store can have is refused as the client's mistake."""
    status, told = request(lab, "GET", path)
    assert (status, told["type"]) == (422, "urn:pflab:Wrong")


@pytest.mark.parametrize(
    "path",
    [
        *(f"/nodes/A/events?after={LARGEST}", f"/nodes/A/log?after={LARGEST}", f"/nodes/A/log?event={LARGEST}"),
        *(f"/nodes/A/mailbox/{LARGEST}", f"/nodes/A/stream?after={LARGEST}", f"/lab/events?after={LARGEST}"),
        *(f"/lab/stream?after={LARGEST}", f"/nodes/A/events?limit_bytes={LARGEST}", f"/lab/events?limit={LARGEST}"),
        *(
            f"/labs/stream?lab={LARGEST}@up@",
            "/labs/stream?lab=1@up%0Adata:@",
            "/labs/stream?lab=1@up@/lab?x",
            "/labs/stream",
        ),
    ],
)
def test_the_largest_number_is_no_internal_error(lab: str, path: str) -> None:
    """Adding to the largest number of 64 bits does not fail, because no request may name it."""
    assert request(lab, "GET", path)[0] == 422


RATES = ["-1", "1e-300", "5e-324", "1e7", "1e999", "-0.5", "NaN", "Infinity", '"fast"', "null"]


@pytest.mark.parametrize("rate", RATES)
def test_a_rate_out_of_range_changes_nothing(lab: str, rate: str) -> None:
    """A clock's rate is 0, or from a millionth to a million; another is refused in one line, and the clock stays paused."""
    status, told = request(lab, "POST", "/lab/clock/rate", b'{"rate": %b}' % rate.encode(), **JSON)
    assert (status, told["type"]) == (422, "urn:pflab:Wrong")
    assert request(lab, "GET", "/lab/clock")[1]["rate"] == 0


def test_a_request_with_two_lengths_ends_the_connection(lab: str) -> None:
    """A proxy may take the end of such a request for another one, so nothing after it is read (RFC 9112, 6.1)."""
    host = urlsplit(lab)
    first = f"POST /nodes/A/messages HTTP/1.1\r\nHost: {host.netloc}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection((host.hostname or "", host.port or 0), timeout=30) as client:
        client.sendall(f"{first}0\r\n\r\nGET /livez HTTP/1.1\r\nHost: {host.netloc}\r\n\r\n".encode())
        said = b"".join(iter(lambda: client.recv(4096), b""))
    assert said.startswith(b"HTTP/1.1 400 ") and said.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    ("verb", "body"),
    [
        *(
            ("advance", {"to": to})
            for to in ("9999-12-31T23:59:59Z", "9000-01-01T00:00:01Z", "26000000 d", "-26000000 d")
        ),
        ("advance", {"to": "36501 d"}),
        *(("step", {"limit": limit}) for limit in ("9999-12-31", "26000000 d")),
        *(("until", {"event": "version.applied", "within": within}) for within in ("26000000 d", "10000000 w", "-1 d")),
    ],
)
def test_no_clock_goes_beyond_the_end_of_lab_time(lab: str, verb: str, body: dict[str, str]) -> None:
    """A time after the year 8999, before now or over a hundred years ahead is refused in one line, and the lab goes on."""
    now = request(lab, "GET", "/lab/clock")[1]["now_at"]
    assert request(lab, "POST", f"/lab/clock/{verb}", json.dumps(body).encode(), **JSON)[0] == 409
    assert request(lab, "GET", "/lab/clock")[1]["now_at"] == now


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "hold", "from": "A", "lasts": "26000000 d"},
        {"kind": "delay", "by": "26000000 d"},
        {"kind": "delay", "by": "-5 s"},
        {"kind": "alter", "lasts": "26000000 d"},
        {"kind": "alter", "count": 2**63},
        {"kind": "smtp", "at": "MAIL", "does": "tarpit", "by": "26000000 d"},
        {"kind": "smtp", "at": "MAIL", "does": "451", "lasts": "26000000 d"},
    ],
)
def test_a_fault_out_of_range_is_refused(lab: str, fault: dict[str, Any]) -> None:
    """A fault that ends after lab time is refused, and no fault is left behind."""
    assert request(lab, "POST", "/lab/faults", json.dumps(fault).encode(), **JSON)[0] in {409, 422}
    with Client(lab) as client:
        assert client.faults() == []


@pytest.mark.parametrize("path", ["/nodes/A/stream", "/lab/stream", "/stream"])
@pytest.mark.parametrize("last", ["\xb2", HUGE, ENDLESS, f"A:{ENDLESS}", "A:\xb2", "-1", ""])
def test_an_invalid_last_event_id_is_ignored(lab: str, path: str, last: str) -> None:
    """The Last-Event-ID header of a browser is used only if it can be an event's number."""
    assert request(lab, "GET", path, Last_Event_ID=last)[0] == 200


@pytest.mark.parametrize("body", [b"", b"{}", b"[" * 5000, b'{"node": "\\ud800"}', b"\xff"])
def test_requests_of_nodes_are_refused_to_others(lab: str, body: bytes) -> None:
    """Only the lab's nodes may count a fault as used or write a kept mail."""
    assert request(lab, "POST", "/lab/fault-decision", body)[0] in {401, 404}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"folder": "\xff"}', "not UTF-8; send JSON in UTF-8"),
        (b"[" * 100_000, "nested too deeply; send JSON with fewer levels"),
        (b'{"folder": ' + b"9" * 10_000 + b"}", "a number has too many digits; send a shorter one"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_in_words(lab: str, body: bytes, told: str) -> None:
    """JSON beyond Python's limits is the client's mistake like any other, and the line says which."""
    status, answer = request(lab, "POST", "/nodes/A/messages", body, **JSON)
    assert (status, answer["type"], answer["detail"]) == (422, "urn:pflab:Wrong", f"body: {told}")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "clock/set", b'{"at": 1999999999000000000}'),
        ("POST", "clock/hold", b""),
        ("POST", "clock%2Fhold", b""),
        ("POST", "clock/go", b""),
        ("PUT", "peers", b'{"addresses": {}}'),
        ("PUT", "peers/", b'{"addresses": {}}'),
        ("POST", "directory", b'{"store": "B"}'),
        ("POST", "stop", b""),
        ("GET", "backup", b""),
        ("GET", "idle?at=0", b""),
    ],
)
def test_only_the_coordinator_may_control_a_node(lab: str, method: str, path: str, body: bytes) -> None:
    """The requests that the coordinator sends to its nodes are refused to every other client."""
    assert request(lab, method, f"/nodes/B/{path}", body)[0] in {404, 405}


def test_an_incomplete_request_has_no_effect(lab: str) -> None:
    """A request whose client hangs up before its end has no effect."""
    count = "/nodes/A/messages/count?folder=Projects"
    before = request(lab, "GET", count)[1]["count"]
    address = urlsplit(lab)
    for length in (b"Content-Length: 2000", b"Transfer-Encoding: chunked"):
        with socket.create_connection((address.hostname, address.port)) as line:
            head = b"POST /nodes/A/messages/mail?folder=Projects HTTP/1.1\r\nHost: localhost\r\n%b\r\n\r\n" % length
            line.sendall(head + b"100\r\nSubject: half\r\n\r\n" + b"x" * 100)
        with Client(lab) as client:
            client.post("A", "Projects", subject="one after it")
    assert request(lab, "GET", count)[1]["count"] == before + 2


@pytest.mark.parametrize(
    ("path", "limit"), [("/lab/clock/rate", 1), ("/nodes/A/folders", 1), ("/nodes/A/messages", 64)]
)
def test_a_chunked_body_has_the_same_limit(lab: str, path: str, limit: int) -> None:
    """A body without a length is refused once it is too long."""
    connection = HTTPConnection(urlsplit(lab).netloc, timeout=30)
    pieces = (b" " * 1024 * 1024 for _ in range(limit + 1))
    connection.request("POST", path, pieces, {"Content-Type": "application/json"}, encode_chunked=True)
    answer = connection.getresponse()
    assert answer.status == 413
    assert json.loads(answer.read())["type"] == "urn:pflab:TooLarge"
    connection.close()


@pytest.mark.parametrize("subject", ["a\0b", "a\r\nBcc: x@evil.test", "\x85\u2028", "\x7f"])
def test_no_subject_breaks_out_of_its_field(lab: str, subject: str) -> None:
    """Whatever a subject or sender contains, the mail has these fields and no others."""
    with Client(lab) as client:
        message = client.post("A", "Projects", subject=subject, sender=f"kim{subject}@contoso.test")["id"]
        mail = client.mail("A", "Projects", message)
    names = [line.split(b":")[0] for line in mail.split(b"\r\n\r\n")[0].split(b"\r\n") if line[:1] not in b" \t"]
    assert set(names) <= {
        *(b"Message-ID", b"From", b"To", b"Date", b"Subject", b"MIME-Version"),
        *(b"Content-Type", b"Content-Transfer-Encoding"),
    }


@pytest.mark.parametrize(
    "address", ["", "\u0663@x.test", "['x', 'y']", "a b", "\0", "%ED%A0%80", "x" * 900, "<>", "a@b@c", "a\r\nb"]
)
def test_an_invalid_mail_address_is_refused(lab: str, address: str) -> None:
    """The lab sends mail to a server only with valid addresses; others are a mistake of the client."""
    odd = address if address.startswith("%") else quote(address, safe="")
    for sender, to in ((odd, "projects%40contoso.test"), ("kim%40x.test", odd)):
        path = f"/lab/servers/A/mail?from={sender}&to={to}"
        status, told = request(lab, "POST", path, b"Subject: x\r\n\r\ny\r\n", Content_Type="message/rfc822")
        assert status in {200, 409, 422}, told
