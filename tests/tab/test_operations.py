"""Each operation of a lab's HTTP API is there in a tab, and answers as `pflab up --simulated` does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from tests.support.lab_site import built_lab, can_be_built
from tests.support.node_lab import NodeLab
from tests.support.running_lab import lab_up
from tests.tab.operations import ABSENT, FAULTS, STREAMS, Answer, Ask, play

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("site"), can_be_built]

OF_THIS_MACHINE = {"GET /metrics", "GET /lab/file", "GET /lab/replay"}
"""The operations whose answers depend on the process, or have the name of the run in what they compress."""


@contextmanager
def server(folder: Path) -> Iterator[Ask]:
    """Run the lab of a tab as a server does."""

    def ask(method: str, target: str, body: object) -> tuple[int, str]:
        kind = "message/rfc822" if isinstance(body, str) else "application/json"
        content = body if isinstance(body, str) or body is None else json.dumps(body)
        line.request(method, quote(target, safe="/?=&@%:"), content and content.encode(), {"Content-Type": kind})
        answer = line.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")

    with (
        lab_up(folder, "default", "--simulated", topology=None) as url,
        closing(HTTPConnection(urlsplit(url).netloc, timeout=120)) as line,
    ):
        yield ask


def played(ask: Ask) -> Iterator[Answer]:
    """Play, and yield the answers without what is the name of a run, a folder or a lesson."""
    names: dict[str, str] = {}
    for answer in play(ask):
        if answer.operation == "GET /lab":
            lab = json.loads(answer.body)
            names |= {lab["folder"]: "FOLDER", lab["run"]: "RUN", lab["run"].rpartition("/")[2]: "RUN"}
        if answer.operation == "POST /lessons":
            names[json.loads(answer.body)["id"]] = "LESSON"
        target, body = answer.target, answer.body
        for name, word in names.items():
            target, body = target.replace(name, word), body.replace(name, word)
        yield answer._replace(target=target, body=body)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Answer], list[Answer]]:
    """The answers of a tab's files in Node.js, and those of a server."""
    with closing(NodeLab(built_lab(tmp_path_factory))) as lab:
        tab = [*played(lab.answer)]
    with server(tmp_path_factory.mktemp("lab")) as ask:
        return tab, [*played(ask)]


def test_each_operation_is_played(tmp_path: Path) -> None:
    """The play has every operation of the OpenAPI document, except streams, and a fault of each kind."""
    with server(tmp_path) as ask:
        paths = json.loads(ask("GET", "/openapi.json", None)[1])["paths"]
        kinds = json.loads(ask("GET", "/lab/faults/kinds", None)[1])
        operations = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
        assert {answer.operation for answer in play(ask)} == operations - STREAMS
    assert {fault["kind"] for fault in FAULTS} == kinds.keys()


def test_a_tab_answers_as_a_server_does(answers: tuple[list[Answer], list[Answer]]) -> None:
    """Status and body of each answer are equal, down to ids, times and mails."""
    tab, native = answers
    assert [(answer.target, answer.status) for answer in tab] == [(answer.target, answer.status) for answer in native]
    differing = [
        (ours.target, ours.body[:2000], theirs.body[:2000])
        for ours, theirs in zip(tab, native, strict=True)
        if ours.body != theirs.body and ours.operation not in OF_THIS_MACHINE
    ]
    assert differing == []


def test_what_is_absent_says_why(answers: tuple[list[Answer], list[Answer]]) -> None:
    """A tab refuses only the operations that need other labs, each with its reason, and a wrong request."""
    tab, _ = answers
    refused = {answer.operation: answer for answer in tab if answer.status >= HTTPStatus.BAD_REQUEST}
    assert refused.pop("POST /nodes/{name}/messages").status == HTTPStatus.UNPROCESSABLE_ENTITY
    assert {operation: json.loads(answer.body)["detail"] for operation, answer in refused.items()} == ABSENT
