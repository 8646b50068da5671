"""Access beyond loopback: the token in a header field, the cookie of the log-in page, and what other web pages may cause."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest

from node.api.access import Guard

HOST = "lab.test:8025"
OURS = f"http://{HOST}"
CLIENT = "192.0.2.7"
FORM = {"content-type": "application/x-www-form-urlencoded"}
ADMINISTRATOR, USER = "the lab's token", "the token for users"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    content: str


class Server:
    """A guarded application that answers 200 to everything, and the clock that the guard reads."""

    def __init__(self, **options: Any) -> None:
        self.now_s = 1000.0
        options = {"token": ADMINISTRATOR, "users_token": USER, "login": True, **options}
        self._guard = Guard(self._app, monotonic=lambda: self.now_s, **options)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        del scope, receive
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"reached"})

    async def ask(
        self, method: str, path: str, body: bytes = b"", client: str = CLIENT, scheme: str = "http", **headers: str
    ) -> Answer:
        """Return the answer to a request; the underscores in the names of header fields become hyphens."""
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        fields = {"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "scheme": scheme,
            "headers": [(name.encode(), value.encode()) for name, value in fields.items()],
            "client": (client, 40000),
        }
        await self._guard(scope, receive, send)
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], found, b"".join(each.get("body", b"") for each in sent[1:]).decode())

    async def log_in(self, token: str, origin: str = OURS, **more: str) -> Answer:
        body = urlencode({"token": token}).encode()
        return await self.ask(
            "POST", "/login", body, **{"origin": origin, "content_type": FORM["content-type"], **more}
        )

    async def cookie(self, token: str) -> str:
        """Return the cookie that a browser has after it has logged in."""
        return (await self.log_in(token)).headers["set-cookie"].partition(";")[0]


async def test_a_browser_without_a_token_is_led_to_the_log_in_page() -> None:
    """A browser that opens a page gets the log-in page; a program and a script get the refusal."""
    server = Server()
    page = await server.ask("GET", "/", accept="text/html,*/*;q=0.8")
    assert (page.status, page.headers["location"]) == (303, "/login")
    for accept in ("application/json", "text/event-stream", ""):
        refused = await server.ask("GET", "/lab", accept=accept)
        assert (refused.status, "/login" in refused.content) == (401, True)
    assert (await server.ask("POST", "/lab/renew", accept="text/html")).status == 401
    login = await server.ask("GET", "/login")
    assert login.status == 200
    assert "<form" in login.content and "<script" not in login.content
    assert "script-src" not in login.headers["content-security-policy"]
    assert "default-src 'none'" in login.headers["content-security-policy"]


@pytest.mark.parametrize(("token", "administers"), [(ADMINISTRATOR, True), (USER, False)])
async def test_the_cookie_allows_what_its_token_allows(token: str, administers: bool) -> None:
    """A right token gives a cookie, which counts like the header field: for reads, streams and changes."""
    server = Server()
    answer = await server.log_in(token)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Strict"}
    assert token not in cookie
    for path in ("/", "/lab", "/lab/stream"):
        assert (await server.ask("GET", path, cookie=f"other=1; {cookie}")).content == "reached"
    changes = await server.ask("POST", "/lab/clock/step", cookie=cookie, origin=OURS)
    assert changes.status == (200 if administers else 403)
    assert (await server.ask("POST", "/nodes/A/messages", cookie=cookie, origin=OURS)).status == 200


@pytest.mark.parametrize(("scheme", "headers"), [("https", {}), ("http", {"x_forwarded_proto": "https"}), ("http", {})])
async def test_over_tls_the_cookie_never_goes_without(scheme: str, headers: dict[str, str]) -> None:
    """The cookie is Secure if the browser used TLS, also if another program ends the TLS."""
    answer = await Server().log_in(ADMINISTRATOR, scheme=scheme, **headers)
    assert ("Secure" in answer.headers["set-cookie"]) == (scheme == "https" or bool(headers))


async def test_a_cookie_holds_for_its_token_and_port_alone() -> None:
    """A cookie of another token, of another port, or an altered one is no cookie. After a restart the cookie still holds."""
    cookie = await Server().cookie(ADMINISTRATOR)
    assert (await Server().ask("GET", "/lab", cookie=cookie)).status == 200
    assert (await Server(token="another").ask("GET", "/lab", cookie=cookie)).status == 401
    assert (await Server().ask("GET", "/lab", cookie=f"{cookie}0")).status == 401
    assert (await Server().ask("GET", "/lab", cookie=cookie, host="lab.test:9000")).status == 401
    name, _, _ = cookie.partition("=")
    assert (await Server().ask("GET", "/lab", cookie=f"{name}={ADMINISTRATOR}")).status == 401
    assert (await Server(login=False).ask("GET", "/lab", cookie=cookie)).status == 401


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"origin": OURS}, True),
        ({"sec_fetch_site": "same-origin"}, True),
        ({"sec_fetch_site": "none"}, True),
        ({}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://evil.test"}, False),
        ({"origin": "http://lab.test:9000"}, False),
        ({"origin": "http://evil.test", "sec_fetch_site": "same-origin"}, False),
        ({"sec_fetch_site": "same-site"}, False),
        ({"sec_fetch_site": "cross-site"}, False),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_other_sites_change_nothing(method: str, headers: dict[str, str], allowed: bool) -> None:
    """A request with the cookie changes something only if it comes from a page of this server; a program's token suffices."""
    server = Server()
    cookie = await server.cookie(ADMINISTRATOR)
    found = await server.ask(method, "/lab/faults", cookie=cookie, **headers)
    assert found.status == (200 if allowed else 403)
    assert (await server.ask(method, "/lab/faults", authorization=f"Bearer {ADMINISTRATOR}")).status == 200


