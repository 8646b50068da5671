"""The speed of the SMTP libraries and of SQLite alone on this machine, which limits the figures of the other benchmarks.

Plain mail goes from aiosmtplib to aiosmtpd by DATA, as in their documentation, to a handler that does nothing. The
`sqlite3` module inserts rows of the size of a post into a table with an index on the number.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Final

import aiosmtplib
from aiosmtpd import smtp

DURABILITY: Final = (
    "mail: nothing is stored; rows: WAL, with no fsync at a commit (normal) or one at each commit (full)"
)

ITEM: Final = bytes(range(256)) * 5 + bytes(140)  # a post of 1 KB is an item of 1.4 KB
ROWS: Final = 20_000
BATCH: Final = 100
SINGLES: Final = 2_000
IN_FLIGHT: Final = 4
MAILS: Final = {1_000: 1_000, 300_000: 150}  # maps the size of the body in bytes to the number of mails
COLUMNS: Final = 79


class Sink:
    """Accepts mails and discards them."""

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        return "250 OK"


async def _mails_per_second(size: int, count: int) -> float:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: smtp.SMTP(Sink(), hostname="sink", loop=loop), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@bench.test", "b@bench.test", "Folder Content"
    mail.set_content(("x" * (COLUMNS - 1) + "\n") * (size // COLUMNS))
    left = iter(range(count))

    async def work() -> None:
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, local_hostname="bench") as client:
            for _ in left:
                await client.send_message(mail)

    began_s = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    took_s = time.perf_counter() - began_s
    server.close()
    await server.wait_closed()
    return count / took_s


def _rows_per_second(folder: Path, synchronous: str, count: int, batch: int) -> float:
    conn = sqlite3.connect(folder / f"{synchronous}-{batch}.sqlite", isolation_level=None)
    for statement in (
        "PRAGMA page_size = 4096",
        "PRAGMA journal_mode = WAL",
        f"PRAGMA synchronous = {synchronous}",
        "CREATE TABLE post (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, subject TEXT NOT NULL, item BLOB NOT NULL)",
        "CREATE INDEX post_by_number ON post (number)",
    ):
        conn.execute(statement)
    began_s = time.perf_counter()
    for at in range(0, count, batch):
        _insert(conn, [(number, "a post", ITEM) for number in range(at, at + batch)])
    took_s = time.perf_counter() - began_s
    conn.close()
    return count / took_s


def _insert(conn: sqlite3.Connection, rows: Sequence[tuple[int, str, bytes]]) -> None:
    conn.execute("BEGIN IMMEDIATE")
    conn.executemany("INSERT INTO post (number, subject, item) VALUES (?, ?, ?)", rows)
    conn.execute("COMMIT")


def figures() -> dict[str, float]:
    """Plain mails per second over the loopback, with both ends in one process. Rows of 1.4 KB that SQLite inserts per second,
    with 100 rows in a commit and with one row in a commit."""
    found: dict[str, float] = {
        f"aiosmtplib to aiosmtpd, {size // 1000} KB mails/s": round(asyncio.run(_mails_per_second(size, count)))
        for size, count in MAILS.items()
    }
    with tempfile.TemporaryDirectory() as name:
        for synchronous in ("normal", "full"):
            for count, batch in ((ROWS, BATCH), (SINGLES, 1)):
                rate = _rows_per_second(Path(name), synchronous, count, batch)
                found[f"SQLite rows/s, {batch} a commit, {synchronous}"] = round(rate)
    return found
