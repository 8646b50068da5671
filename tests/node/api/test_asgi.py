"""Requests and answers by ASGI: bodies in pieces, clients that go, and streams that end with their client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from node.api.asgi import ClientDisconnect, Message, Request, Response, StreamingResponse

SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/",
    "query_string": b"a=1",
    "headers": [(b"content-type", b"text/plain")],
}


def request(*messages: Message) -> Request:
    left = list(messages)

    async def receive() -> Message:
        return left.pop(0)

    return Request(SCOPE, receive)


async def sent(answer: Response) -> list[Message]:
    """Return the messages of an answer whose client stays."""
    messages: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        messages.append(message)

    await answer(SCOPE, receive, send)
    return messages


async def test_a_body_comes_in_pieces_and_can_be_read_again() -> None:
    """A request has its whole body, however it arrives, and each time that it is asked for."""
    asked = request({"type": "http.request", "body": b"ab", "more_body": True}, {"type": "http.request", "body": b"c"})
    assert [await asked.body(), await asked.body()] == [b"abc", b"abc"]
    assert (asked.method, asked.query, asked.headers["content-type"]) == ("POST", "a=1", "text/plain")


async def test_a_client_that_goes_leaves_no_body() -> None:
    """Half a body is never taken for a whole one."""
    asked = request({"type": "http.request", "body": b"ab", "more_body": True}, {"type": "http.disconnect"})
    with pytest.raises(ClientDisconnect):
        await asked.body()


@pytest.mark.parametrize(
    ("answer", "status", "fields"),
    [
        (Response("é", media_type="text/plain; charset=utf-8"), 200, {b"content-length": b"2"}),
        (Response(b"", 204), 204, {}),
        (Response(status=304, headers={"ETag": '"1"'}), 304, {b"etag": b'"1"'}),
        (Response(status=303, headers={"Location": "/"}), 303, {b"location": b"/", b"content-length": b"0"}),
    ],
)
async def test_an_answer_says_how_long_it_is(answer: Response, status: int, fields: dict[bytes, bytes]) -> None:
    """Each answer has its length, except those that have no body by their status."""
    start, _ = await sent(answer)
    assert start["status"] == status
    headers = dict(start["headers"])
    assert headers.pop(b"content-type", b"text/plain; charset=utf-8") == b"text/plain; charset=utf-8"
    assert headers == fields


async def _parts(ended: list[str], *, forever: bool = False) -> AsyncGenerator[bytes, None]:
    try:
        yield b"one"
        yield b"two"
        if forever:
            await asyncio.Event().wait()
    finally:
        ended.append("ended")


async def test_a_stream_ends_with_its_last_part() -> None:
    """A stream sends its parts and then an end."""
    ended: list[str] = []
    messages = await sent(StreamingResponse(_parts(ended), {"Cache-Control": "no-store"}, "text/event-stream"))
    start, *bodies = messages
    assert dict(start["headers"]) == {b"cache-control": b"no-store", b"content-type": b"text/event-stream"}
    assert [(each["body"], each.get("more_body", False)) for each in bodies] == [
        (b"one", True),
        (b"two", True),
        (b"", False),
    ]
    assert ended == ["ended"]


@pytest.mark.parametrize("by", ["disconnect", "cancel"])
async def test_a_stream_ends_with_its_client(by: str) -> None:
    """When the client goes or the request is cancelled, the stream releases what it holds before the request ends."""
    ended: list[str] = []
    two, gone = asyncio.Event(), asyncio.Event()

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message.get("body") == b"two":
            two.set()

    answering: Any = asyncio.ensure_future(
        StreamingResponse(_parts(ended, forever=True), {}, "text/event-stream")(SCOPE, receive, send)
    )
    await two.wait()
    if by == "disconnect":
        gone.set()
        await answering
    else:
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
    assert ended == ["ended"]


async def test_an_error_of_a_stream_is_an_error_of_its_request() -> None:
    """A stream that fails is not taken for one that ended."""

    async def failing() -> AsyncGenerator[bytes, None]:
        yield b"one"
        raise RuntimeError("the stream failed")

    with pytest.raises(RuntimeError, match="the stream failed"):
        await sent(StreamingResponse(failing(), {}, "text/event-stream"))
