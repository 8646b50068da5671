"""A server in a container of its own is added to the lab in containers while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from tests.support.compose_stack import Stack

pytestmark = pytest.mark.compose


def test_a_server_in_a_new_site_joins_the_running_lab(
    stack: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """RT-6: an administrator adds a site, a server in a new container, and a connector to a running lab, with the commands of
    docs/how-to/containers.md. The server gets the posts of a folder, this machine reaches it, and the judge finds nothing wrong
    with the run."""
    at, second = ("--lab", stack.url), tmp_path / "added.yml"
    with stack.client() as client:
        own = client.json("GET", "/lab/topology")
    stack.begin_again(own)
    both = ("-f", "docker-compose.yml", "-f", str(second))
    try:
        with stack.client() as client:
            began, post = client.lab()["run"], client.post("A", "Projects", subject="before F")
        good("site", "add", "TYO", *at)
        good("server", "add", "F", "--site", "TYO", "--version", "2007", *at)
        good("compose", "--only", "F", "-o", str(second), *at)
        stack.compose(*both, "up", "--detach", "f")
        good("fault", "start", "F", *at)
        good("connector", "add", "SEA-TYO", "--between", "SEA,TYO", *at)
        good("replicas", "add", "Projects", "--replica", "F", "--on", "A", *at)
        with stack.client() as client:
            client.advance("3 d")
            assert post["id"] in [message["id"] for message in client.messages("F", "Projects")]
            servers = {server["name"]: server for server in client.lab()["servers"]}
        ports = stack.inspected("f")["NetworkSettings"]["Ports"]
        published = {port: f"{each['HostIp']}:{each['HostPort']}" for port, (each,) in ports.items()}
        assert published == {"2525/tcp": servers["F"]["smtp"], "1143/tcp": servers["F"]["imap"]}
    finally:
        stack.begin_again(own)
        if second.exists():
            stack.compose(*both, "rm", "--stop", "--force", "f")
            stack.docker("volume", "rm", "--force", f"{stack.project}_store-f")
    stack.docker("cp", f"{stack.container('lab')}:/lab/traces/{began}", str(tmp_path))
    code = run(["check", str(tmp_path / began)])
    assert code == ExitCode.GOOD, capsys.readouterr().out


def good(*order: str) -> None:
    """Run a command of pflab, which must succeed."""
    assert run(list(order)) == ExitCode.GOOD, order
