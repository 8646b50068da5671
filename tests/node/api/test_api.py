"""The HTTP API of a node, used over a socket: one process, with a paused clock."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from socket import create_connection
from typing import Any

import pytest

from node.process.main import _parser
from pflab.client import Client, ClientError
from pflab.drivers.launch import node_environment, node_order

pytestmark = pytest.mark.live

ONE = """
servers: {A: }
folders:
  Projects: {replicas: [A]}
  Projects/Archive: {replicas: [A]}
"""
READY_S = 60


@dataclass(frozen=True)
class Process:
    """A node's process, and where it listens."""

    url: str
    popen: subprocess.Popen[bytes]
    ready: dict[str, Any]

    def raw(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, Any]]:
        connection = HTTPConnection(*self.ready["http"], timeout=READY_S)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


def start(folder: Path, *more: str) -> Process:
    (folder / "topology.yaml").write_text(ONE, "utf-8")
    (folder / "secret").write_text("a secret of the tests\n", "utf-8")
    order = node_order(
        "A",
        *("--topology", str(folder / "topology.yaml"), "--lab-secret-file", str(folder / "secret")),
        *("--data", str(folder / "data"), "--rate", "0", "--leashed", *more),
    )
    popen = subprocess.Popen(order, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=node_environment())
    assert popen.stdout is not None
    ready = json.loads(popen.stdout.readline())
    return Process(f"http://{ready['http'][0]}:{ready['http'][1]}", popen, ready)


