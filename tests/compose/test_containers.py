"""The lab in containers: five stores, real mail between them, and operations of the container engine."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from http.client import HTTPConnection
from imaplib import IMAP4
from pathlib import Path
from smtplib import SMTP

import pytest

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from tests.support.compose_stack import FOLDERS, PATIENCE_S, STORES, Stack
from tests.support.http_examples import play
from traces.labtime import DAY_US, parse_instant

pytestmark = pytest.mark.compose

SCENARIOS = ("lost-mail", "killed", "restored", "new-store", "line-down")
"""Some of every kind; `pflab run scenarios/*.yaml --lab URL --renew` plays all that need no other stores."""

OF_A_USER = """
import pytest
from pflab.testing import Organization

TWO = Organization("Fabrikam", domain="fabrikam.test").site("SEA").server("A").server("B").folder("News")

@pytest.mark.parametrize("number", [1, 2])
def test_a_lost_mail_comes_back(lab, number):
    assert lab.messages("A", "Projects") == []
    lab.inject("lose", from_="A", to="B", type="content", count=1)
    lab.post("A", "Projects", subject="Hello")
    lab.assert_converged("Projects", within="54 h")

@pytest.mark.pflab_topology(TWO)
@pytest.mark.parametrize("number", [1, 2])
def test_another_organization(lab, number):
    assert lab.messages("A", "News") == []
    lab.post("A", "News", subject="Hello")
    lab.assert_converged("News", within="20 min")
"""

OF_OTHER_STORES = "three-at-once"
"""A scenario with more stores than the stack has."""


def subjects(stack: Stack, store: str, folder: str = "Projects") -> set[str]:
    with stack.client() as client:
        return {str(each["subject"]) for each in client.messages(store, folder)}


def test_a_scenario_is_played_on_the_containers(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    """`pflab run --lab` plays a scenario of the default lab on the fresh stack."""
    code = run(["run", "quiet-organization", "--lab", stack.url, "--json"])
    (result,) = json.loads(capsys.readouterr().out)
    assert code == ExitCode.GOOD, result["failure"]


def test_a_scenario_is_played_on_another_organization(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    """`--renew` gives the containers another organization with some of their servers, and a new run without earlier data. The
    lab's own organization comes back in the same way."""
    with stack.client() as client:
        before, own = client.lab(), client.json("GET", "/lab/topology")
    began_s = time.monotonic()
    try:
        code = run(["run", *SCENARIOS, "--lab", stack.url, "--renew", "--json"])
        results = json.loads(capsys.readouterr().out)
    finally:
        stack.begin_again(own)
    stack.figure(f"{len(SCENARIOS)} scenarios, each in a new run: {time.monotonic() - began_s:.0f} s")
    assert code == ExitCode.GOOD, [each["failure"] for each in results]
    assert len({before["run"], *(each["run"] for each in results)}) == len(SCENARIOS) + 1


def test_tests_with_the_plugin_run_on_containers(stack: Stack, tmp_path: Path) -> None:
    """A user's tests pass with `--pflab-lab`: each gets the containers with its topology, in the first state."""
    (tmp_path / "test_project.py").write_text(OF_A_USER, "utf-8")
    with stack.client() as client:
        own = client.json("GET", "/lab/topology")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pflab-lab", stack.url, str(tmp_path)]
    try:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    finally:
        stack.begin_again(own)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
    stack.figure(f"4 tests of a user: {done.stdout.strip().splitlines()[-1]}")


def test_posts_travel_between_containers(stack: Stack) -> None:
    """A post at one store reaches all others by mail over the compose network; two lab days take seconds."""
    assert stack.running() == list(STORES)
    with stack.client() as client:
        for store in ("A", "B", "C", "E"):
            client.post_batch(store, "Projects", [{"subject": f"{store} {n}"} for n in range(10)])
        client.post("D", "Projects/Archive", subject="kept")
        began_at, began_s = parse_instant(client.now()), time.monotonic()
        client.advance("2 d")
        stack.figure(f"two lab days with all mails: {time.monotonic() - began_s:.1f} s")
        assert parse_instant(client.now()) - began_at == 2 * DAY_US
        sent = sum(each["type"] == "hop.sent" for each in client.events())
        assert sent > 20
    stack.converge(*FOLDERS)
    assert subjects(stack, "E") == {f"{store} {n}" for store in ("A", "B", "C", "E") for n in range(10)}


