"""Every route of a lab answers hostile values, and refuses them in one line: no internal error, and no silence."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.support.running_lab import lab_up
from tests.support.samples import sampled

pytestmark = pytest.mark.live

POLL_S = 0.05

INTS = [0, -1, 1, 2**31, 2**62, 2**62 + 1, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 10**400]
TEXTS = [
    *(
        "",
        "A",
        "Projects",
        "1-1",
        "x" * 300,
        "x" * 1001,
        "\0",
        "a\nb",
        "\u2028",
        "\u0663",
        "\u00b2",
        "../../etc/passwd",
        "/",
    ),
    *(
        "..",
        "nan",
        "1e999",
        "-15 min",
        "26000000 d",
        "9" * 200,
        "A-1",
        "A-99999999999999999999",
        "version.applied",
        "all",
    ),
    *(
        "MAIL",
        "451",
        "tarpit",
        "0" * 32 + ":1",
        "every 1 h",
        "none",
        "@",
        "\u00e9@\u00fc.test",
        "\r\n.\r\n",
        "'; DROP TABLE item",
    ),
]
NESTED = [b"[" * 20_000, b'{"a":' * 20_000, b"\xff\xfe", b"{", b"null", b"NaN"]
MAILS = [b"", b"\0" * 100, b"Subject: x\r\n\r\ny\r\n", b"Subject: \xe2\x80\xa8\r\n\r\nx", b"a\nb\rc", b"--x\r\n" * 1000]

REQUESTS = 400
ANSWER_S = 30
MOVES = ("/lab/clock/advance", "/lab/clock/until", "/lab/clock/step")
"""Warps to a drawn instant could rightly take for ever."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with lab_up(tmp_path_factory.mktemp("lab")) as url:
        yield url


class Fuzzer:
    """Draws requests for the routes that the lab documents."""

    def __init__(self, document: dict[str, Any], seed: int) -> None:
        self._draw = random.Random(seed)
        self._schemas = document["components"]["schemas"]
        paths = {path: verbs for path, verbs in document["paths"].items() if path not in MOVES}
        self._routes = [(method.upper(), path, op) for path, ops in paths.items() for method, op in ops.items()]

    def request(self) -> tuple[str, str, bytes, dict[str, str]]:
        """Return a method, a path, a body and headers."""
        draw = self._draw
        method, path, operation = draw.choice(self._routes)
        query, headers = [], {}
        for each in operation.get("parameters", ()):
            name, value = each["name"], str(self._value(each["schema"]))
            if each["in"] == "path":
                value = draw.choice("AB") if name == "name" and draw.random() < 0.8 else value or "x"
                path = path.replace(f"{{{name}}}", quote(value, safe=""))
            elif each["in"] == "query":
                value = "Projects" if name == "folder" and draw.random() < 0.7 else value
                query.append(f"{name}={quote(value, safe='')}")
            elif draw.random() < 0.3:
                headers[name] = "".join(char for char in value if " " < char < "\x7f")[:200]
        content = operation.get("requestBody", {}).get("content", {})
        body, headers["Content-Type"] = b"", "message/rfc822"
        if "application/json" in content:
            value = json.dumps(self._value(content["application/json"]["schema"])).encode()
            body, headers["Content-Type"] = draw.choice([value] * 9 + [draw.choice(NESTED)]), "application/json"
        elif content:
            body = draw.choice(MAILS)
        return method, path + ("?" + "&".join(query) if query else ""), body, headers

    def _value(self, schema: dict[str, Any]) -> Any:
        draw = self._draw
        if draw.random() < 0.2:
            return draw.choice([None, True, 1.5, [], {}, draw.choice(INTS), draw.choice(TEXTS)])
        if "$ref" in schema:
            return self._value(self._schemas[schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self._value(draw.choice(schema["anyOf"]))
        if "enum" in schema or ("examples" in schema and draw.random() < 0.4):
            return draw.choice(schema.get("enum") or schema["examples"])
        kind = schema.get("type")
        if kind == "object":
            return {
                name: self._value(each) for name, each in schema.get("properties", {}).items() if draw.random() < 0.8
            }
        if kind == "array":
            return [self._value(schema.get("items", {})) for _ in range(draw.randrange(3))]
        return draw.choice(
            {"integer": INTS, "number": [*INTS, 1e-300], "boolean": [True, False]}.get(kind or "", TEXTS)
        )


@pytest.mark.parametrize("seed", sampled([1, 2], 2))
def test_no_request_is_an_internal_error(lab: str, seed: int) -> None:
    """Whatever a client sends to a documented route, it gets an answer, and a refusal has one line."""
    document = json.loads(asked(lab, "GET", "/openapi.json")[1])
    fuzzer = Fuzzer(document, seed)
    for _ in range(REQUESTS):
        sent = fuzzer.request()
        status, answer = asked(lab, *sent)
        assert status != 500, (sent, answer)
        if status >= 400:
            assert "\n" not in json.loads(answer)["detail"], (sent, answer)
        for name in "AB":  # so that most requests meet servers that run
            if "/lab/servers/" in sent[1]:
                asked(lab, "POST", f"/lab/servers/{name}/start")
    # A request may have ended the run; the lab then begins another, or goes back, and is ready soon.
    while (ready := asked(lab, "GET", "/readyz"))[0] != 200:
        assert json.loads(ready[1])["detail"] == "the lab is starting"
        time.sleep(POLL_S)


def asked(
    lab: str, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    connection = HTTPConnection(urlsplit(lab).netloc, timeout=ANSWER_S)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        is_stream = answer.headers.get_content_type() == "text/event-stream"
        return answer.status, b"" if is_stream else answer.read()
    finally:
        connection.close()