def ended(process: Process) -> int:
    process.popen.terminate()
    try:
        return process.popen.wait(READY_S)
    finally:
        process.popen.kill()  # of one that has ended already nothing comes of it
        process.popen.wait()
        for pipe in (process.popen.stdin, process.popen.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    found = start(tmp_path_factory.mktemp("node"))
    yield found
    assert ended(found) == 0


@pytest.fixture
def client(process: Process) -> Iterator[Client]:
    with Client(process.url) as found:
        yield found


def refused(client: Client, method: str, path: str, body: Any = None) -> ClientError:
    with pytest.raises(ClientError) as caught:
        client.json(method, path, body)
    assert "\n" not in caught.value.detail
    return caught.value


# --- users


def test_a_message_is_posted_read_edited_and_deleted(client: Client) -> None:
    """A message is posted, listed, read, changed and deleted through the API."""
    made = client.post("A", "Projects/Archive", subject="Hello", body="from A", sender="kim@contoso.test")["id"]
    assert client.messages("A", "Projects/Archive")[-1]["id"] == made
    assert client.body("A", "Projects/Archive", made) == "from A"
    client.edit("A", "Projects/Archive", made, subject="Hello again")
    assert client.messages("A", "Projects/Archive")[-1]["subject"] == "Hello again"
    client.delete("A", "Projects/Archive", made)
    assert made not in [each["id"] for each in client.messages("A", "Projects/Archive")]


def test_an_attachment_is_a_file_to_save_and_never_a_page(client: Client) -> None:
    """An attached file comes back byte for byte, as a download that a browser does not show. Others are refused."""
    files = [("a", b"one"), ("b", b"<script>")]
    made = client.post("A", "Projects/Archive", subject="Files", attachments=files)["id"]
    path = f"/nodes/A/messages/{made}/attachments"
    found = client.ask("GET", f"{path}/2?folder=Projects/Archive")
    assert client.read(found) == b"<script>"
    assert found.headers["Content-Disposition"] == "attachment"
    assert found.headers["Content-Type"] == "application/octet-stream"
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    with pytest.raises(ClientError, match=r"has 2 attachments; not place 3"):
        client.content("GET", f"{path}/3?folder=Projects/Archive")
    client.delete("A", "Projects/Archive", made)


def test_the_versions_of_a_message_are_found_by_any_of_its_numbers(client: Client) -> None:
    """CN-7: the versions of a message are found by the number of a present or an earlier change, and by the message's id."""
    files = [{"name": "plan.txt", "content": "AA\r\nEC\r\n"}]
    message = {"subject": "Plan", "body": "first", "sender": "kim@contoso.test", "attachments": files}
    batch = client.post_batch("A", "Projects/Archive", [message])
    (made,), (posted,) = batch["ids"], batch["numbers"]
    edited = client.edit("A", "Projects/Archive", made, body="second")
    for name in (posted, edited["number"], made):
        (version,) = client.versions("A", name)
        assert (version["folder"], version["message"], version["store"]) == ("Projects/Archive", made, "A")
        assert (version["number"], version["change"]) == (edited["number"], edited["change"])
        assert (version["subject"], version["body"], version["shown"]) == ("Plan", "second", True)
        assert (version["attachments"], version["includes"]) == ([["plan.txt", 3]], [edited["number"]])
        assert any(line.startswith("PR_SUBJECT") and "Plan" in line for line in version["properties"])
    deleted = client.delete("A", "Projects/Archive", made)
    for name, status, why in (
        (posted, 404, f"message {posted} was deleted on A"),
        (deleted["number"], 404, "was deleted on A"),
        ("A-9999", 404, "no message on A has the change A-9999"),
        ("Z-1", 404, "no message on A has the change Z-1"),
        ("Plan", 422, "'Plan' is not a message; write one of its change numbers, such as A-4"),
    ):
        error = refused(client, "GET", f"/nodes/A/versions?message={name}")
        assert error.status == status
        assert why in error.detail
        assert "arrived" not in error.detail  # nothing of A's own, or of an unknown store, is still to arrive


def test_a_mail_is_sent_from_a_folder(client: Client) -> None:
    """ML-5: a folder sends a mail to a person, once under its key; a folder's mail without a recipient is refused."""
    before = len(client.mailbox("A"))
    what: dict[str, Any] = {"to": ["kim@contoso.test"], "subject": "News", "body": "all"}
    sent = client.send_mail("A", "Projects", **what, key="letter")["message_id"]
    assert client.send_mail("A", "Projects", **what, key="letter")["message_id"] == sent
    (mail,) = client.mailbox("A")[before:]
    assert (mail["sender"], mail["recipient"], mail["subject"]) == ("Projects@contoso.test", "kim@contoso.test", "News")
    body = {"folder": "Projects", "to": ["nobody"], "subject": "x"}
    assert "not a mail address: nobody" in refused(client, "POST", "/nodes/A/messages/send", body).detail
    body["to"] = []
    assert refused(client, "POST", "/nodes/A/messages/send", body).status == 422


def test_a_batch_is_posted_whole(client: Client) -> None:
    """A batch is one change: its ids are in order, and its attachments are base64, in lines or not."""
    files = [{"name": "a.bin", "content": "AA\r\nEC\r\n"}]
    made = client.post_batch("A", "Projects", [{"subject": "1"}, {"subject": "2", "attachments": files}])["ids"]
    found = {each["id"]: each["subject"] for each in client.messages("A", "Projects")}
    assert [found[each] for each in made] == ["1", "2"]


def test_a_raw_mail_is_posted_and_exported_unchanged(client: Client) -> None:
    """ML-5: a raw mail is posted once under its key and comes back byte for byte; one over a limit is refused."""
    mail = b"From: kim@contoso.test\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n\n\xff\x00 as it is\r\nno end"
    made = client.post_mail("A", "Projects/Archive", mail, key="mail-1")["id"]
    assert client.post_mail("A", "Projects/Archive", mail, key="mail-1")["id"] == made
    assert client.mail("A", "Projects/Archive", made) == mail
    assert [each["subject"] for each in client.messages("A", "Projects/Archive") if each["id"] == made] == ["Grüße"]
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(50))
    with pytest.raises(ClientError) as caught:
        client.post_mail("A", "Projects/Archive", deep)
    assert (caught.value.status, caught.value.kind) == (422, "Misuse")


def test_a_folder_has_an_address(client: Client) -> None:
    """ML-5: a folder's alias is the local part of its mail address, and can be changed."""
    client.create_folder("A", "Addressed", replicas=["A"], alias="first")
    client.change_folder("A", "Addressed", alias="second")
    (found,) = [each for each in client.folders("A") if each["path"] == "Addressed"]
    assert found["address"].startswith("second@")
    client.delete_folder("A", "Addressed")


def test_a_key_makes_a_change_once(client: Client) -> None:
    """Under one Idempotency-Key a post happens once; the same key for something else is 422."""
    first = client.post("A", "Projects", subject="Once", key="k-1")["id"]
    assert client.post("A", "Projects", subject="Once", key="k-1")["id"] == first
    with pytest.raises(ClientError) as caught:
        client.post("A", "Projects", subject="Twice", key="k-1")
    assert (caught.value.status, caught.value.kind) == (422, "KeyReused")