def test_the_example_in_plain_http_runs(stack: Stack, project_root: Path) -> None:
    """The example in docs/how-to/containers.md works on the containers, from the machine itself without a token."""
    assert play(project_root / "docs" / "how-to" / "containers.md", stack.url) > 10


def test_a_store_is_small_and_starts_fast(stack: Stack) -> None:
    """Measure each container: its memory, and the time until its process answers."""
    told = stack.docker(
        "stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}", *_containers(stack, "lab", *STORES)
    )
    stack.figure(
        "memory: " + "; ".join(line.partition(" / ")[0].removeprefix(f"{stack.project}-") for line in told.splitlines())
    )
    ready = [json.loads(stack.docker("logs", each).splitlines()[0]) for each in _containers(stack, *STORES)]
    assert {each["name"] for each in ready} == set(STORES)
    stack.figure(f"processes that wait after {', '.join(str(each['took_s']) for each in ready)} s, five at once")


def test_mail_programs_of_this_machine_reach_the_stores(stack: Stack) -> None:
    """The lab names the addresses of SMTP and IMAP on this machine. A mail that is sent there arrives, and a mail program
    reads it with the token for users."""
    with stack.client() as client:
        servers = {each["name"]: each for each in client.lab()["servers"]}
    host, _, port = servers["A"]["smtp"].partition(":")
    with SMTP(host, int(port), timeout=PATIENCE_S) as outside:
        mail = b"From: kim@outside.test\r\nSubject: from this machine\r\n\r\nx\r\n"
        assert outside.sendmail("kim@outside.test", ["projects@contoso.test"], mail) == {}
    stack.until(lambda: "from this machine" in subjects(stack, "A"), "a mail of this machine to arrive")
    password = stack.docker("exec", stack.container("lab"), "cat", "/secrets/users-token").strip()
    host, _, port = servers["A"]["imap"].partition(":")
    with IMAP4(host, int(port), timeout=PATIENCE_S) as reader:
        reader.login("kim", password)
        assert reader.select('"#public/Projects"', readonly=True)[0] == "OK"
        assert reader.search(None, "SUBJECT", '"from this machine"')[1] != [b""]


def test_an_edited_topology_is_told_in_one_line(stack: Stack, tmp_path: Path) -> None:
    """A lab that began with another topology says so once and waits: its container does not restart. With its own topology
    it goes on."""
    topology = (stack.root / "topology/examples/default.yaml").read_text("utf-8")
    (tmp_path / "lab.yaml").write_text(topology.replace("Contoso", "Fabrikam"), "utf-8")
    volume = f"{{type: bind, source: {tmp_path}/lab.yaml, target: /topology.yaml, read_only: true}}"
    (tmp_path / "edited.yml").write_text(f"services: {{lab: {{volumes: [{volume}]}}}}\n", "utf-8")
    stack.compose("-f", "docker-compose.yml", "-f", str(tmp_path / "edited.yml"), "up", "--detach", "--no-deps", "lab")
    try:
        stack.until(
            lambda: "began with another topology" in stack.logs(stack.container("lab")), "the lab to say what is wrong"
        )
        assert stack.inspected("lab")["RestartCount"] == 0
        assert stack.inspected("lab")["State"]["Running"]
        assert stack.logs(stack.container("lab")).count("\n") == 1
    finally:
        stack.compose("up", "--detach", "--no-deps", "lab")
    stack.until_all_run()


