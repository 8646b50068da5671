"""Several clients of one folder at once, as Dovecot's imaptest does it: each follows the answers, and all must agree.

A client keeps the folder as the answers tell it: EXISTS adds messages at the end, EXPUNGE removes one, FETCH names one by its
number. So a wrong number shows as another UID, other flags or another mail at that number.
"""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path
from typing import Any, Final

import pytest

from pflab.drivers.live import LiveLab
from pflab.runs.run_folder import RunFolder
from tests.support.lab_actions import subjects
from tests.support.samples import sampled
from tests.support.topologies import TWO_STORES
from topology.file.load import topology_from_text

pytest.importorskip("node.imap.listener")

pytestmark = pytest.mark.live

TOKEN: Final = "the-token-of-this-lab"
BOX: Final = '"#public/Projects"'
CLIENTS: Final = 5
ROUNDS: Final = 60
PATIENCE_S: Final = 60
FLAGS: Final = (r"\Seen", r"\Flagged", r"\Answered", r"\Draft", r"\Deleted", r"\Deleted")
KEEPS_NUMBERS: Final = re.compile(r"(FETCH|STORE|SEARCH) ")
"""After such a command no answer may have an EXPUNGE (RFC 3501, 7.4.1)."""


class Client:
    """One connection, and the folder as its answers tell it. uids: the UID at each number; None if it was not told yet."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bodies: dict[int, bytes]) -> None:
        self._reader = reader
        self._writer = writer
        self._bodies = bodies
        self._tag = 0
        self.uids: list[int | None] = []
        self.flags: dict[int, frozenset[bytes]] = {}
        self._gone: set[int] = set()

    def close(self) -> None:
        self._writer.close()

    async def do(self, command: str, literal: bytes | None = None) -> None:
        self._tag += 1
        tag = b"%d " % self._tag
        line = (
            tag + command.encode() + (b"" if literal is None else b" {%d+}\r\n%b" % (len(literal), literal)) + b"\r\n"
        )
        self._writer.write(line)
        while not (answer := await self._line()).startswith(tag):
            if answer.startswith(b"+"):
                self._writer.write(b"DONE\r\n")
            else:
                self._take(command, answer)
        assert answer.startswith(tag + b"OK"), (command, answer)

    async def select(self) -> None:
        self.uids, self.flags = [], {}
        await self.do(f"SELECT {BOX}")

    async def _line(self) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            line = await self._reader.readline()
            while found := re.search(rb"\{(\d+)\}\r\n\Z", line):
                line += await self._reader.readexactly(int(found[1])) + await self._reader.readline()
        assert line
        return line

    def _take(self, command: str, answer: bytes) -> None:
        found = re.match(rb"\* (\d+) (EXISTS|EXPUNGE|FETCH)", answer)
        if found is None:
            return
        number, kind = int(found[1]), found[2]
        if kind == b"EXISTS":
            assert number >= len(self.uids), (command, answer)
            self.uids += [None] * (number - len(self.uids))
            return
        assert 1 <= number <= len(self.uids), (command, answer)
        if kind == b"EXPUNGE":
            assert not KEEPS_NUMBERS.match(command), (command, answer)
            uid = self.uids.pop(number - 1)
            if uid is not None:
                self._gone.add(uid)
        else:
            self._fetched(number, answer)

    def _fetched(self, number: int, answer: bytes) -> None:
        named = re.search(rb"UID (\d+)", answer)
        known = self.uids[number - 1]
        uid = int(named[1]) if named else known
        if uid is None:
            return  # flags of a message whose UID was not told yet
        assert known in {None, uid}, (known, answer)
        assert uid not in self._gone, answer
        self.uids[number - 1] = uid
        told = [each for each in self.uids if each is not None]
        assert told == sorted(set(told)), answer
        if flags := re.search(rb"FLAGS \(([^)]*)\)", answer):
            self.flags[uid] = frozenset(flags[1].split())
        if mail := re.search(rb"BODY\[\] \{([1-9]\d*)\}\r\n", answer):  # none of a message that is gone
            body = answer[mail.end() : mail.end() + int(mail[1])]
            assert self._bodies.setdefault(uid, body) == body


def any_command(draw: random.Random, client: Client) -> tuple[str, bytes | None]:
    """Return a command, and the literal after it."""
    last = len(client.uids)
    some = f"{draw.randint(1, last)}:{draw.randint(1, last)}" if last else "1"
    flags = f"{draw.choice(['+', '-', ''])}FLAGS{draw.choice(['', '.SILENT'])} ({draw.choice(FLAGS)})"
    letter = f"Subject: {draw.randrange(10**9)}\r\n\r\n{draw.randrange(10**9)}\r\n".encode()
    known = [each for each in client.uids if each is not None]
    uid = draw.choice(known) if known else 1
    commands = ["UID FETCH 1:* (UID FLAGS)", f"UID FETCH {uid} (UID BODY.PEEK[])", f"UID STORE {uid}:* {flags}", "NOOP"]
    commands += ["EXPUNGE", "IDLE", "CHECK", f"APPEND {BOX}", f"APPEND {BOX}", f"UID COPY {uid}:* {BOX}"]
    if last:
        commands += [f"FETCH {some} (UID FLAGS)", f"FETCH {some} (UID BODY.PEEK[])", f"STORE {some} {flags}"]
    command = draw.choice(commands)
    if "COPY" in command and last > 30:
        command = "EXPUNGE"
    return command, letter if command.startswith("APPEND") else None


@pytest.mark.parametrize("seed", sampled([1, 2, 3], 3))
async def test_clients_of_one_folder_agree(seed: int, tmp_path: Path) -> None:
    """UIDs ascend, no number and no UID changes its message, and after NOOP all clients have the same UIDs and flags."""
    folder = RunFolder.create(tmp_path / "runs", "imap")
    draws = [random.Random(f"{seed}-{number}") for number in range(CLIENTS)]
    bodies: dict[int, bytes] = {}
    async with LiveLab(topology_from_text(TWO_STORES), folder=folder, imap_token=TOKEN) as lab:
        address: Any = lab.imap_of("A")
        clients = [Client(*await asyncio.open_connection(*address), bodies) for _ in draws]
        for client in clients:
            await client.do(f"LOGIN kim {TOKEN}")
            await client.select()

        async def work(client: Client, draw: random.Random) -> None:
            for _ in range(ROUNDS // 4):
                await client.do(*any_command(draw, client))

        for _ in range(4):
            await asyncio.gather(*map(work, clients, draws))
            for client in clients:
                await client.do("NOOP")
                await client.do("UID FETCH 1:* (UID FLAGS)")
            shown = [(each.uids, [each.flags[uid] for uid in each.uids if uid is not None]) for each in clients]
            assert all(each == shown[0] for each in shown)
            assert len(shown[0][0]) == len(subjects(lab, "A"))
        assert bodies
        for client in clients:
            client.close()
