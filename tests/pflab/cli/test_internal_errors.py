"""A bug of pflab looks like a bug: one line, exit status 70, and the traceback with --debug."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

import pflab.cli
from node.api.http_server import HttpServer
from node.errors import InternalError
from node.store.node import Node
from node.views import Post
from pflab.cli import app, run_or_lab
from pflab.cli.app import run
from pflab.cli.bugs import DEBUG
from pflab.client import Client, ClientError, url_at
from pflab.drivers.existing_lab import ExistingLab
from pflab.drivers.live import LiveLab
from pflab.lab.remote_node import RemoteNode
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from pflab.terms.verdict import ExitCode
from topology.file.load import topology_from_text

HINT = "(this is a bug; run again with --debug for the traceback)"
LOG_HINT = "(this is a bug; the log of the server has the traceback)"


@pytest.fixture(autouse=True)
def no_debug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEBUG, "")  # what --debug sets is taken back at the end of the test


def broken(*_: object, **__: object) -> Any:
    raise KeyError("x")


def test_a_bug_is_one_line_and_exit_status_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exception that is not a user's mistake is an internal error, printed with its type and text."""
    monkeypatch.setattr(run_or_lab, "existing_run", broken)
    assert run(["state"]) == ExitCode.INTERNAL == 70
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"pflab: internal error: KeyError: 'x' {HINT}\n")


@pytest.mark.parametrize("args", [["--debug", "state"], ["state", "--debug"], ["state"]])
def test_debug_prints_the_traceback(
    args: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--debug works before and after the verb, and as PFLAB_DEBUG=1."""
    if "--debug" not in args:
        monkeypatch.setenv(DEBUG, "1")
    monkeypatch.setattr(run_or_lab, "existing_run", broken)
    assert run(args) == ExitCode.INTERNAL
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first == "Traceback (most recent call last):"
    assert last == f"pflab: internal error: KeyError: 'x' {HINT}"


def test_an_import_that_fails_is_a_bug(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An error while pflab is being imported is reported in the same words."""
    monkeypatch.setattr(app, "run", broken)
    with pytest.raises(SystemExit) as ended:
        pflab.cli.main(["state"])
    assert ended.value.code == ExitCode.INTERNAL
    assert capsys.readouterr().err == f"pflab: internal error: KeyError: 'x' {HINT}\n"


def test_help_lists_the_exit_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab --help says what each exit status means; a verb's help has --debug."""
    assert run(["--help"]) == ExitCode.GOOD
    assert "70 an internal error (a bug of pflab), 130 stopped" in " ".join(capsys.readouterr().out.split())
    assert run(["state", "--help"]) == ExitCode.GOOD
    assert "--debug" in capsys.readouterr().out


# --- a lab


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("tick", "pflab: server A: internal error at 2003-10-21T00:15:00Z: KeyError: 'x'"),
        ("post", "pflab: internal error: KeyError: 'x'"),
    ],
)
@pytest.mark.parametrize("how", [["--simulate"], pytest.param([], marks=pytest.mark.live)], ids=["simulated", "live"])
def test_a_scenario_on_a_store_with_a_bug(
    method: str, expected: str, how: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bug in a store ends `pflab run` with 70, and not as a failed scenario."""
    monkeypatch.setattr(Node, method, broken)
    assert run(["run", "lost-mail", *how]) == ExitCode.INTERNAL
    assert capsys.readouterr().err.splitlines()[-1] == f"{expected} {HINT}"


def test_a_campaign_says_how_to_play_the_seed_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A campaign that meets a bug names the seed and the command that plays it again; with --debug, the traceback."""
    monkeypatch.setattr(Node, "post_batch", broken)
    wanted = ["simulate", "--seeds", "1", "--days", "1", "--jobs", "1"]
    assert run(wanted) == ExitCode.INTERNAL
    captured = capsys.readouterr()
    assert "internal error while serving a user: KeyError: 'x'" in captured.out
    again = "pflab simulate --seeds 1 --days 1 --debug"
    line = f"pflab: internal error with seed 1 (this is a bug; play it again for the traceback: {again})"
    assert captured.err.splitlines()[-1] == line
    assert run([*wanted, "--json", "--debug"]) == ExitCode.INTERNAL
    captured = capsys.readouterr()
    assert "in broken" in captured.err and captured.err.splitlines()[-1] == line
    (seed,) = json.loads(captured.out)["seeds"]
    assert "in broken" in seed["traceback"]


# --- over HTTP


@pytest.mark.live
async def test_a_bug_over_http(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A bug in a running lab is a 500 of the kind InternalError; verbs and drivers that ask the lab report it as a bug."""
    topology = topology_from_text("servers: {A: }\nfolders:\n  Projects: {replicas: [A]}\n")
    lab = LiveLab(topology, folder=RunFolder.create(tmp_path / "runs", "live"))
    server = HttpServer(app_of_live_lab(lambda: lab))
    monkeypatch.setattr(Node, "post_batch", broken)
    monkeypatch.setattr(LiveLab, "saved", broken)
    caplog.set_level(logging.ERROR)
    detail = f"internal error while answering POST /nodes/A/messages/batch: KeyError: 'x' {LOG_HINT}"

    def ask(url: str) -> None:
        with Client(url) as client:
            with pytest.raises(ClientError) as refused:
                client.post_batch("A", "Projects", [{"subject": "Hello"}])
            assert (refused.value.status, refused.value.kind) == (500, "InternalError")
            assert (refused.value.internal, refused.value.detail) == (True, detail)
            with pytest.raises(InternalError) as met:
                RemoteNode("A", client).post_batch(0, "Projects", [Post("Hello")])
            assert (met.value.elsewhere, str(met.value)) == (True, detail)
            with pytest.raises(ClientError, match="internal error while answering GET /lab/saved: KeyError"):
                client.saved()
        assert run(["load", "--lab", url, "--count", "5"]) == ExitCode.INTERNAL
        assert capsys.readouterr().err.splitlines()[-1] == f"pflab: {detail}"

    async with lab:
        address = await server.start()
        try:
            await asyncio.to_thread(ask, url_at(address))
        finally:
            await server.stop()
    assert "in broken" in caplog.text


def test_a_lab_elsewhere_with_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scenario on a lab that runs elsewhere meets the lab's bug as a bug."""

    def bug(*_: object, **__: object) -> Any:
        raise ClientError(500, "InternalError", f"internal error while answering GET /lab: KeyError: 'x' {LOG_HINT}")

    monkeypatch.setattr(Client, "json", bug)
    lab = ExistingLab(topology_from_text("servers: {A: }\n"), Client("http://127.0.0.1:1"))
    start: Callable[[], Any] = lab.up
    with pytest.raises(InternalError, match="while answering GET /lab: KeyError") as met:
        asyncio.run(start())
    assert met.value.elsewhere
