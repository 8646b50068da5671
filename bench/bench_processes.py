"""Three stores in three processes, as `pflab up --processes` runs them, used over HTTP.

One more process runs the lab and the users. All share the machine's processors. A single post counts as visible when it
is committed in a store's database, because the store would then show it. The benchmark reads the database, because
frequent requests over HTTP would be most of the store's work.

Bytes written and sent are those of all three stores, for each byte of the posts' bodies: what the disk gets (`write_bytes` of
/proc/PID/io; 0 if the temporary folder is in memory), what the stores write to files (`wchar`, without SMTP and HTTP), and the
mails sent, without the SMTP dialogue.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from http import HTTPStatus
from itertools import chain, repeat
from pathlib import Path
from typing import Final, Literal

import msgspec

from node.api.http_client import HttpLine
from pflab.drivers.launch import node_environment, node_order
from pflab.drivers.processes import ProcessLab
from pflab.lab.lab import LabNode
from pflab.runs.run_folder import RunFolder
from topology.file.load import topology_from_text
from traces.events import HopSent, MailSubmitted
from traces.labtime import DAY_US, MINUTE_US

Durability = Literal["full", "normal"]

POSTS: Final = 10_000
BATCH: Final = 100  # posts in a request and a commit, as in the published figures of other systems
SINGLES: Final = 400
BODY_BYTES: Final = 1_000
LARGE_POSTS: Final = 1_000
LARGE_BYTES: Final = 32_000
USERS: Final = 8
MANY_USERS: Final = 64
CONCURRENT: Final = 2_000
TIMEOUT_S: Final = 60.0
LOOK_S: Final = 0.0002
"""Real time between two checks whether a single post is visible."""
ASK_S: Final = 0.02
"""Real time between two requests that ask whether many posts are visible."""
READY_ROUNDS: Final = 5
LIVE: Final = "SELECT coalesce(sum(messages), 0) FROM message_count"
"""The number of messages that a store shows. To count their rows would take longer with each message."""

TOPOLOGY: Final = """
organization: Bench
sites: [SEA]
servers: {A: {}, B: {}, C: {}}
folders: {Projects: {replicas: [%s]}}
settings: {Replication Always Interval: %s}
"""
TICKS: Final = os.sysconf("SC_CLK_TCK")


class Users:
    """The users of the lab, with one open connection to each store."""

    def __init__(self, lab: ProcessLab) -> None:
        self._lab = lab
        self._lines = {name: HttpLine(_address(lab.url_of(name)), lab.token) for name in lab.names}

    async def post(self, subjects: Sequence[str], body_bytes: int = BODY_BYTES) -> None:
        """Post messages on A, in one request and one commit."""
        text = "x" * body_bytes
        messages = [{"subject": subject, "body": text, "sender": "kim@bench.test"} for subject in subjects]
        many = len(messages) > 1
        body = {"folder": "Projects", **({"messages": messages} if many else messages[0])}
        await self._ask("A", "POST", "/messages/batch" if many else "/messages", msgspec.json.encode(body))

    async def go_wrong(self) -> None:
        """Send requests to A that fail, until cancelled."""
        body = msgspec.json.encode({"folder": "Nowhere", "subject": "wrong"})
        while True:
            status, answer = await self._lines["A"].ask("POST", "/nodes/A/messages", body, timeout_s=TIMEOUT_S)
            assert status == HTTPStatus.NOT_FOUND, answer

    async def dawdle(self) -> None:
        """Send the head of a request to A, a byte at a time, until cancelled."""
        _, writer = await asyncio.open_connection(*_address(self._lab.url_of("A")))
        with closing(writer):
            for byte in chain(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ", repeat(ord("x"))):
                writer.write(bytes((byte,)))
                await asyncio.sleep(ASK_S / 10)

    async def count(self, name: str) -> int:
        """Return how many posts a store shows."""
        answer = await self._ask(name, "GET", "/messages/count?folder=Projects")
        return int(msgspec.json.decode(answer)["count"])

    async def shown(self, count: int) -> None:
        """Wait until B and C show `count` posts."""
        for name in ("B", "C"):
            while await self.count(name) < count:  # noqa: ASYNC110 - the stores are other processes
                await asyncio.sleep(ASK_S)

    async def _ask(self, name: str, method: str, path: str, body: bytes = b"") -> bytes:
        status, answer = await self._lines[name].ask(method, f"/nodes/{name}{path}", body, timeout_s=TIMEOUT_S)
        assert status < 300, answer
        return answer

    def close(self) -> None:
        for line in self._lines.values():
            line.close()


def _address(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").rpartition(":")
    return host, int(port)


@asynccontextmanager
async def three_stores(
    folder: Path, name: str, durability: Durability, *, interval: str = "0", holders: str = "A, B, C"
) -> AsyncIterator[ProcessLab]:
    topology = topology_from_text(TOPOLOGY % (holders, interval))
    async with ProcessLab(topology, folder=RunFolder.create(folder, name), durability=durability) as lab:
        yield lab


def cpu_s(lab: ProcessLab) -> dict[str, float]:
    """Return the processor time so far of each store's process, user and system, in seconds."""
    return {name: _spent_s(lab.pid_of(name)) for name in lab.names}