def test_access_needs_the_token(stack: Stack) -> None:
    """Only the ports of the lab and of mail are published, on loopback. In the lab's network the APIs require the token, and
    images contain no secret."""
    published = {service: stack.inspected(service)["HostConfig"]["PortBindings"] for service in ("lab", *STORES)}
    assert list(published["lab"]) == ["8025/tcp"]
    assert all(sorted(published[each]) == ["1143/tcp", "2525/tcp"] for each in STORES)
    assert {line["HostIp"] for bound in published.values() for (line,) in bound.values()} == {stack.loopback}
    for service, path in (("a", "/nodes/A/folders"), ("lab", "/lab")):
        asked = (
            "import http.client as h; c = h.HTTPConnection('%s', 8025); c.request('GET', '%s');"  # noqa: UP031
            "print(c.getresponse().status)" % (service, path)
        )
        assert stack.docker("exec", stack.container("b"), "python", "-P", "-c", asked).strip() == "401"
    line = HTTPConnection(stack.loopback, 8025)
    line.request("GET", "/lab", headers={"Host": "evil.example"})
    assert line.getresponse().status == 403
    line.close()
    token = stack.docker("exec", stack.container("lab"), "cat", "/secrets/token").strip()
    image = stack.docker("history", "--no-trunc", "pflab:test") + stack.docker("inspect", "pflab:test")
    assert token not in image
    assert stack.docker("run", "--rm", "--entrypoint", "ls", "pflab:test", "-A", "/secrets") == ""


def test_a_store_has_few_rights(stack: Stack) -> None:
    """A store does not run as root; its container has no capabilities, a read-only root, and no compiler or Java."""
    container = stack.container("a")
    assert stack.docker("exec", container, "id", "-u").strip() == "10001"
    status = stack.docker("exec", container, "cat", "/proc/1/status")
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert subprocess.run(["docker", "exec", container, "touch", "/x"], capture_output=True, check=False).returncode
    found = stack.docker("exec", container, "bash", "-c", "type -P gcc cc java pip || true")
    assert found == ""


def test_killed_paused_and_cut_off_stores_do_not_hold_the_lab_up(stack: Stack) -> None:
    """The engine kills one store, pauses one, and takes one off the network. The lab goes on, and when they are back nothing
    is lost and all are equal."""
    stack.docker("kill", stack.container("b"))
    stack.docker("pause", stack.container("c"))
    stack.docker("network", "disconnect", f"{stack.project}_default", stack.container("e"))
    with stack.client() as client:
        client.post("A", "Projects", subject="while away")
        began_s = time.monotonic()
        client.advance("6 h")
        stack.figure(
            f"six lab hours with one store killed, one paused, one cut off: {time.monotonic() - began_s:.1f} s"
        )
    assert stack.running() == ["A", "D"]
    stack.docker("start", stack.container("b"))
    stack.docker("unpause", stack.container("c"))
    stack.docker("network", "connect", "--alias", "e", f"{stack.project}_default", stack.container("e"))
    stack.until_all_run()
    stack.converge(*FOLDERS)
    assert all("while away" in subjects(stack, store) for store in ("A", "B", "C", "E"))


def test_a_store_killed_by_the_lab_is_brought_back_and_waits(stack: Stack) -> None:
    """`fault kill` kills the store's process. Its container starts another one, which waits until the lab starts it;
    acknowledged posts are still there. The engine, whose restart delay grows, is not involved."""
    with stack.client() as client:
        client.post("A", "Projects", subject="acknowledged")
        began, processes = stack.inspected("a")["State"]["StartedAt"], _processes(stack, "a")
        client.kill("A")
        stack.until(lambda: _processes(stack, "a") > processes, "the container to start A's process again")
        assert stack.running() == ["B", "C", "D", "E"]
        assert stack.inspected("a")["State"]["StartedAt"] == began
        client.start("A")
        assert "acknowledged" in subjects(stack, "A")
    stack.converge(*FOLDERS)
    assert "acknowledged" in subjects(stack, "E")