async def test_other_sites_log_nobody_in_or_out() -> None:
    """A form of another site neither sets nor deletes the cookie."""
    server = Server()
    for answer in (
        await server.log_in(ADMINISTRATOR, origin="http://evil.test"),
        await server.ask("POST", "/logout", origin="null"),
        await server.ask("POST", "/logout", sec_fetch_site="cross-site"),
    ):
        assert (answer.status, "set-cookie" in answer.headers) == (403, False)


async def test_logging_out_deletes_the_cookie() -> None:
    """/logout asks first, without scripts; then the browser forgets the cookie."""
    server = Server()
    assert "<form" in (await server.ask("GET", "/logout")).content
    answer = await server.ask("POST", "/logout", origin=OURS)
    assert (answer.status, answer.headers["location"]) == (303, "/login")
    name, _, value = answer.headers["set-cookie"].partition(";")[0].partition("=")
    assert (name, value) == ((await server.cookie(USER)).partition("=")[0], "")
    assert "Max-Age=0" in answer.headers["set-cookie"]


async def test_a_wrong_token_is_told_plainly() -> None:
    """The page says that the token is wrong, and shows nothing of what was sent."""
    answer = await Server().log_in("<b>guess</b>")
    assert answer.status == 403
    assert "not a token of this lab" in answer.content
    assert "guess" not in answer.content
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("method", "body", "kind", "status"),
    [
        ("POST", b'{"token": "x"}', "application/json", 415),
        ("POST", b"", FORM["content-type"], 403),
        ("POST", b"token=%ff%00\xff", FORM["content-type"], 403),
        ("POST", b"&".join([b"token=x"] * 50), FORM["content-type"], 403),
        ("POST", b"token=" + b"x" * 5000, FORM["content-type"], 413),
        ("PUT", b"token=x", FORM["content-type"], 405),
    ],
)
async def test_a_form_that_is_none_is_refused(method: str, body: bytes, kind: str, status: int) -> None:
    """Whatever is sent to the log-in page gets an answer without a cookie."""
    answer = await Server().ask(method, "/login", body, origin=OURS, content_type=kind)
    assert (answer.status, "set-cookie" in answer.headers) == (status, False)


