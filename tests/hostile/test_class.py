"""Pupils of a class who send nonsense, flood, guess, or do not read: nobody else notices."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from contextlib import suppress
from itertools import count

import pytest

from pflab.room.access import PUPIL_BODY_BYTES
from pflab.room.pupils import BURST, LAB_BYTES, MOST_LAB_STREAMS
from tests.support.room import class_open

pytestmark = pytest.mark.live

NONSENSE = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'{"step": 1e400, "choice": "at once"}',
    b'{"step": 1, "choice": {"toString": 1}}',
    b'{"step": 1, "choice": "<script>alert(1)</script>"}',
    b'{"step": 1, "choice": "\\ud800"}',
    b'{"step": 99999999999999999999, "choice": "at once"}',
    b"\xff\xfe" * 100,
    b"[" * 100_000,
]


async def test_nonsense_is_refused_in_words() -> None:
    """Whatever a pupil sends as a vote, a name or a path, the answer is a refusal in words, never an internal error, and the
    class goes on."""
    async with class_open() as opened:
        kim, ada = await opened.door.join("Kim"), await opened.door.join("Ada")
        await opened.trainer.post("/room/lesson", {"name": "mine"})
        await opened.trainer.post("/room/next", {"seen": 0})
        for content in NONSENSE:
            for person, path in ((kim, "/room/votes"), (opened.door, "/room/pupils")):
                answer = await person.ask("POST", path, content=content)
                assert answer.status in {413, 422, 429}, (content[:80], answer)
                assert json.loads(answer.content)["detail"]
        assert (await opened.trainer.get())["voted"] == 0
        await ada.post("/room/votes", {"step": 1, "choice": "at once"})
        assert (await opened.trainer.get())["voted"] == 1


async def test_a_flooding_pupil_is_held_back_alone() -> None:
    """A pupil who votes without a pause is refused after BURST votes, while the vote of another one counts."""
    async with class_open() as opened:
        kim, ada = await opened.door.join("Kim"), await opened.door.join("Ada")
        await opened.trainer.post("/room/lesson", {"name": "mine"})
        await opened.trainer.post("/room/next", {"seen": 0})
        vote = {"step": 1, "choice": "at once"}
        flood = asyncio.gather(*(kim.ask("POST", "/room/votes", vote) for _ in range(5 * BURST)))
        await ada.post("/room/votes", {"step": 1, "choice": "after 15 minutes"})
        statuses = Counter(answer.status for answer in await flood)
        assert statuses.keys() == {204, 429}
        assert statuses[429] > 2 * BURST
        assert (await opened.trainer.get())["votes"] == {"at once": 1, "after 15 minutes": 1}
        assert (await ada.get())["you"]["vote"] == "after 15 minutes"


async def test_large_bodies_are_refused() -> None:
    """A pupil cannot send megabytes, with a length or without, not even to its own lab; so cannot who joins."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        await opened.trainer.post("/room/lesson", {"name": "mine"})
        own = (await kim.post("/room/forks"))["path"]
        large = b"x" * (PUPIL_BODY_BYTES + 1)
        for person, path in ((kim, "/room/votes"), (opened.door, "/room/pupils"), (kim, f"{own}/nodes/A/messages")):
            with suppress(ConnectionError):  # the server need not read what it refuses
                assert (await person.ask("POST", path, content=large)).status == 413
        chunked = {"Transfer-Encoding": "chunked"}
        answer = await kim.ask("POST", "/room/votes", headers=chunked, content=b"0\r\n\r\n")
        assert answer.status in {400, 413}
        assert (await kim.get())["state"] == "text"


async def test_a_lab_of_a_pupil_has_an_end() -> None:
    """A pupil cannot fill the memory or the disk of the server with posts in its own lab, nor with backups of it. A full lab
    can be read and taken again, and the labs of others go on."""
    times = count()
    async with class_open(monotonic=lambda: 10.0 * next(times)) as opened:  # the pace is not what limits
        kim, ada = await opened.door.join("Kim"), await opened.door.join("Ada")
        await opened.trainer.post("/room/lesson", {"name": "mine"})
        post = {"folder": "Projects", "subject": "Mine", "body": "x" * (PUPIL_BODY_BYTES - 1000)}
        for path, body in (("/nodes/A/messages", post), ("/lab/servers/A/backup", {})):
            own = (await kim.post("/room/forks"))["path"]
            most = 1 + LAB_BYTES // (PUPIL_BODY_BYTES - 1000)
            statuses = [(await kim.ask("POST", f"{own}{path}", body)).status for _ in range(most)]
            assert statuses[0] in {200, 201}
            assert statuses[-1] == 409
            assert (await kim.ask("GET", f"{own}/lab")).status == 200
            other = (await ada.post("/room/forks"))["path"]
            assert (await ada.ask("POST", f"{other}/nodes/A/messages", post)).status in {200, 201}


