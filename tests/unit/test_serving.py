"""The HTTP server of a node or a lab: how it ends."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from node.serving import HttpServer


async def streaming(_: Any, __: Any, send: Any) -> None:
    """An answer that has no end, and takes no notice of who has gone."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"first", "more_body": True})
    await asyncio.Event().wait()


async def thinking(_: Any, __: Any, ___: Any) -> None:
    """An answer that never comes."""
    await asyncio.Event().wait()


@pytest.mark.parametrize("app", [streaming, thinking])
async def test_what_has_no_end_is_cut_without_a_word(app: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A server ends though a request goes on, and logs neither an error nor a traceback."""
    caplog.set_level(logging.WARNING)
    server = HttpServer(app)
    reader, writer = await asyncio.open_connection(*await server.start())
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await writer.drain()
    if app is streaming:
        await reader.readuntil(b"first")
    await server.stop()
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await reader.readexactly(1_000_000)
    writer.close()
    assert not caplog.records
