"""Small parts of a lab in containers: its secrets, its gateway, and access to its port."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest

from node.api.access import Guard
from pflab.containers.access import default_gateways, made_or_read

HEADER = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
GATEWAY = "172.18.0.1"


def test_secrets_are_made_once_and_for_their_owner_alone(tmp_path: Path) -> None:
    """Secret and tokens differ, never change, and are readable only by their owner."""
    made = made_or_read(tmp_path / "secrets")
    assert len(set(made)) == 3
    assert {len(each) for each in made} == {64}
    assert made_or_read(tmp_path / "secrets") == made
    files = list((tmp_path / "secrets").iterdir())
    assert sorted(each.name for each in files) == ["secret", "token", "users-token"]
    assert [each.stat().st_mode & 0o777 for each in files] == [0o400] * 3


def test_the_default_gateway_is_read_from_the_routes(tmp_path: Path) -> None:
    """The gateway is that of the default route; without one no address is trusted."""
    routes = tmp_path / "route"
    routes.write_text(
        HEADER
        + "eth0\t00000000\t010012AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        + "eth0\t000012AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n",
        "ascii",
    )
    assert default_gateways(routes) == {GATEWAY}
    assert default_gateways(tmp_path / "none") == frozenset()


async def status_for(peer: str, **headers: str) -> int:
    """Return the status that a client at this address gets."""
    sent: list[MutableMapping[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/lab", "headers": given, "client": (peer, 40000)}
    await Guard(app, token="right", trusted=frozenset({GATEWAY}))(scope, receive, send)
    return int(sent[0]["status"])


@pytest.mark.parametrize(
    ("peer", "headers", "status"),
    [
        ("172.18.0.7", {"host": "lab:8025"}, 401),
        ("172.18.0.7", {"host": "lab:8025", "authorization": "Bearer right"}, 200),
        ("172.18.0.7", {"host": "127.0.0.1:8025"}, 401),
        (GATEWAY, {"host": "127.0.0.1:8025"}, 200),
        (GATEWAY, {"host": "127.0.0.1:8025", "authorization": "Bearer wrong"}, 401),
        (GATEWAY, {"host": "evil.example:8025"}, 403),
        (GATEWAY, {"host": "127.0.0.1:8025", "origin": "http://evil.example"}, 403),
    ],
)
async def test_the_gateway_counts_as_loopback_and_nobody_else(peer: str, headers: dict[str, str], status: int) -> None:
    """Clients in the network need the token; the machine itself does not, but a web page in its browser gets no access."""
    assert await status_for(peer, **headers) == status