def test_a_folder_is_created_renamed_and_deleted(client: Client) -> None:
    """A folder is created, renamed and deleted through the API, also with slashes in its path."""
    client.create_folder("A", "Projects/2003", replicas=["A"], schedule="every 1 h")
    client.change_folder("A", "Projects/2003", rename="2004")
    assert "Projects/2004" in [each["path"] for each in client.folders("A")]
    client.delete_folder("A", "Projects/2004")
    assert "Projects/2004" not in [each["path"] for each in client.folders("A")]


def test_settings_are_shown_and_changed(client: Client) -> None:
    """A setting with a value is shown beside its default."""
    client.configure("A", {"Replication Message Size Limit": 100})
    assert "Replication Message Size Limit" in client.settings("A")["settings"]


def test_a_setting_out_of_its_range_is_clamped_and_reported(client: Client) -> None:
    """SE-1: the answer names the value in use; a value in range needs no notice."""
    told = client.configure("A", {"Replication Message Size Limit": 0, "MTA Hop Limit": 1000, "SMTP Chunking": 1})[
        "notices"
    ]
    assert told == [
        "Replication Message Size Limit: 0 B is below its range; 1 KB is used",
        "MTA Hop Limit: 1000 is above its range; 255 is used",
    ]
    assert client.settings("A")["settings"]["MTA Hop Limit"] == "255"


def test_the_details_of_a_setting_say_what_applies_when(client: Client) -> None:
    """SE-1: a registry value applies from the next start on, a value in the directory at once; the details show both."""
    client.configure("A", {"Replication Send Status Timeout": "12 h", "Replication Always Interval": "30 min"})
    found = {each["name"]: each for each in client.setting_details("A")}
    assert set(found) == set(client.settings("A")["settings"])
    registry, directory = found["Replication Send Status Timeout"], found["Replication Always Interval"]
    assert (registry["value"], registry["next_value"], registry["default"]) == ("24 h", "12 h", "24 h")
    assert "MSExchangeIS" in registry["place"]
    assert "<" not in registry["place"]
    assert (directory["value"], directory["next_value"]) == ("30 min", None)
    assert registry["effective"]
    assert not found["Service Pack"]["effective"]


def test_the_page_of_documentation_needs_no_other_server(client: Client) -> None:
    """/docs works without a network: the page shows every path, and a browser loads nothing from elsewhere."""
    page = client.text("GET", "/docs")
    document = client.json("GET", "/openapi.json")
    assert all(f"<code>{path}</code>" in page for path in document["paths"])
    assert "Hello" in page
    assert page.count("<details>") == sum(len(methods) for methods in document["paths"].values())
    assert re.findall(r"(?:src|href)=.([^'\">]*)", page) == ["/openapi.json"]
    assert "<script" not in page and "@import" not in page and "url(" not in page


# --- what is refused


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "kind"),
    [
        ("GET", "/nodes/X/folders", None, 404, "ServerUnknown"),
        ("GET", "/nodes/A/messages?folder=Nowhere", None, 404, "FolderUnknown"),
        ("POST", "/nodes/A/messages", {"folder": "Nowhere", "subject": "x"}, 404, "FolderUnknown"),
        ("POST", "/nodes/A/messages", {"folder": "Projects"}, 422, "Wrong"),
        ("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "x", "colour": "red"}, 422, "Wrong"),
        ("POST", "/nodes/A/folders", {"path": "Projects"}, 409, "FolderExists"),
        ("PATCH", "/nodes/A/settings", {"No Such Setting": 1}, 422, "Misuse"),
        ("PATCH", "/nodes/A/settings", {"MTA Hop Limit": -1}, 422, "Misuse"),
        ("PATCH", "/nodes/A/settings", {"MTA Hop Limit": 10**400}, 422, "Misuse"),
        ("PATCH", "/nodes/A/settings", {"Replication Message Size Limit": 10**4000}, 422, "Misuse"),
        ("DELETE", "/nodes/A/messages/00:1?folder=Projects", None, 422, "Misuse"),
        ("GET", "/nothing", None, 404, "Http"),
        ("PUT", "/nodes/A/messages", None, 405, "Http"),
    ],
)
def test_a_refusal_is_one_line(client: Client, method: str, path: str, body: Any, status: int, kind: str) -> None:
    """A refused request gets one line, the right status, and a kind that programs can check."""
    error = refused(client, method, path, body)
    assert (error.status, error.kind) == (status, kind)


