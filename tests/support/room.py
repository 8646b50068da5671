"""A class for tests: its server in the event loop of the test, and callers with the keys of trainer and pupils."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from node.api.http_server import HttpServer
from pflab.lessons.classroom import Classroom
from pflab.lessons.course import Lessons
from pflab.room.access import Access
from pflab.room.app import LIMITS, app_of_class
from pflab.room.room import COMMON_LABS, Room
from pflab.scenario.load import scenario_from_text

Json = Any

WAIT_S = 120.0
"""How long a test waits for what must come. A class that is right is seldom slower than a second."""

LESSON = """\
title: A lesson
topology: one-site.yaml
lesson: What happens.
steps:
  - say: {text: A user posts., notes: Say nothing yet.}
  - post: {on: A, folder: Projects, subject: Hello, as: hello}
  - quiz:
      ask: When has B it?
      choices: [at once, after 15 minutes]
      answer: after 15 minutes
      because: A waits.
      notes: Let them vote.
  - until: {mail: content, to: B, within: 16 min}
  - reveal: {text: So it is., notes: Ask who was right.}
  - say: Look.
"""


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Json:
        return json.loads(self.content)


class Event(NamedTuple):
    """A server-sent event."""

    name: str
    id: int
    data: Json


class Person:
    """Somebody who sends requests to a class, each over a connection of its own.

    key: the key, secret or token in the requests.
    """

    def __init__(self, address: tuple[str, int], key: str = "") -> None:
        self.address = address
        self.key = key

    async def ask(
        self,
        method: str,
        path: str,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Answer:
        """Send a request and return its answer.

        content: the body, if it is not JSON.
        """
        reader, writer = await self._connected(method, path, body, headers, content)
        try:
            return await asyncio.wait_for(_answer(reader), WAIT_S)
        finally:
            writer.close()

    async def get(self, path: str = "/room") -> Json:
        answer = await self.ask("GET", path)
        assert answer.status == 200, answer.content
        return answer.json

    async def post(self, path: str, body: Json = None) -> Json:
        answer = await self.ask("POST", path, {} if body is None else body)
        assert answer.status in {200, 201, 204}, answer.content
        return answer.json if answer.content else None

    async def join(self, name: str) -> Person:
        """Join with the key of the class, and return the pupil."""
        return Person(self.address, (await self.post("/room/pupils", {"name": name}))["secret"])

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[AsyncIterator[Event]]:
        """Open the stream of this person, and yield an iterator over its events, which ends with the stream."""
        reader, writer = await self._connected("GET", "/room/stream", None, None, None)
        try:
            status, _ = await asyncio.wait_for(_head(reader), WAIT_S)
            assert status == 200
            yield _events(reader)
        finally:
            writer.close()

    async def _connected(
        self, method: str, path: str, body: Json, headers: Mapping[str, str] | None, content: bytes | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*self.address, limit=1 << 20)
        sent = content if content is not None else b"" if body is None else json.dumps(body).encode()
        fields = {
            "Host": "localhost",
            "Connection": "close",
            "Content-Length": str(len(sent)),
            "Content-Type": "application/json",
            **({"Authorization": f"Bearer {self.key}"} if self.key else {}),
            **(headers or {}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + sent)
        return reader, writer


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    status = int((await reader.readline()).split()[1])
    headers = {}
    while line := (await reader.readline()).strip():
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    return status, headers


async def _answer(reader: asyncio.StreamReader) -> Answer:
    status, headers = await _head(reader)
    return Answer(status, headers, await reader.read())


async def _events(reader: asyncio.StreamReader) -> AsyncIterator[Event]:
    """Yield the events of a chunked stream."""
    text = b""
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        while size := int((await asyncio.wait_for(reader.readline(), WAIT_S)).strip() or b"0", 16):
            text += await reader.readexactly(size)
            await reader.readexactly(2)
            while b"\n\n" in text:
                block, _, text = text.partition(b"\n\n")
                fields = dict(line.split(": ", 1) for line in block.decode().splitlines())
                if "event" in fields:
                    yield Event(fields["event"], int(fields["id"]), json.loads(fields["data"]))


class Class(NamedTuple):
    """A class that is open.

    trainer: sends requests with the trainer's token.
    door: sends requests with the key by which pupils join.
    stranger: sends requests without a key.
    """

    room: Room
    trainer: Person
    door: Person
    stranger: Person


@asynccontextmanager
async def class_open(lesson: str = LESSON, *, forks: int = 2, **options: Any) -> AsyncIterator[Class]:
    """Serve a class whose course is one lesson, `mine`."""
    classroom = Classroom(lambda: Lessons({"mine": scenario_from_text(lesson)}), most=COMMON_LABS + forks)
    room = Room(classroom, forks=forks, **options)
    server = HttpServer(app_of_class(room), check=Access(room), limits=LIMITS)
    address = await server.start()
    room.invitation = f"http://{address[0]}:{address[1]}/class#{room.key}"
    try:
        yield Class(room, Person(address, room.trainer_token), Person(address, room.key), Person(address))
    finally:
        await server.stop()
        await room.close()