async def test_guessed_secrets_and_tokens_are_refused() -> None:
    """Neither a guess nor a part of a right token lets anybody in, and guesses lock nobody out."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        rng = random.Random(41)
        guesses = [opened.room.trainer_token[:-1], opened.room.key + "x", kim.key.upper(), "", "é", "x" * 199]
        guesses += [f"{rng.getrandbits(96):x}" for _ in range(30)]
        for guess in guesses:
            for path in ("/room", "/room/pupils", "/room/stream"):
                answer = await opened.stranger.ask("GET", path, headers={"Authorization": f"Bearer {guess}"})
                assert answer.status in {401, 403}, guess
        assert (await opened.stranger.ask("POST", "/room/pupils", {"name": "x"})).status == 401
        assert (await kim.get())["you"]["name"] == "Kim"


async def test_pupils_who_leave_in_the_middle_disturb_nobody() -> None:
    """Pupils hang up in the middle of a request or a stream, or open a stream and never read. The others follow the lesson to
    its end, and the places of those who left are free."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        host, port = opened.trainer.address
        halves = []
        for number in range(20):
            leaver = await opened.door.join(f"leaver {number}")
            head = f"Host: localhost\r\nAuthorization: Bearer {leaver.key}\r\n"
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(f"GET /room/stream HTTP/1.1\r\n{head}\r\n".encode())
            if number % 2:
                await reader.readline()
                writer.transport.abort()
            else:
                halves.append(writer)  # open, and never read
            _, half = await asyncio.open_connection(host, port)
            half.write(f"POST /room/votes HTTP/1.1\r\n{head}Content-Length: 50\r\n\r\n{{".encode())
            await half.drain()
            half.transport.abort()
        async with kim.stream() as events:
            assert (await anext(events)).data["state"] == "waiting"
            await opened.trainer.post("/room/lesson", {"name": "mine"})
            for step in range(4):
                await opened.trainer.post("/room/next", {"seen": step})
            steps = []
            async for event in events:
                if event.name == "step":
                    steps.append(event.data["step"])
                    if event.data["state"] == "ended":
                        break
        assert sorted(set(steps) - {None}) == [0, 1, 2, 3]
        for writer in halves:
            writer.transport.abort()
        while any(each["here"] for each in await opened.trainer.get("/room/pupils")):
            pass


async def test_a_pupil_has_few_streams_of_labs() -> None:
    """A pupil cannot take the streams that a server has for an address, behind which all others may be: beyond
    MOST_LAB_STREAMS of labs it is refused, until one of them ends."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        lab = (await opened.trainer.post("/room/lesson", {"name": "mine"}))["lab"]
        history = (await kim.get(f"{lab}/lab/clock"))["history"]
        streams = [await asyncio.open_connection(*kim.address) for _ in range(MOST_LAB_STREAMS)]
        path = f"/labs/stream?lab=0@{history}@{lab}"
        for reader, writer in streams:
            writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {kim.key}\r\n\r\n".encode())
            assert b" 200 " in await reader.readline()
        assert (await kim.ask("GET", path)).status == 429
        for _, writer in streams:
            writer.close()
        while await opened.trainer.get() and any(pupil.lab_streams for pupil in opened.room.pupils):
            pass


async def test_names_and_votes_are_data() -> None:
    """A name with markup comes back as JSON text, never as a page, and a browser must not guess a type."""
    async with class_open() as opened:
        name = "<img src=x onerror=alert(1)>"
        kim = await opened.door.join(name)
        answer = await kim.ask("GET", "/room")
        assert answer.json["you"]["name"] == name
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_lab_that_plays_for_a_century_holds_nobody_up() -> None:
    """While a pupil's own lab plays for a hundred years, others vote and the trainer goes on. The trainer can remove the pupil,
    and the lab ends."""
    async with class_open() as opened:
        kim, ada = await opened.door.join("Kim"), await opened.door.join("Ada")
        await opened.trainer.post("/room/lesson", {"name": "mine"})
        await opened.trainer.post("/room/next", {"seen": 0})
        own = (await kim.post("/room/forks"))["path"]
        century = asyncio.create_task(kim.ask("POST", f"{own}/lab/clock/advance", {"to": "36500 d"}))
        await ada.post("/room/votes", {"step": 1, "choice": "at once"})
        await opened.trainer.post("/room/next", {"seen": 1})
        assert (await ada.get())["tally"] == {"at once": 1, "after 15 minutes": 0}
        assert not century.done()
        (kims, _) = await opened.trainer.get("/room/pupils")
        assert (await opened.trainer.ask("DELETE", f"/room/pupils/{kims['id']}")).status == 204
        assert (await century).status != 200
        assert (await opened.trainer.ask("GET", f"{own}/lab")).status == 404
