"""`pflab coordinate`, the process that coordinates servers in other processes, and how it ends and comes back."""

from __future__ import annotations

import signal
import subprocess
import sys
from imaplib import IMAP4
from pathlib import Path
from smtplib import SMTP, SMTPSenderRefused

import pytest

from bench.ports import free_port
from pflab.cli.app import run
from pflab.client import Client, ClientError
from pflab.containers.run_history import RunHistory
from pflab.drivers.launch import node_environment
from pflab.runs.run_folder import RunFolder
from pflab.terms.verdict import ExitCode
from tests.support.coordinator_process import running_coordinator, wait_for_history
from tests.support.lab_actions import everything
from tests.support.lab_factory import TOKEN
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.topologies import TWO_STORES
from topology.file.load import topology_from_text
from traces.reading import read_folder

pytestmark = [pytest.mark.live, pytest.mark.long]


def test_a_coordinator_that_is_killed_comes_back_and_goes_on(tmp_path: Path) -> None:
    """Requests need the token. After SIGKILL the coordinator comes back with the same time, run, posts and events."""
    (tmp_path / "lab.yaml").write_text(TWO_STORES, "utf-8")
    folder = RunFolder.at(tmp_path / "run")
    with ProcessSupervisor(topology_from_text(TWO_STORES), folder, token=TOKEN) as supervisor:
        with running_coordinator(supervisor, tmp_path, signal.SIGKILL) as url:
            with Client(url) as stranger, pytest.raises(ClientError, match="requires its token"):
                stranger.lab()
            with Client(url, token=TOKEN) as client:
                client.post("A", "Projects", subject="Hello")
                client.advance("15 min")
                events = list(client.events())
                assert "version.applied" in {each["type"] for each in events}
                before = client.lab()
        with running_coordinator(supervisor, tmp_path) as url, Client(url, token=TOKEN) as client:
            after = client.lab()
            assert {name: after[name] for name in ("run", "clock", "servers")} == {
                name: before[name] for name in ("run", "clock", "servers")
            }
            assert [each["subject"] for each in client.messages("B", "Projects")] == ["Hello"]
            assert list(client.events())[: len(events)] == events
            assert "version.applied" in {each["type"] for each in client.events("B")}


def test_a_coordinated_lab_with_tls_takes_mail_only_in_tls(tmp_path: Path) -> None:
    """coordinate --tls: the servers replicate in TLS, and refuse mail in clear with 530."""
    (tmp_path / "lab.yaml").write_text(TWO_STORES, "utf-8")
    folder = RunFolder.at(tmp_path / "run")
    with (
        ProcessSupervisor(topology_from_text(TWO_STORES), folder, token=TOKEN) as supervisor,
        running_coordinator(supervisor, tmp_path, signal.SIGTERM, "--tls") as url,
        Client(url, token=TOKEN) as client,
    ):
        client.post("A", "Projects", subject="Hello")
        client.advance("15 min")
        assert [each["subject"] for each in client.messages("B", "Projects")] == ["Hello"]
        host, _, port = client.lab()["servers"][0]["smtp"].partition(":")
        with SMTP(host, int(port)) as outside, pytest.raises(SMTPSenderRefused) as refused:
            outside.sendmail("kim@outside.test", ["projects@contoso.test"], b"Subject: outside\r\n\r\nx\r\n")
        assert refused.value.smtp_code == 530


def test_users_are_told_where_they_reach_the_mail_listeners(tmp_path: Path) -> None:
    """With --imap-port the servers serve mail programs, with the token for users as the password. The lab tells users the
    addresses of --smtp-at and --imap-at, and of other servers those at which they listen."""
    pytest.importorskip("pymap")
    one_store = "servers: {A: }\nfolders: {Projects: }\n"  # each store listens on a machine of its own
    (tmp_path / "lab.yaml").write_text(one_store, "utf-8")
    folder = RunFolder.at(tmp_path / "run")
    port = free_port()
    doors = ("--imap-port", str(port), "--smtp-at", "A=127.0.0.2:12525", "--imap-at", "A=127.0.0.2:11143")
    with (
        ProcessSupervisor(topology_from_text(one_store), folder, token=TOKEN) as supervisor,
        running_coordinator(supervisor, tmp_path, signal.SIGTERM, *doors) as url,
        Client(url, token=TOKEN) as client,
    ):
        (server,) = client.lab()["servers"]
        assert (server["smtp"], server["imap"]) == ("127.0.0.2:12525", "127.0.0.2:11143")
        with IMAP4("127.0.0.1", port) as reader:
            assert reader.login("kim", (tmp_path / "run" / "users-token").read_text("ascii").strip())[0] == "OK"


