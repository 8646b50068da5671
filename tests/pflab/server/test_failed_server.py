"""A server whose store failed by an internal error says so in the lab's status."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from node.api.http_server import HttpServer
from node.store.node import Node
from pflab.client import Client, ClientError, url_at
from pflab.drivers.live import LiveLab
from pflab.server.app import app_of_live_lab
from pflab.simulation.simulated_lab import SimulatedLab
from tests.support.lab_factory import lab_factory

pytestmark = pytest.mark.live


@pytest.mark.parametrize("driver", ["live", "simulated lab"])
async def test_a_server_that_failed_says_so_until_it_starts_again(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status of a failed server is failed, with the error; after kill and start it runs again."""
    lab = lab_factory(driver, tmp_path, ExitStack())()
    assert isinstance(lab, LiveLab | SimulatedLab)
    server = HttpServer(app_of_live_lab(lambda: lab))
    tick = Node.tick

    def broken(node: Node, now: int) -> bool:
        if node.name == "B":
            raise OverflowError("cannot convert")
        return tick(node, now)

    def ask(url: str) -> None:
        def status() -> dict[str, Any]:
            return {each["name"]: each for each in client.lab()["servers"]}

        with Client(url) as client:
            assert [each["status"] for each in status().values()] == ["running"] * 3
            with monkeypatch.context() as failing:
                failing.setattr(Node, "tick", broken)
                with pytest.raises(ClientError, match="server B: internal error"):
                    client.advance("1 d")
            shown = status()
            assert [each["status"] for each in shown.values()] == ["running", "failed", "running"]
            assert shown["B"]["failure"].startswith("internal error: OverflowError: cannot convert")
            assert "failure" not in shown["A"]
            client.kill("B")
            assert status()["B"]["status"] == "not running"
            client.start("B")
            client.advance("1 d")
            assert status()["B"]["status"] == "running"

    async with lab:
        address = await server.start()
        try:
            await asyncio.to_thread(ask, url_at(address))
        finally:
            await server.stop()
