"""pflab import, export, send, mailbox, queue and log on a running lab."""

from __future__ import annotations

import asyncio
import json
import shlex
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.cli.verbs import load
from pflab.cli.verbs.messages import mail
from pflab.client import Client
from pflab.terms.verdict import ExitCode
from pflab.workload.mail_files import MailFile
from pflab.workload.mail_transfer import Imported, Interrupted, import_mails, poster_for_client
from pflab.workload.mbox import mbox_of, split_mbox
from tests.support.clock import START_AT
from tests.support.real_world_mails import HAND_MADE
from tests.support.running_lab import lab_up

pytestmark = pytest.mark.live

MAILS = [mail + b"\n" for mail in HAND_MADE.values() if mail.strip()]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with lab_up(tmp_path_factory.mktemp("lab")) as url:
        yield url


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def asked(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    assert run([*args, "--json"]) == ExitCode.GOOD
    return json.loads(capsys.readouterr().out)


def test_imported_mails_are_exported_from_another_store(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """ML-5: an mbox imported at one store is exported from another byte for byte. A second import posts nothing new; a mail
    that is twice in the file is posted twice."""
    sent = [*MAILS, MAILS[0]]
    with Client(lab) as client:
        client.create_folder("A", "Letters", replicas=["A", "B"])
    Path("in.mbox").write_bytes(b"".join(mbox_of(("kim@x.test", START_AT, mail) for mail in sent)))
    done = asked(capsys, "import", "Letters", "in.mbox", "--node", "A", "--lab", lab)
    assert (done["imported"], done["refused"], done["node"]) == (len(sent), 0, "A")
    again = asked(capsys, "import", "Letters", "in.mbox", "--lab", lab)
    assert (again["ids"], again["known"], done["known"]) == (done["ids"], len(sent), 0)
    assert run(["import", "Letters", "in.mbox", "--lab", lab]) == ExitCode.GOOD
    expected = f"0 mails posted into Letters at A, {len(sent)} already there from an earlier import, 0 refused"
    assert capsys.readouterr().out.splitlines()[-1] == expected
    with Client(lab) as client:
        assert client.until_converged("Letters", "2 h")["held"]
        assert len(client.messages("B", "Letters")) == len(sent)
    assert run(["export", "Letters", "--node", "B", "-o", "out.mbox", "--lab", lab]) == ExitCode.GOOD
    assert sorted(split_mbox(Path("out.mbox").read_bytes())) == sorted(sent)
    capsys.readouterr()
    more = asked(capsys, "import", "Letters", "in.mbox", "--node", "A", "--again", "--lab", lab)
    assert not set(more["ids"]) & set(done["ids"])


def test_without_a_node_the_import_uses_the_first_holder(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that only B holds is filled at B; an unknown folder is refused with the most similar name."""
    Path("one.eml").write_bytes(b"Subject: x\n\n")
    assert asked(capsys, "import", "News", "one.eml", "--lab", lab)["node"] == "B"
    assert run(["import", "New", "one.eml", "--lab", lab]) == ExitCode.UNKNOWN
    assert "News" in capsys.readouterr().err
    assert run(["import", "News", "one.eml", "--lab", lab, "--topology", "t.yaml"]) == ExitCode.UNKNOWN
    assert "give only one" in capsys.readouterr().err


def test_a_refused_mail_stops_no_other(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The output names a mail over a limit with the reason; the others are posted, and the exit code shows the refusal."""
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(50))
    Path("in.mbox").write_bytes(b"".join(mbox_of(("x", START_AT, mail) for mail in (b"Subject: 1\n\n", deep))))
    assert run(["import", "News", "in.mbox", "--lab", lab, "--json"]) == ExitCode.VIOLATION
    done = json.loads(capsys.readouterr().out)
    assert (done["imported"], done["refused"], done["reasons"][0]["source"]) == (1, 1, "in.mbox:2")


def test_notices_and_logs_of_a_running_lab(lab: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """CF-2, EV-1: mailbox and log show the same for running stores as for those of a run."""
    with Client(lab) as client:
        made = client.post("A", "Projects", subject="Plan")["id"]
        client.until_converged("Projects", "2 h")
        client.edit("A", "Projects", made, body="of A")
        client.edit("B", "Projects", made, body="of B")
        client.advance("40 min")
    assert run(["mailbox", "--lab", lab, "--json"]) == ExitCode.GOOD
    notices = json.loads(capfdbinary.readouterr().out)  # also the mails of other tests of this lab
    (notice,) = (notice for notice in notices if notice["subject"] == "Conflict in Projects")
    assert run(["mailbox", "show", str(notice["id"]), "--lab", lab, "--server", notice["store"]]) == ExitCode.GOOD
    assert capfdbinary.readouterr().out.count(b"Content-Type: message/rfc822") == 2
    assert run(["log", "--lab", lab, "--server", "B", "--json"]) == ExitCode.GOOD
    entries = json.loads(capfdbinary.readouterr().out)
    assert entries and {each["store"] for each in entries} == {"B"}
    one = str(entries[0]["event"])
    assert run(["log", "--lab", lab, "--event", one, "--json"]) == ExitCode.GOOD
    assert {str(each["event"]) for each in json.loads(capfdbinary.readouterr().out)} == {one}


def test_a_folder_sends_mail(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """ML-5: send prints the Message-ID; the mail waits in the queue if a person's mail goes on, and people find it in their
    mailbox. explain accepts the Message-ID."""
    Path("plan.txt").write_text("plan", "utf-8")
    letter = ("send", "News", "--node", "B", "--to", "kim@contoso.test", "--subject", "News", "--body", "all")
    assert run([*letter, "--attach", "plan.txt", "--lab", lab]) == ExitCode.GOOD
    message_id = capsys.readouterr().out.strip()
    with Client(lab) as client:
        notices = [each for each in client.mailbox("B") if each["subject"] == "News"]
        assert [(each["sender"], each["recipient"]) for each in notices] == [("News@contoso.test", "kim@contoso.test")]
        assert b'filename="plan.txt"' in client.mailbox_mail("B", notices[0]["id"])
    assert run(["explain", message_id, "--lab", lab]) == ExitCode.GOOD
    assert run(["send", "News", "--node", "B", "--to", "kim", "--subject", "x", "--lab", lab]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err == "pflab: not a mail address: kim; write addresses such as kim@contoso.test\n"


def test_the_queue_shows_when_a_mail_is_sent_again(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """queue prints each waiting mail with its recipients and the next attempt, at most 80 columns wide; then it is empty."""
    with Client(lab) as client:
        client.advance("1 h")  # the mails of other tests are sent
        fault = client.inject("cut", between=["A", "B"])
        client.post("A", "Projects", subject="Waits")
        client.advance("16 min")
        now = client.now()
    (mail,) = asked(capsys, "queue", "--server", "A", "--lab", lab)
    assert (mail["store"], mail["next_hop"], mail["recipients"]) == ("A", "B", ["B-IS@contoso.test"])
    assert mail["attempts"] >= 1
    assert mail["due_at"] > now
    assert run(["queue", "--lab", lab]) == ExitCode.GOOD
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    assert mail["due_at"] in told
    assert "Server B has no mail in its queue." in told
    with Client(lab) as client:
        client.heal(fault)
        client.until_converged("Projects", "6 h")
    assert asked(capsys, "queue", "--lab", lab) == []


@pytest.mark.parametrize("verb", [load.import_, mail.send])
def test_the_example_of_each_help_works(lab: str, verb: object) -> None:
    """The examples in the help of import and send work."""
    Path("archive.mbox").write_bytes(b"".join(mbox_of([("kim@x.test", START_AT, b"Subject: old\n\nmail\n")])))
    example = str(verb.__doc__).partition("Example: pflab ")[2]
    assert run([*shlex.split(example), "--lab", lab]) == ExitCode.GOOD


class LossyProxy(BaseHTTPRequestHandler):
    """Forwards requests to a lab, and drops the answer of every second one."""

    lab = ""
    count = 0

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {"Idempotency-Key": self.headers["Idempotency-Key"]}
        with Client(type(self).lab) as client:
            answer = client.content("POST", self.path, content, headers=headers)
        type(self).count += 1
        if type(self).count % 2:
            self.close_connection = True
            return
        self.send_response(201)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_lost_answers_double_nothing(lab: str) -> None:
    """A mail whose answer is lost is sent again under its key, and is posted once."""
    LossyProxy.lab = lab
    server = ThreadingHTTPServer(("127.0.0.1", 0), LossyProxy)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        sent = [MailFile(str(n), b"Subject: deaf %d\n\n" % n) for n in range(5)]
        with Client(f"http://127.0.0.1:{server.server_port}") as client:
            door = poster_for_client(client, "B", "News")
            done = asyncio.run(import_mails(sent, door, lambda _: None))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert LossyProxy.count == 2 * len(sent)
    with Client(lab) as client:
        there = [each for each in client.messages("B", "News") if each["subject"].startswith("deaf")]
    assert {each["id"] for each in there} == set(done.ids)
    assert len(there) == len(sent)


def test_a_lab_that_goes_away_interrupts(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """If the lab goes away an import ends with one line that says how to resume, and counts no mail as refused."""
    Path("one.eml").write_bytes(b"Subject: later\n\n")
    with Client(lab) as client:
        client.stop("B")
        done = Imported()
        with pytest.raises(Interrupted):
            asyncio.run(
                import_mails(
                    [MailFile("x", b"Subject: x\n\n")], poster_for_client(client, "B", "News"), lambda _: None, done
                )
            )
        assert (done.ids, done.refused_count) == ([], 0)
        assert run(["import", "News", "one.eml", "--node", "B", "--lab", lab]) == ExitCode.UNKNOWN
        (line,) = capsys.readouterr().err.splitlines()
        assert "0 of 1 mail posted; repeat the command for the rest" in line
        client.start("B")