@pytest.mark.parametrize(
    ("method", "path", "body", "detail"),
    [
        ("POST", "messages", {"folder": "Projects"}, "subject: missing; this field must be given"),
        ("POST", "messages", {"folder": 7, "subject": "x"}, 'folder: "7" is not a text; write a text in quotes'),
        (
            "POST",
            "messages",
            {"folder": "Projects", "subject": "x" * 1001},
            "subject: too long; at most 1000 characters",
        ),
        (
            *("POST", "messages", {"folder": "Projects", "subject": "x", "colour": "red"}),
            "colour: there is no such field; the fields are folder, subject, body, sender, attachments, associated",
        ),
        (
            *("POST", "messages/batch", {"folder": "Projects", "messages": [{"subject": "x"}, {"sujbect": "x"}]}),
            "messages.1.subject: missing; this field must be given; messages.1.sujbect: there is no such field; "
            'did you mean "subject"?',
        ),
        (
            *("POST", "folders", {"path": "New", "priority": "high"}),
            "priority: \"high\" is not known here; write 'not urgent', 'normal' or 'urgent'",
        ),
        ("POST", "messages/batch", {"folder": "Projects", "messages": []}, "messages: too few entries; at least 1"),
        ("POST", "messages", [1], 'body: "[1]" is not an object; send JSON, with Content-Type: application/json'),
        (
            *("POST", "messages", {"folder": "Projects", "subject": "x", "associated": 1}),
            'associated: "1" is not true or false; write one of them',
        ),
        (
            *(
                "POST",
                "messages",
                {"folder": "Projects", "subject": "x", "attachments": [{"name": "x", "content": "A C"}]},
            ),
            "attachments.0.content: not base64; write the bytes of the file in base64",
        ),
        ("GET", "events?after=-1", None, 'after: "-1" is too small; at least 0'),
        ("GET", "events?after=x", None, 'after: "x" is not a whole number; write digits'),
        ("GET", f"log?event={2**63}", None, f'event: "{2**63}" is too large; at most {2**53 - 1}'),
        ("GET", f"mailbox/{'9' * 30}", None, f'notice: "{"9" * 30}" is too large; at most {2**53 - 1}'),
        (
            *("POST", "clock/set", {"at": 0, "rate": 1e-300}),
            "rate: 1e-300 is not a rate of the clock; it is 0 (paused), or from 0.000001 to 1000000 lab seconds per second",
        ),
    ],
)
def test_a_mistake_says_where_it_is_and_what_would_be_right(
    client: Client, method: str, path: str, body: Any, detail: str
) -> None:
    """A request with a wrong field gets one plain line, not the words of a library."""
    error = refused(client, method, f"/nodes/A/{path}", body)
    assert (error.status, error.kind, error.detail) == (422, "Wrong", detail)


def test_the_hierarchy_has_no_messages(client: Client) -> None:
    """1-1 names the hierarchy in every read of a folder. Its items are folders, so it has no messages."""
    assert client.messages("A", "1-1") == []
    assert client.json("GET", "/nodes/A/messages/count?folder=1-1") == {"count": 0}
    for read in ("body", "mail", "attachments/1"):
        error = refused(client, "GET", f"/nodes/A/messages/{'0' * 31}a:17/{read}?folder=1-1", None)
        assert error.kind == "MessageUnknown"


def test_json_has_one_type_of_numbers(client: Client) -> None:
    """7.0 is a whole number in JSON, so it is one in a request."""
    error = refused(client, "POST", "/nodes/A/send", {"folder": "Nowhere", "days": 7.0})
    assert error.kind == "FolderUnknown"


def test_another_method_gets_those_that_the_path_supports(process: Process) -> None:
    """405 has the header Allow with all methods of the path (RFC 9110, section 15.5.6)."""
    connection = HTTPConnection(*process.ready["http"])
    for path, methods in (
        ("/livez", "GET"),
        ("/nodes/A/messages", "GET, POST"),
        ("/nodes/A/folders/x", "PATCH, DELETE"),
    ):
        connection.request("PUT", path)
        with connection.getresponse() as answer:
            assert (answer.status, answer.headers["Allow"]) == (405, methods)
            answer.read()
    connection.close()


def test_a_foreign_host_name_or_origin_is_refused(process: Process) -> None:
    """On loopback without a token, a request for a foreign host name or from another origin is refused."""
    assert process.raw("GET", "/nodes/A/folders", Host="evil.test")[0] == 403
    assert process.raw("GET", "/nodes/A/folders", Origin="http://evil.test")[0] == 403
    host = "{}:{}".format(*process.ready["http"])
    connection = HTTPConnection(*process.ready["http"])
    connection.request("GET", "/nodes/A/folders", headers={"Origin": f"http://{host}"})
    with connection.getresponse() as answer:
        assert answer.status == 200
    connection.close()


