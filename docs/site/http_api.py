"""The page of the HTTP API, from its OpenAPI document."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from node.api.docs_page import METHODS
from node.api.routing.openapi import MEANINGS
from pflab.drivers.live import LiveLab
from pflab.lessons.classroom import Classroom
from pflab.lessons.course import Lessons
from pflab.lessons.routes import extension_of
from pflab.room.app import api_of_class
from pflab.room.room import Room
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from topology.file.load import topology_from_text

HEAD = """# The HTTP API

Every request of a running lab. A lab itself shows this documentation at `/docs`, and the OpenAPI document at `/openapi.json`.
Instants are text in UTC, such as `2003-10-21T00:15:00Z`. The field `at` of an event, of an entry of the log and of a
kept mail (mailbox, bad mail) is in microseconds since 1970, as in [traces](events/index.md).
[The lab in containers](../how-to/containers.md#access-and-the-labs-token) says who may do what.
[Lessons for training](../how-to/lessons.md#lessons-over-http) has the requests of lessons.
"""


ERRORS = """
## Errors

An error is `application/problem+json` (RFC 9457). Its field `detail` says in one line what is wrong and what would be right;
`type` names the kind of error for programs. The OpenAPI document lists the statuses of each request.

| status | meaning |
|---|---|
"""


def render() -> str:
    """Return the page."""
    document = openapi()
    errors = "".join(f"| {status:d} {HTTPStatus(status).phrase} | {told} |\n" for status, told in MEANINGS.items())
    by_tag: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                told = "".join(_operation(method, path, methods[method]))
                by_tag.setdefault((methods[method].get("tags") or ["more"])[0], []).append(told)
    return HEAD + ERRORS + errors + "".join(f"\n## {tag.capitalize()}\n{''.join(told)}" for tag, told in by_tag.items())


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document of a lab, with the requests of a class."""
    room = Room(Classroom(lambda: Lessons({})))
    of_class = api_of_class(room, extension_of(room.classroom)).openapi()
    with tempfile.TemporaryDirectory() as folder:
        lab = LiveLab(topology_from_text("servers: {A: }\n"), folder=RunFolder.at(Path(folder)))
        document = app_of_live_lab(lambda: lab).openapi()
    paths = {path: methods for path, methods in of_class["paths"].items() if path.startswith("/room")}
    return {**document, "paths": {**document["paths"], **paths}}


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n### {method.upper()} {path}\n\n"
    yield _text(operation.get("description", operation.get("summary", ""))) + "\n\n"
    rows = [_parameter(each) for each in operation.get("parameters", ())]
    if rows:
        yield f"| parameter | in | meaning |\n|---|---|---|\n{''.join(rows)}\n"
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        limit = operation["requestBody"]["description"].rstrip(".").replace("At", "at")
        yield f"Request body, `{kind}`, {limit}"
        yield f":\n\n{_shown(content['example'])}" if "example" in content else ".\n\n"
    for status, answer in operation.get("responses", {}).items():
        if status.startswith("2"):
            yield f"Answer {status} {HTTPStatus(int(status)).phrase}"
            examples = [_shown(each["example"]) for each in answer.get("content", {}).values() if "example" in each]
            yield f":\n\n{''.join(examples)}" if examples else ".\n\n"
            if "links" in answer:
                told = ", ".join(f"`{each['description']}`" for each in answer["links"].values())
                yield f"Requests that continue from it: {told}.\n\n"


def _parameter(each: Mapping[str, Any]) -> str:
    where = each["in"] if each.get("required") else f"{each['in']}, optional"
    return f"| `{each['name']}` | {where} | {_text(each.get('description', ''))} |\n"


def _text(text: str) -> str:
    return " ".join(text.split()).replace("|", "&#124;").replace("<", "&lt;")


def _shown(example: Any) -> str:
    if isinstance(example, str):
        return f"```\n{example.rstrip()}\n```\n\n"
    return f"```json\n{json.dumps(example, indent=2, ensure_ascii=False)}\n```\n\n"
