"""Three stores in three processes, as `pflab up --processes` runs them, used over HTTP.

One more process runs the lab and the users. All share the machine's processors. A single post counts as visible when it
is committed in a store's database, because the store would then show it. The benchmark reads the database, because
frequent requests over HTTP would be most of the store's work.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from node.api.http_client import HttpLine
from pflab.drivers.launch import node_environment, node_order
from pflab.drivers.processes import ProcessLab
from pflab.lab.lab import LabNode
from pflab.runs.run_folder import RunFolder
from topology.file.load import topology_from_text
from traces.labtime import DAY_US, MINUTE_US

DURABILITY: Final = "normal: WAL, a commit survives a killed process, not a power cut; one commit for each stimulus"

POSTS: Final = 10_000
BATCH: Final = 100  # posts in a request and a commit, as in the published figures of other systems
SINGLES: Final = 400
BODY: Final = "x" * 1000
TIMEOUT_S: Final = 60.0
LOOK_S: Final = 0.0002
"""Real time between two checks whether a single post is visible."""
ASK_S: Final = 0.02
"""Real time between two requests that ask whether many posts are visible."""
READY_ROUNDS: Final = 5
LIVE: Final = "SELECT count(*) FROM message WHERE deleted = 0 AND shown = 1"

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

    async def post(self, subjects: Sequence[str]) -> None:
        """Post messages of 1 KB on A, in one request and one commit."""
        messages = [{"subject": subject, "body": BODY, "sender": "kim@bench.test"} for subject in subjects]
        many = len(messages) > 1
        body = {"folder": "Projects", **({"messages": messages} if many else messages[0])}
        await self._ask("A", "POST", "/messages/batch" if many else "/messages", msgspec.json.encode(body))

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
async def _lab(folder: Path, name: str, *, interval: str, holders: str = "A, B, C") -> AsyncIterator[ProcessLab]:
    topology = topology_from_text(TOPOLOGY % (holders, interval))
    async with ProcessLab(topology, folder=RunFolder.create(folder, name)) as lab:
        yield lab


def _cpu_s(lab: ProcessLab) -> dict[str, float]:
    """Return the processor time so far of each store's process, user and system, in seconds."""
    return {name: _spent_s(lab.pid_of(name)) for name in lab.names}


def _spent_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _memory_mib(pid: int) -> float:
    """Return the resident memory of a process, including shared memory, in MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


async def _filled(lab: ProcessLab, users: Users) -> None:
    for batch in range(POSTS // BATCH):
        await users.post([f"post {batch}-{index}" for index in range(BATCH)])


async def _bulk(folder: Path) -> tuple[float, float]:
    """Return posts per second until B and C show all, and microseconds of processor time of all stores for each post."""
    async with _lab(folder, "bulk", interval="0") as lab:
        await lab.coordinator.set_rate(1.0)
        users, before, began_s = Users(lab), _cpu_s(lab), time.perf_counter()
        await _filled(lab, users)
        await users.shown(POSTS)
        took_s = time.perf_counter() - began_s
        spent_s = sum(_cpu_s(lab).values()) - sum(before.values())
        users.close()
        return POSTS / took_s, spent_s / POSTS * 1e6


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


async def _singles(folder: Path) -> tuple[float, float, float, float]:
    """Send each change in its own mail, when the change before it is visible. Return changes per second, p50 and p99 in ms, and
    microseconds of processor time of all stores for each change."""
    took_s: list[float] = []
    async with _lab(folder, "singles", interval="0") as lab:
        await lab.coordinator.set_rate(1.0)
        users, before = Users(lab), _cpu_s(lab)
        others = [Watched(lab, name) for name in ("B", "C")]
        for index in range(SINGLES):
            began_s = time.perf_counter()
            await users.post([f"post {index}"])
            while any(each.count() <= index for each in others):
                time.sleep(LOOK_S)  # noqa: ASYNC251 - the lab has nothing to do meanwhile, and asyncio.sleep takes 1 ms
            took_s.append(time.perf_counter() - began_s)
        spent_s = sum(_cpu_s(lab).values()) - sum(before.values())
        await users.shown(SINGLES)
        users.close()
        for each in others:
            each.close()
    ordered = sorted(took_s)
    p50, p99 = ordered[SINGLES // 2], ordered[SINGLES * 99 // 100]
    return SINGLES / sum(took_s), p50 * 1e3, p99 * 1e3, spent_s / SINGLES * 1e6


async def _cold(folder: Path) -> float:
    """Return posts per second by backfill into a store that gets a replica of a filled folder. A warp skips the waiting
    times, so only the work is measured."""
    async with _lab(folder, "cold", interval="15 min", holders="A, B") as lab:
        users = Users(lab)
        await _filled(lab, users)
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


def figures() -> dict[str, float | str]:
    """Posts of 1 KB into one of three stores until the two others show them: posts/s, changes/s, ms, and processor time of all
    three. The start of a store's process until it is ready, the best of several."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bulk, bulk_us = asyncio.run(_bulk(folder))
        rate, p50, p99, single_us = asyncio.run(_singles(folder))
        cold = asyncio.run(_cold(folder))
        ready_s, ready_cpu_s, ready_mib = asyncio.run(_ready(folder))
    return {
        "bulk posts/s converged (100 a request)": round(bulk),
        "bulk, us of processors a post": round(bulk_us),
        "one-change mails: changes/s visible": round(rate),
        "single post visible, p50 ms": round(p50, 2),
        "single post visible, p99 ms": round(p99, 2),
        "single, us of processors a change": round(single_us),
        f"cold store filled, s for {POSTS:,} posts": round(POSTS / cold, 2),
        "cold store filled, posts/s": round(cold),
        "a store ready, s": round(ready_s, 2),
        "a store ready, s of a processor": round(ready_cpu_s, 2),
        "a store ready, MiB": round(ready_mib, 1),
    }