@pytest.mark.parametrize("after_a_reset", [False, True])
def test_another_topology_is_told_once(tmp_path: Path, after_a_reset: bool) -> None:
    """A coordinator whose lab began with another topology says so in one line. With --stay it then waits, because Docker would
    start it again for ever; without, it ends with exit code 2. The lab's own topology is accepted as before."""
    (tmp_path / "lab.yaml").write_text("servers: {A: , B: }\n", "utf-8")
    order = [
        sys.executable,
        "-P",
        "-m",
        "pflab",
        "coordinate",
        str(tmp_path / "lab.yaml"),
        "--data",
        str(tmp_path / "data"),
        "--port",
        "0",
    ]
    runs = RunHistory(tmp_path / "data", topology_from_text("servers: {A: , B: }"), secret="s", keeps_mails=False)
    if after_a_reset:
        runs.next(topology_from_text("servers: {B: }"), ["A", "B"])
    RunHistory(
        tmp_path / "data",
        topology_from_text("servers: {A: {}, B: {}}\norganization: Contoso"),
        secret="s",
        keeps_mails=False,
    )
    (tmp_path / "lab.yaml").write_text("servers: {A: , B: , C: }\n", "utf-8")
    done = subprocess.run(order, capture_output=True, text=True, check=False, env=node_environment(), timeout=60)
    assert done.returncode == ExitCode.UNKNOWN
    assert "began with another topology" in done.stderr
    assert "docker compose down --volumes" in done.stderr
    assert done.stderr.count("\n") == 1
    pipe = subprocess.PIPE
    with subprocess.Popen([*order, "--stay"], stdout=pipe, stderr=pipe, text=True, env=node_environment()) as stays:
        assert stays.stderr is not None
        assert stays.stderr.readline().split(":", 1)[1] == done.stderr.split(":", 1)[1]
        assert stays.poll() is None
        stays.terminate()
        assert stays.wait(60) != ExitCode.GOOD


def test_a_saved_lab_is_restored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A saved lab can be reset any number of times: its time, its running servers, each store and the traces are as saved. A
    server that was down during the reset comes back to the same state. A restart of the coordinator changes nothing."""
    monkeypatch.setenv("PFLAB_TOKEN", TOKEN)
    (tmp_path / "lab.yaml").write_text(TWO_STORES, "utf-8")
    folder = RunFolder.at(tmp_path / "run")
    with ProcessSupervisor(topology_from_text(TWO_STORES), folder, token=TOKEN) as supervisor:
        with running_coordinator(supervisor, tmp_path) as url, Client(url, token=TOKEN) as client:
            client.post("A", "Projects", subject="before")
            client.advance("15 min")
            client.inject("lose", from_="A", to="B", type="content")
            client.post("A", "Projects", subject="lost")
            client.advance("1 h")
            assert client.save("start")["at"] == client.now()
            start, faults = everything(client), client.faults()
            client.post("B", "Projects", subject="afterwards")
            client.advance("2 d")
            client.stop("B")
            for number in range(2):
                assert run(["lab", "reset", "start", "--lab", url]) == ExitCode.GOOD
                assert "reset to start" in capsys.readouterr().out
                assert everything(client) == start
                assert client.faults() == faults
                client.heal()
                assert client.clock()["rate"] == 0
                client.post("A", "Projects", subject=f"another {number}")
                client.advance("1 h")
            with pytest.raises(ClientError, match="no lab was saved as 'end'"):
                client.reset("end")
            supervisor.take_down("B")
            client.reset("start")
            supervisor.bring_up("B")
            wait_for_history(client, "Contoso-4", running=("A", "B"))
            assert everything(client) == start
            client.advance("1 h")
        with running_coordinator(supervisor, tmp_path) as url, Client(url, token=TOKEN) as client:
            assert client.saved() == ["start"]
            assert client.until_converged("Projects", "54 h")["held"]
            written = client.export()
            trace = read_folder(tmp_path / "run" / "traces" / written["traces"])
            assert trace.report() == []
            assert len(trace.events) == written["events"]
            assert {each["subject"] for each in client.messages("B", "Projects")} == {"before", "lost"}


def test_a_coordinator_that_cannot_write_its_state_says_so(tmp_path: Path) -> None:
    """On a full disk it ends with one line, which is no internal error."""
    (tmp_path / "lab.yaml").write_text(TWO_STORES, "utf-8")
    for name in ("secret", "token", "users-token"):
        (tmp_path / name).write_text("of this test\n", "utf-8")
    order = [sys.executable, "-P", "-m", "pflab", "coordinate", str(tmp_path / "lab.yaml"), "--port", "0"]
    order += ["--data", str(tmp_path / "run"), "--secrets", str(tmp_path)]
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 0 && exec "$@"', "sh", *order],
        capture_output=True,
        text=True,
        env=node_environment(),
        check=False,
        timeout=60,
    )
    assert done.returncode == ExitCode.UNKNOWN
    assert "cannot be written" in done.stderr
    assert "free space, then start again" in done.stderr
    assert "bug" not in done.stderr


def test_a_coordinated_lab_plays_lessons(tmp_path: Path) -> None:
    """The coordinator plays lessons in its own process, for those who have the token. A lesson goes on when the lab begins
    another run."""
    (tmp_path / "lab.yaml").write_text(TWO_STORES, "utf-8")
    folder = RunFolder.at(tmp_path / "run")
    with (
        ProcessSupervisor(topology_from_text(TWO_STORES), folder, token=TOKEN) as supervisor,
        running_coordinator(supervisor, tmp_path) as url,
        Client(url, token=TOKEN) as client,
    ):
        path = client.json("POST", "/lessons", {"name": "conflict"})["path"]
        with Client(url) as stranger:
            for method, place in (("GET", "/lessons"), ("GET", f"{path}lab"), ("POST", f"{path}next")):
                with pytest.raises(ClientError, match="requires its token"):
                    stranger.json(method, place)
        client.json("POST", f"{path}next")
        number = client.lab()["run"].rpartition("-")
        client.renew()
        wait_for_history(client, f"{number[0]}-{int(number[2]) + 1}")
        while (lesson := client.json("POST", f"{path}next"))["status"] == "waiting":
            assert len(client.json("GET", f"{path}lab")["servers"]) == 3
        assert lesson["verdict"]["judgement"] == "converged"
        assert client.now() == "2003-10-21T00:00:00Z"