def test_a_body_of_another_type_is_refused(process: Process) -> None:
    """A body that is not declared as JSON gets 415, such as the one of curl without a header."""
    body = b'{"folder": "Projects", "subject": "x"}'
    for kind, status in (("application/x-www-form-urlencoded", 415), ("text/plain", 415), ("application/json", 201)):
        assert process.raw("POST", "/nodes/A/messages", body, Content_Type=kind)[0] == status


def test_an_error_has_the_same_title_in_each_version_of_python(process: Process) -> None:
    """The title is the name that RFC 9110 gives to the status. Python before 3.13 has an older name."""
    answer = process.raw("POST", "/nodes/A/messages", b"{}", Content_Type="application/json")[1]
    assert answer["title"] == "Unprocessable Content"


def test_what_is_not_http_gets_a_problem_too(process: Process) -> None:
    """A head over its limit, and bytes that are no request, get 400 in the form of all errors. A long Last-Event-ID is none."""
    assert process.raw("GET", "/nodes/A/folders", Last_Event_Id="x" * 20_000)[0] == 200
    status, answer = process.raw("GET", "/nodes/A/folders", Last_Event_Id="x" * 400_000)
    assert (status, answer["type"]) == (400, "urn:pflab:Http")
    with create_connection(process.ready["http"]) as line:
        line.sendall(b"nonsense\r\n\r\n")
        assert line.makefile("rb").read().startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_a_body_has_a_limit(process: Process) -> None:
    """A body over its limit gets 413, with or without a Content-Length."""
    large = b" " * (1024 * 1024 + 1)
    assert process.raw("POST", "/nodes/A/folders", large, Content_Type="application/json")[0] == 413
    connection = HTTPConnection(*process.ready["http"])
    connection.request(
        "POST", "/nodes/A/folders", iter([large]), {"Content-Type": "application/json"}, encode_chunked=True
    )
    with connection.getresponse() as answer:
        assert answer.status == 413
    connection.close()


# --- what is shown


def test_state_and_digests_are_shown(client: Client) -> None:
    """The API shows the replication state table, the backfill array, queues and digests."""
    assert client.state("A", "Projects")["rows"][0]["store"] == "A"
    assert [each["path"] for each in client.states("A")] == ["1-1", "Projects", "Projects/Archive"]
    assert client.backfill("A") == client.queue("A") == []
    before = client.digests("A")
    assert before.keys() == {"1-1", "Projects", "Projects/Archive"}
    client.post("A", "Projects", subject="Another")
    after = client.digests("A")
    assert before["Projects"] != after["Projects"]
    assert before["Projects/Archive"] == after["Projects/Archive"]


def test_events_are_read_in_pages_and_as_a_stream(client: Client) -> None:
    """A page of events has one line each after a given number; a stream continues after the last event that
    the client names."""
    told = list(client.events("A"))
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))
    client.post("A", "Projects", subject="Streamed")
    with closing(client.events("A", follow=True, after=len(told))) as stream:
        event = next(iter(stream))
    assert (event["seq"], event["type"]) == (len(told) + 1, "change.made")
    with client.ask("GET", "/nodes/A/stream", headers={"Last-Event-ID": "1"}) as answer:
        while not (line := answer.readline()).startswith(b"id: "):
            pass
    assert line == b"id: 2\n"
    client.close()


def test_everything_is_documented(client: Client) -> None:
    """The OpenAPI document has every path, and an example of every body."""
    document = client.json("GET", "/openapi.json")
    assert {"/nodes/{name}/messages", "/nodes/{name}/state", "/stream", "/livez", "/readyz", "/metrics"} <= set(
        document["paths"]
    )
    assert "HTTPValidationError" not in document["components"]["schemas"]  # errors have one form
    answers = document["paths"]["/nodes/{name}/messages"]["post"]["responses"]
    statuses = "201 400 401 403 404 409 413 415 422 429 500 502 503 507"
    assert " ".join(answers) == statuses
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation.get("description"), f"{method} {path} has no words"
            for kind, mail in operation.get("requestBody", {}).get("content", {}).items():
                schema = mail.get("schema", {})
                assert "example" in mail or {"example", "examples", "$ref"} & schema.keys(), f"{method} {path}: {kind}"


