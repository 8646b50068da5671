"""What the process of a managed store keeps beside its database, and what it says about its coordinator."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from pathlib import Path

import pytest

from bench.ports import free_port
from node.api.control import Peers
from node.api.lifecycle import BeginOrder
from node.process.fault_client import FaultClient
from node.process.main import MISUSE, main
from node.process.managed import ManagedNode
from tests.support.disk import no_file_grows
from transport.protocol.fault_points import GO, AtVerb, Verb, decided


def test_the_note_of_the_history_survives_a_full_disk(tmp_path: Path) -> None:
    """A begin on a full disk leaves the note as it was: a damaged one would look like that of another history, whose database
    the next begin refuses or deletes."""
    node = ManagedNode(Namespace(name="A", data=tmp_path, traces=tmp_path / "traces"))
    (tmp_path / "A.sqlite").write_text("the database")
    first, later = (BeginOrder(run=run, at=0, topology="", fresh=True) for run in ("first", "later"))
    node._enter(first)
    with no_file_grows(0):
        node._enter(first)
    assert (tmp_path / "A.run").read_text() == "first"
    assert (tmp_path / "A.sqlite").exists()
    with no_file_grows(0), pytest.raises(OSError, match="File too large"):
        node._enter(later)
    node._enter(later)
    assert (tmp_path / "A.run").read_text() == "later"


async def test_a_silent_coordinator_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """While the coordinator does not answer, mails go on without faults; the log does not grow with each of them."""
    client = FaultClient("A")
    client.meet(Peers(addresses={}, asks=True, verbs=True, coordinator=f"127.0.0.1:{free_port()}"))
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            assert await decided(client.decide(AtVerb("B", "A", Verb.DATA, 0))) == GO
    assert len(caplog.records) == 1


async def test_a_coordinator_that_refuses_to_decide_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """An answer that is no decision, such as an error of the coordinator, is not silently taken for "no fault"."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    client = FaultClient("A")
    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()[:2]
        client.meet(Peers(addresses={}, asks=True, verbs=True, coordinator=f"{host}:{port}"))
        with caplog.at_level(logging.WARNING):
            assert await decided(client.decide(AtVerb("B", "A", Verb.DATA, 0))) == GO
        client.close()
    assert "the lab answered status 503" in caplog.text


@pytest.mark.parametrize("name", ["A B", "../A", "", "A" * 16])
def test_a_process_takes_only_the_name_of_a_server(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name becomes the name of files, so it must be one that a topology can have."""
    with pytest.raises(SystemExit) as ended:
        main([name, "--managed", "--data", str(tmp_path), "--lab-secret-file", str(tmp_path / "secret")])
    assert ended.value.code == MISUSE
    assert f'"{name}" is not a name for a server' in capsys.readouterr().err