def _spent_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _memory_mib(pid: int) -> float:
    """Return the resident memory of a process, including shared memory, in MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _io_bytes(lab: ProcessLab, field: str) -> int:
    """Return a field of /proc/PID/io, summed over the stores' processes."""
    texts = (Path(f"/proc/{lab.pid_of(name)}/io").read_text("ascii") for name in lab.names)
    return sum(int(line.split()[1]) for text in texts for line in text.splitlines() if line.startswith(f"{field}:"))


async def filled(users: Users, posts: int, body_bytes: int = BODY_BYTES) -> None:
    for batch in range(posts // BATCH):
        await users.post([f"post {batch}-{index}" for index in range(BATCH)], body_bytes)


@dataclass(frozen=True, slots=True)
class Bulk:
    """What posting on A cost until B and C showed all.

    cpu_us: of all stores, for each post.
    memory_mib: of the largest process. The rest: bytes of all stores for each byte of the posts' bodies.
    """

    posts_per_s: float
    cpu_us: float
    memory_mib: float
    to_disk: float
    to_files: float
    sent: float


async def bulk(folder: Path, durability: Durability, *, posts: int, body_bytes: int = BODY_BYTES) -> Bulk:
    """Post messages on A, several in a request."""
    async with three_stores(folder, "bulk", durability) as lab:
        await lab.set_rate(1.0)
        users, cpu_before, began_s = Users(lab), cpu_s(lab), time.perf_counter()
        to_disk, to_files = _io_bytes(lab, "write_bytes"), _io_bytes(lab, "wchar")
        await filled(users, posts, body_bytes)
        await users.shown(posts)
        took_s = time.perf_counter() - began_s
        spent_s = sum(cpu_s(lab).values()) - sum(cpu_before.values())
        body = posts * body_bytes
        to_disk, to_files = _io_bytes(lab, "write_bytes") - to_disk, _io_bytes(lab, "wchar") - to_files
        memory_mib = max(_memory_mib(lab.pid_of(name)) for name in lab.names)
        users.close()
        await lab.catch_up()
        sent = sum(event.size for event in lab.events() if isinstance(event, HopSent))
        return Bulk(posts / took_s, spent_s / posts * 1e6, memory_mib, to_disk / body, to_files / body, sent / body)


async def _concurrent(
    folder: Path, durability: Durability, count: int, *, beside_wrong: bool = False
) -> tuple[float, float, float]:
    """Let several users post single messages on A, each the next one when the last is accepted. Return changes per second until
    B and C show all, microseconds of processor time of all stores for each change, and the changes that share a mail.

    beside_wrong: one more user sends only requests that fail, and another sends its request very slowly.
    """
    async with three_stores(folder, f"users {count} {beside_wrong}", durability) as lab:
        await lab.set_rate(1.0)
        users, left, before = Users(lab), iter(range(CONCURRENT)), cpu_s(lab)

        async def work() -> None:
            for index in left:
                await users.post([f"post {index}"])

        began_s = time.perf_counter()
        others = [asyncio.create_task(each) for each in (users.go_wrong(), users.dawdle())] if beside_wrong else []
        await asyncio.gather(*(work() for _ in range(count)))
        await users.shown(CONCURRENT)
        took_s = time.perf_counter() - began_s
        for other in others:
            other.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        spent_s = sum(cpu_s(lab).values()) - sum(before.values())
        users.close()
        await lab.catch_up()
        mails = sum(isinstance(event, MailSubmitted) and event.node == "A" for event in lab.events())
        return CONCURRENT / took_s, spent_s / CONCURRENT * 1e6, CONCURRENT / mails


class Watched:
    """A store's database, read from another process."""

    def __init__(self, lab: ProcessLab, name: str) -> None:
        self._conn = sqlite3.connect(f"file:{lab.folder}/databases/{name}.sqlite?mode=ro", uri=True)
        self._version = -1
        self._count = 0

    def count(self) -> int:
        """Return how many posts are committed."""
        (version,) = self._conn.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._version = version
            (self._count,) = self._conn.execute(LIVE).fetchone()
        return self._count

    def close(self) -> None:
        self._conn.close()


async def _singles(folder: Path, durability: Durability) -> tuple[float, float, float, float]:
    """Send each change in its own mail, when the change before it is visible. Return changes per second, p50 and p99 in ms, and
    microseconds of processor time of all stores for each change."""
    took_s: list[float] = []
    async with three_stores(folder, "singles", durability) as lab:
        await lab.set_rate(1.0)
        users, before = Users(lab), cpu_s(lab)
        others = [Watched(lab, name) for name in ("B", "C")]
        for index in range(SINGLES):
            began_s = time.perf_counter()
            await users.post([f"post {index}"])
            while any(each.count() <= index for each in others):
                time.sleep(LOOK_S)  # noqa: ASYNC251 - the lab has nothing to do meanwhile, and asyncio.sleep takes 1 ms
            took_s.append(time.perf_counter() - began_s)
        spent_s = sum(cpu_s(lab).values()) - sum(before.values())
        await users.shown(SINGLES)
        users.close()
        for each in others:
            each.close()
    ordered = sorted(took_s)
    p50, p99 = ordered[SINGLES // 2], ordered[SINGLES * 99 // 100]
    return SINGLES / sum(took_s), p50 * 1e3, p99 * 1e3, spent_s / SINGLES * 1e6


async def _cold(folder: Path, durability: Durability) -> float:
    """Return posts per second by backfill into a store that gets a replica of a filled folder. A warp skips the waiting
    times, so only the work is measured."""
    async with three_stores(folder, "cold", durability, interval="15 min", holders="A, B") as lab:
        users = Users(lab)
        await filled(users, POSTS)
        await lab.advance(lab.now + 30 * MINUTE_US)
        began_s = time.perf_counter()
        await lab.do("A", lambda node, now: node.change_folder(now, "Projects", replicas=["A", "B", "C"]))
        full = await lab.until(lambda: lab.read("C", _held) >= POSTS, lab.now + 4 * DAY_US)
        assert full, "the new replica was not filled within four days of lab time"
        took_s = time.perf_counter() - began_s
        users.close()
        return POSTS / took_s


def _held(node: LabNode) -> int:
    """Return how many posts a store shows; 0 without a replica."""
    held = any(each.path == "Projects" and each.held_here for each in node.folders())
    return node.count("Projects") if held else 0


async def _ready(folder: Path) -> tuple[float, float, float]:
    """Start a store's process several times. Return the least seconds until it listens, processor seconds, and MiB."""
    best = (float("inf"), float("inf"), float("inf"))
    (folder / "one.yaml").write_text(TOPOLOGY % ("A, B, C", "15 min"), "utf-8")
    (folder / "secret").write_text("00" * 32, "utf-8")
    for number in range(READY_ROUNDS):
        order = node_order(
            *("A", "--topology", str(folder / "one.yaml"), "--lab-secret-file", str(folder / "secret")),
            *("--data", str(folder / f"ready {number}"), "--leashed"),
        )
        began_s = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            *order, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=node_environment()
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert await process.stdout.readline(), "the store did not start"
        took_s = time.perf_counter() - began_s
        found = (took_s, _spent_s(process.pid), _memory_mib(process.pid))
        best = min(best[0], found[0]), min(best[1], found[1]), min(best[2], found[2])
        process.stdin.close()
        await process.wait()
    return best


def figures(durability: Durability) -> dict[str, float | str]:
    """Posts of 1 KB into one of three stores until the two others show them: posts/s, changes/s, ms, and processor time of all
    three. The start of a store's process until it is ready, the best of several."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = asyncio.run(bulk(folder, durability, posts=POSTS))
        large = asyncio.run(bulk(folder, durability, posts=LARGE_POSTS, body_bytes=LARGE_BYTES))
        rate, p50, p99, single_us = asyncio.run(_singles(folder, durability))
        few, few_us, few_a_mail = asyncio.run(_concurrent(folder, durability, USERS))
        beside, _, _ = asyncio.run(_concurrent(folder, durability, USERS - 1, beside_wrong=True))
        many, many_us, many_a_mail = asyncio.run(_concurrent(folder, durability, MANY_USERS))
        cold = asyncio.run(_cold(folder, durability))
        ready_s, ready_cpu_s, ready_mib = asyncio.run(_ready(folder))
    return {
        "bulk posts/s converged (100 a request)": round(small.posts_per_s),
        "bulk, us of processors a post": round(small.cpu_us),
        f"bulk, MiB of the largest store's process after {POSTS:,} posts": round(small.memory_mib, 1),
        "bulk, bytes written to disk for each byte posted": round(small.to_disk, 1),
        "bulk, bytes written to files for each byte posted": round(small.to_files, 1),
        "bulk, bytes sent for each byte posted": round(small.sent, 1),
        "bulk of 32 KB, posts/s converged (100 a request)": round(large.posts_per_s),
        "bulk of 32 KB, us of processors a post": round(large.cpu_us),
        "bulk of 32 KB, bytes written to disk for each byte posted": round(large.to_disk, 1),
        "bulk of 32 KB, bytes sent for each byte posted": round(large.sent, 1),
        "one-change mails: changes/s visible": round(rate),
        f"{USERS} users: changes/s visible": round(few),
        f"{USERS} users, us of processors a change": round(few_us),
        f"{USERS} users, changes in each mail": round(few_a_mail, 1),
        f"{USERS - 1} users beside a wrong and a slow one: changes/s visible": round(beside),
        f"the same, to {USERS} users": round(beside / few, 2),
        f"{MANY_USERS} users: changes/s visible": round(many),
        f"{MANY_USERS} users, us of processors a change": round(many_us),
        f"{MANY_USERS} users, changes in each mail": round(many_a_mail, 1),
        "single post visible, p50 ms": round(p50, 2),
        "single post visible, p99 ms": round(p99, 2),
        "single, us of processors a change": round(single_us),
        f"cold store filled, s for {POSTS:,} posts": round(POSTS / cold, 2),
        "cold store filled, posts/s": round(cold),
        "a store ready, s": round(ready_s, 2),
        "a store ready, s of a processor": round(ready_cpu_s, 2),
        "a store ready, MiB": round(ready_mib, 1),
    }