def test_the_coordinator_survives_a_kill(stack: Stack) -> None:
    """After a kill and a restart it has the lab's time and run, and the stores have kept running."""
    with stack.client() as client:
        client.stop("D")
        before = client.lab()
    stack.docker("kill", stack.container("lab"))
    stack.docker("start", stack.container("lab"))
    stack.until(lambda: stack.running() == ["A", "B", "C", "E"], "the lab to be back")
    with stack.client() as client:
        after = client.lab()
        assert (after["run"], after["clock"]["now_at"]) == (before["run"], before["clock"]["now_at"])
        client.start("D")
        client.post("B", "Projects", subject="afterwards")
    stack.converge(*FOLDERS)
    assert "afterwards" in subjects(stack, "E")


def test_stopped_containers_come_back(stack: Stack) -> None:
    """All containers stop gracefully; after a start the lab is as it was."""
    before = {store: subjects(stack, store) for store in ("A", "B", "C", "E")}
    began_s = time.monotonic()
    stack.compose("stop", "a")
    stack.figure(f"one store stops in {time.monotonic() - began_s:.1f} s")
    stack.compose("stop")
    assert {service: stack.inspected(service)["State"]["ExitCode"] for service in ("lab", *STORES)} == dict.fromkeys(
        ("lab", *STORES), 0
    )
    stack.compose("up", "--detach", "--wait", "lab", "a", "b", "c", "d", "e")
    stack.until_all_run()
    assert {store: subjects(stack, store) for store in before} == before


def test_a_saved_lab_is_restored(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    """`pflab lab save` and `reset`: time and every store are as saved, and mail goes on."""
    assert run(["lab", "save", "exercise", "--lab", stack.url]) == ExitCode.GOOD
    with stack.client() as client:
        now = client.now()
        before = {store: subjects(stack, store) for store in ("A", "B", "C", "E")}
        client.post("A", "Projects", subject="of the class")
        client.advance("12 h")
        client.stop("C")
    began_s = time.monotonic()
    assert run(["lab", "reset", "exercise", "--lab", stack.url]) == ExitCode.GOOD
    stack.figure(f"back at a saved lab: {time.monotonic() - began_s:.1f} s")
    capsys.readouterr()
    stack.until_all_run()
    with stack.client() as client:
        assert client.now() == now
    assert {store: subjects(stack, store) for store in before} == before
    with stack.client() as client:
        client.post("A", "Projects", subject="once more")
    stack.converge(*FOLDERS)
    assert "once more" in subjects(stack, "E")
    assert "of the class" not in subjects(stack, "A")


def test_an_unplayable_scenario_does_not_stop_the_others(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario that the lab cannot play is reported, and the exit code is that of an unknown result; the
    others are played."""
    code = run(["run", OF_OTHER_STORES, "quiet-organization", "--lab", stack.url, "--renew", "--json"])
    other, played = json.loads(capsys.readouterr().out)
    assert "no server F" in other["not_played"]
    assert played["passed"]
    assert code == ExitCode.UNKNOWN


def test_the_load_keeps_something_happening(stack: Stack) -> None:
    """The load's container posts a little at a time while the clock runs, and nothing while it is paused, as in a scenario."""
    with stack.client() as client:
        client.set_rate(1.0)
        before = sum(each["type"] == "change.made" for each in client.events())
        stack.compose("up", "--detach", "load")
        stack.until(
            lambda: sum(each["type"] == "change.made" for each in client.events()) > before,
            "the load to post something",
        )
        client.pause()
    assert run(["run", "quiet-organization", "--lab", stack.url, "--renew"]) == ExitCode.GOOD
    stack.compose("stop", "load")
    stack.converge(*FOLDERS)


def _processes(stack: Stack, service: str) -> int:
    """Return how many processes of a store have logged that they listen."""
    return stack.logs(stack.container(service)).count('"took_s"')


def _containers(stack: Stack, *services: str) -> list[str]:
    return [stack.container(service) for service in services]
