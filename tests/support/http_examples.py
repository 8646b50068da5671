"""The example of docs/how-to/containers.md, as requests and expected answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_BLOCK = re.compile(r"^```(http|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(slots=True)
class Exchange:
    """A request of the page, and the fields of its answer that the page shows."""

    method: str
    path: str
    headers: dict[str, str]
    body: str
    answer: dict[str, Any]


def example(page: Path) -> list[Exchange]:
    """Parse the page: a block `http` is a request with headers and a JSON body, a block `json` is its answer."""
    found: list[Exchange] = []
    for kind, text in _BLOCK.findall(page.read_text("utf-8")):
        if kind == "json":
            found[-1].answer = json.loads(text)
            continue
        first, *lines = text.splitlines()
        method, path = first.split(" ")
        headers = dict(line.split(": ", 1) for line in lines if not line.startswith("{"))
        body = "".join(line for line in lines if line.startswith("{"))
        found.append(Exchange(method, path, headers, body, {}))
    return found


def played(page: Path, url: str) -> Iterator[tuple[Exchange, int, Any]]:
    """Send each request of the example to a lab, and yield it with the status and the answer."""
    line = HTTPConnection(urlsplit(url).netloc, timeout=120)
    try:
        for each in example(page):
            headers = {"Content-Type": "application/json", **each.headers}
            line.request(each.method, each.path, each.body or None, headers)
            answer = line.getresponse()
            text = answer.read()
            yield each, answer.status, json.loads(text) if text else None
    finally:
        line.close()


def play(page: Path, url: str) -> int:
    """Return how many requests got the answer of the page. Raise AssertionError at the first that did not."""
    number = 0
    for each, status, answer in played(page, url):
        assert status < 300, (each, status, answer)
        assert each.answer.items() <= (answer or {}).items(), (each, answer)
        number += 1
    return number
