"""Logging in to a lab that requires its token: from the form to the stream of events."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from pflab.runs.run_folder import RunFolder
from tests.support.coordinator_process import running_coordinator
from tests.support.lab_factory import TOKEN
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.topologies import TWO_STORES
from topology.file.load import topology_from_text

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a coordinated lab, which requires its token."""
    folder: Path = tmp_path_factory.mktemp("lab")
    (folder / "lab.yaml").write_text(TWO_STORES, "utf-8")
    organization = topology_from_text(TWO_STORES)
    with (
        ProcessSupervisor(organization, RunFolder.at(folder / "run"), token=TOKEN) as supervisor,
        running_coordinator(supervisor, folder) as url,
    ):
        yield url


def ask(connection: HTTPConnection, method: str, path: str, body: str = "", **headers: str) -> HTTPResponse:
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    return connection.getresponse()


def test_a_browser_logs_in_and_sees_the_lab(lab: str) -> None:
    """A browser without a token is led to the log-in page. With the cookie it gets the console, a node's data and the stream
    of events, and may change the lab from the lab's own page alone. The node's own process never sees the cookie."""
    connection = HTTPConnection(urlsplit(lab).netloc, timeout=30)
    try:
        first = ask(connection, "GET", "/", Accept="text/html")
        assert (first.read(), first.status, first.headers["Location"]) == (b"", 303, "/login")
        form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": lab}
        entered = ask(connection, "POST", "/login", urlencode({"token": TOKEN}), **form)
        cookie = entered.headers["Set-Cookie"].partition(";")[0]
        assert (entered.read(), entered.status, entered.headers["Location"]) == (b"", 303, "/")
        for path in ("/", "/console/main.js", "/lab", "/nodes/A/folders"):
            answer = ask(connection, "GET", path, Cookie=cookie)
            assert (answer.status, len(answer.read()) > 0) == (200, True)
        body = '{"folder": "Projects", "subject": "from the console"}'
        json = {"Content_Type": "application/json", "Cookie": cookie}
        posted = ask(connection, "POST", "/nodes/A/messages", body, Origin=lab, **json)
        assert (posted.status, len(posted.read()) > 0) == (201, True)
        foreign = ask(connection, "POST", "/nodes/A/messages", body, Origin="http://evil.test", **json)
        assert (foreign.status, len(foreign.read()) > 0) == (403, True)
        stream = ask(connection, "GET", "/lab/stream?after=0", Cookie=cookie, Accept="text/event-stream")
        assert (stream.status, stream.headers.get_content_type()) == (200, "text/event-stream")
        assert stream.readline() == b": pflab\n"
    finally:
        connection.close()