def test_health_and_metrics(client: Client) -> None:
    """A running process reports that it lives and is ready, and shows its metrics as Prometheus text."""
    assert client.json("GET", "/livez") == {"status": "alive"}
    assert client.json("GET", "/readyz") == {"status": "ready"}
    metrics = client.text("GET", "/metrics")
    assert 'pflab_up{server="A"} 1' in metrics
    assert "# TYPE pflab_queue_mails gauge" in metrics
    assert "# TYPE pflab_sent_bytes_total counter" in metrics


# --- life


@pytest.mark.long
def test_an_acknowledged_post_survives_sigkill(tmp_path: Path) -> None:
    """A store that gets SIGKILL right after its answer still has the post and its key when it comes back."""
    process = start(tmp_path)
    with Client(process.url) as client:
        made = client.post("A", "Projects", subject="Kept", key="k")["id"]
    process.popen.kill()
    ended(process)
    process = start(tmp_path)
    with Client(process.url) as client:
        assert client.post("A", "Projects", subject="Kept", key="k")["id"] == made
        assert [each["subject"] for each in client.messages("A", "Projects")] == ["Kept"]
        assert [each["seq"] for each in client.events("A")] == list(range(1, len(list(client.events("A"))) + 1))
    assert ended(process) == 0
    assert list((tmp_path / "data" / "traces").glob("A-2-*.jsonl"))


def test_a_token_is_required_if_one_is_set(tmp_path: Path) -> None:
    """With a token set, every request except health must carry it."""
    (tmp_path / "token").write_text("open sesame\n", "utf-8")
    process = start(tmp_path, "--token-file", str(tmp_path / "token"))
    with Client(process.url) as client:
        assert client.json("GET", "/livez") == {"status": "alive"}
        assert refused(client, "GET", "/nodes/A/folders").status == 401
    with Client(process.url, token="open sesame") as client:
        assert client.folders("A")
    assert ended(process) == 0


def test_listening_beyond_loopback_requires_a_token(tmp_path: Path) -> None:
    """A node that listens beyond loopback without a token refuses to start, and says what to do."""
    (tmp_path / "topology.yaml").write_text(ONE, "utf-8")
    (tmp_path / "secret").write_text("a secret\n", "utf-8")
    order = node_order(
        "A",
        *("--topology", str(tmp_path / "topology.yaml"), "--lab-secret-file", str(tmp_path / "secret")),
        *("--data", str(tmp_path / "data"), "--http-host", "0.0.0.0"),
    )
    ended = subprocess.run(order, capture_output=True, env=node_environment(), check=False, timeout=READY_S)
    assert ended.returncode == 2
    assert b"token" in ended.stderr


FOREIGN = {"pflab", "analytics", "typer", "rich", "networkx", "jinja2", "pyspark", "hypothesis", "fastapi"}
"""Packages that a store does not need: the lab and its libraries."""

RARE = {"difflib", "cryptography.x509", "email_validator", "uvloop", "watchfiles", "websockets"}
"""Modules that few runs need; they are imported where they are used."""


def test_a_node_does_not_import_large_libraries(tmp_path: Path) -> None:
    """A node's process imports no networkx, Typer or Rich, nothing of pflab, and no rarely used module."""
    code = (
        (
            "import sys; from node.__main__ import imported; imported(); "
            f"print(sorted({sorted(FOREIGN | RARE)} & sys.modules.keys()))"
        )
        .replace("sorted([", "sorted({")
        .replace("] &", "} &")
    )
    order = [*node_order()[:2], "-c", code]
    ended = subprocess.run(order, capture_output=True, env=node_environment(), check=True, cwd=tmp_path)
    assert ended.stdout.strip() == b"[]"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--smtp-port", "70000"], "'70000' is not a port"),
        (["--http-port", "-1"], "'-1' is not a port"),
        (["--smtp-port", "9" * 5000], "is not a port"),
        (["--peer", "B=b.lab:70000"], "'70000' is not a port"),
        (["--peer", "B=b.lab:\u00b2"], "is not a port"),
        (["--peer", "B"], "is not a peer"),
        (["--rate", "1e-300"], "is not a rate of the clock"),
        (["--rate", "nan"], "is not a rate of the clock"),
        (["--rate", "x"], "invalid _rate value"),
    ],
)
def test_an_option_out_of_range_is_refused(
    options: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """pflab node refuses ports and rates that do not exist, before it opens anything."""
    with pytest.raises(SystemExit) as ended:
        _parser().parse_args(["A", "--data", "d", "--lab-secret-file", "s", *options])
    assert ended.value.code == 2
    assert expected in capsys.readouterr().err