@pytest.mark.parametrize("way", ["form", "header", "cookie"])
async def test_tokens_cannot_be_guessed_fast(way: str) -> None:
    """After ten different wrong tokens no token of an address is looked at for a minute, in whichever way they came."""
    server = Server()
    name = (await server.cookie(ADMINISTRATOR)).partition("=")[0]
    for number in range(10):
        if way == "form":
            assert (await server.log_in(f"guess {number}")).status == 403
        elif way == "header":
            assert (await server.ask("GET", "/lab", authorization=f"Bearer guess {number}")).status == 401
        else:
            assert (await server.ask("GET", "/lab", cookie=f"{name}=guess {number}")).status == 401
        server.now_s += 1
    refused = await server.log_in(ADMINISTRATOR)
    assert (refused.status, refused.headers["retry-after"]) == (429, "51")
    assert "too many wrong tokens" in refused.content
    asked = await server.ask("GET", "/lab", authorization=f"Bearer {ADMINISTRATOR}")
    assert (asked.status, asked.headers["retry-after"]) == (429, "51")
    right = f"Bearer {ADMINISTRATOR}"
    assert (await server.ask("GET", "/lab", authorization=right, client="192.0.2.8")).status == 200
    server.now_s += 51
    assert (await server.log_in(ADMINISTRATOR)).status == 303


async def test_a_program_with_an_old_token_locks_nobody_out() -> None:
    """One wrong token that is sent again and again is no guessing."""
    server = Server()
    for _ in range(50):
        assert (await server.ask("GET", "/lab", authorization="Bearer old")).status == 401
    assert (await server.ask("GET", "/lab", authorization=f"Bearer {ADMINISTRATOR}")).status == 200


async def test_a_trusted_address_needs_no_cookie() -> None:
    """A trusted address is accepted without a token under a name of this machine, also with an old cookie. Under another
    name a browser is led to the log-in page, and its cookie then counts."""
    server = Server(trusted=frozenset({CLIENT}))
    name = (await server.cookie(ADMINISTRATOR)).partition("=")[0]
    here = {"host": "localhost:8025"}
    assert (await server.ask("GET", "/", cookie=f"{name}=old", **here)).status == 200
    assert (await server.ask("POST", "/lab/renew", cookie=f"{name}=old", origin=OURS, **here)).status == 403
    led = await server.ask("GET", "/", accept="text/html")
    assert (led.status, led.headers["location"]) == (303, "/login")
    assert (await server.ask("GET", "/lab")).status == 403
    assert (await server.ask("GET", "/lab", cookie=await server.cookie(USER))).status == 200


async def test_without_a_token_nobody_logs_in() -> None:
    """A lab on loopback without a token has no log-in page; its application answers."""
    answer = await Server(token=None, users_token=None).ask("GET", "/login", host="localhost")
    assert answer.content == "reached"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/lessons", True),
        ("POST", "/lessons/1f6c/next", True),
        ("POST", "/lessons/1f6c/again", True),
        ("DELETE", "/lessons/1f6c", True),
        ("POST", "/lessons/1f6c/nodes/A/messages", True),
        ("DELETE", "/lessons/1f6c/nodes/A/messages/1-2", True),
        ("POST", "/nodes/A/messages", True),
        ("POST", "/lessons/1f6c/lab/faults", False),
        ("PUT", "/lessons/1f6c/lab/clock", False),
        ("POST", "/lessons/1f6c/lab/servers/A/kill", False),
        ("POST", "/lessons/1f6c/x/nodes/A/messages", False),
        ("POST", "/lessons/1f6c/nodes/A/folders", False),
        ("GET", "/lessons/1f6c/nodes/A/backup", False),
        ("GET", "/lessons/1f6c/lab/file", False),
        ("GET", "/lab/file", False),
        ("GET", "/lab/topology", True),
    ],
)
async def test_users_play_lessons_and_post_in_their_labs(method: str, path: str, allowed: bool) -> None:
    """With the token for users, a lesson can be begun, played on and ended, and messages of its lab can be changed. The clock,
    the faults, the servers and the databases of its lab are for administrators."""
    answer = await Server().ask(method, path, authorization=f"Bearer {USER}")
    assert answer.status == (200 if allowed else 403)


@pytest.mark.parametrize(
    "path", ["/nodes/A/backup\n", "/lab/stream\n", "/nodes/A/copy\n", "/lab/file\n", "/livez\n", "/lab\n/stream"]
)
async def test_a_line_end_in_a_path_evades_no_rule(path: str) -> None:
    """Routes match a path that has a line end after it. Such a path would be none of those that users may not read, or whose
    number is limited, so the server has nothing there."""
    for token in (USER, ADMINISTRATOR):
        assert (await Server().ask("GET", path, authorization=f"Bearer {token}")).status == 404
