"""Where the processor time of a store goes: samples of py-spy as a table and as a flame graph.

    python -m bench.profile                       bulk and singles, stores A and B, as a table
    python -m bench.profile --pictures FOLDER     draw the flame graphs there too

Store A accepts the posts and B receives them. py-spy takes samples while three stores run. A sample is a stack of function
calls. The innermost function that belongs to a part of PARTS decides for which part the sample counts; functions of no part,
such as those of Python's library, are skipped.

A flame graph shows all samples of one store: each function as wide as its share of the samples, above the function that called
it. Functions that take less than a two-hundredth are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Final

from bench.bench_processes import Users, cpu_s, three_stores
from pflab.drivers.processes import ProcessLab

RATE_HZ: Final = 500
POSTS: Final = 20_000
SINGLES: Final = 1_000
BATCH: Final = 100
STORES: Final = ("A", "B")

PARTS: Final = (
    ("hashes and checksums", ("digest_of (", "crc", "hashlib")),
    ("signatures", ("node/codec/signing", "node/codec/ed25519", "node/codec/certificates", "cryptography/")),
    (
        "SQLite: statements and commits",
        ("transport/sql.py", "node/state/database.py", "sqlalchemy/", "node/state/timers"),
    ),
    ("items and mails: encode, decode", ("node/codec/", "transport/mapi/", "transport/mime/", "email/")),
    ("trace and log of events", ("traces/", "node/state/application_log", "node/store/trace_export")),
    ("HTTP: uvicorn, msgspec", ("uvicorn/", "msgspec", "h11/", "node/api/")),
    ("SMTP: aiosmtpd, aiosmtplib, ours", ("aiosmtpd/", "aiosmtplib/", "transport/smtp/", "transport/protocol/")),
    ("MTA", ("transport/mta/",)),
    ("the store itself", ("node/",)),
    ("event loop and sockets", ("asyncio/", "selectors.py")),
)
"""The parts in the order in which they are tried, each with texts of which one is in a frame `function (file)` of py-spy."""

REST: Final = "everything else"

TOTAL: Final = "all, us for each post"

WAITS: Final = ("EpollSelector.select (", "Condition.wait (", "_worker (", "_wait (node/process/leash.py")
"""Innermost functions of a thread that waits. On a busy machine py-spy takes some of them for working ones."""

LOOP: Final = "Handle._run ("
"""The function of asyncio that begins each step. The functions that call it are the same in all stacks, and are left out."""

COLOURS: Final = (
    "#7d6bd6",
    "#b08ad9",
    "#4f86d9",
    "#3fa39b",
    "#8aa34a",
    "#d98a4f",
    "#d9634f",
    "#c45a92",
    "#c9a227",
    "#7f8896",
    "#a9b0bb",
)
"""One for each part, and one for the rest."""

WIDTH: Final = 1000
ROW: Final = 17
LEAST_SHARE: Final = 0.005
CHAR_WIDTH: Final = 6.2

Stack = tuple[str, ...]
Samples = Counter[Stack]


def part_of(stack: Stack) -> str:
    """Return the part for which a stack counts; its outermost function is the first."""
    for frame in reversed(stack):
        for part, texts in PARTS:
            if any(text in frame for text in texts):
                return part
    return REST


def read_samples(file: str) -> Samples:
    """Return the samples of a file of py-spy, without waits. A line has frames separated by semicolons, and a count."""
    samples: Samples = Counter()
    for line in file.splitlines():
        text, _, count = line.rpartition(" ")
        frames = text.split(";")
        begins = next((index for index, frame in enumerate(frames) if frame.startswith(LOOP)), 0)
        if not frames[-1].startswith(WAITS):
            samples[tuple(frames[begins:])] += int(count)
    return samples


def shares(samples: Samples) -> dict[str, float]:
    """Return the share of each part in per cent."""
    found: Counter[str] = Counter()
    for stack, count in samples.items():
        found[part_of(stack)] += count
    return {part: 100 * count / samples.total() for part, count in found.items()}


# --- the flame graph


@dataclass(slots=True)
class Node:
    """A function called along one path.

    `stack`: the path to it; count: its samples with those of what it calls.
    """

    stack: Stack
    count: int = 0
    calls: dict[str, Node] = field(default_factory=dict)


def tree_of(samples: Samples) -> Node:
    """Return the calls as a tree."""
    root = Node(())
    for stack, count in samples.items():
        node = root
        node.count += count
        for depth, frame in enumerate(stack, start=1):
            node = node.calls.setdefault(frame, Node(stack[:depth]))
            node.count += count
    return root


def flame_graph(samples: Samples, title: str) -> str:
    """Return an SVG picture."""
    root = tree_of(samples)
    boxes = list(_boxes(root, 0, 0.0, WIDTH / root.count))
    height = ROW * (max((depth for depth, *_ in boxes), default=0) + 2) + 8
    names = [part for part, _ in PARTS] + [REST]
    classes = dict(zip(names, COLOURS, strict=True))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        "<style>text { font: 11px system-ui, sans-serif; fill: #10151f } .head { font-size: 13px; font-weight: 600 }",
        "  .panel { fill: #f5f7fa }",
        "  @media (prefers-color-scheme: dark) { .panel { fill: #262b35 } .head { fill: #e6e9ef } }</style>",
        f'<rect class="panel" width="{WIDTH}" height="{height}"/>',
        f'<text class="head" x="6" y="14">{escape(title)}</text>',
    ]
    for depth, left, width, node in boxes:
        y = height - ROW * (depth + 1) - 4
        name = node.stack[-1]
        told = f"{name}: {100 * node.count / root.count:.1f} %"
        lines.append(
            f'<g><title>{escape(told)}</title><rect x="{left:.1f}" y="{y}" width="{max(width - 0.5, 0.3):.1f}"'
            f' height="{ROW - 1}" fill="{classes[part_of(node.stack)]}"/>'
        )
        room = int(width / CHAR_WIDTH) - 1
        if room >= 4:
            lines.append(f'<text x="{left + 3:.1f}" y="{y + 12}">{escape(name.partition(" (")[0][:room])}</text>')
        lines.append("</g>")
    return "\n".join([*lines, "</svg>\n"])


def _boxes(node: Node, depth: int, left: float, scale: float) -> Iterator[tuple[int, float, float, Node]]:
    """Yield the functions that `node` calls, each with its depth, left edge and width, and what they call."""
    for _, call in sorted(node.calls.items()):
        width = call.count * scale
        if width >= LEAST_SHARE * WIDTH:
            yield depth, left, width, call
            yield from _boxes(call, depth + 1, left, scale)
        left += width


# --- the measurement


@contextmanager
def _sampled(lab: ProcessLab, folder: Path) -> Iterator[dict[str, Samples]]:
    """Take samples of the stores until the end of the context; then the dictionary has them."""
    found: dict[str, Samples] = {}
    files = {name: folder / f"{name}.txt" for name in STORES}
    spies = [
        subprocess.Popen(
            ["py-spy", "record", "-r", str(RATE_HZ), "-f", "raw", "-F", "-o", str(file), "-p", str(lab.pid_of(name))],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name, file in files.items()
    ]
    try:
        yield found
    finally:
        for spy in spies:
            spy.send_signal(signal.SIGINT)
            spy.wait()
    found |= {name: read_samples(file.read_text("utf-8")) for name, file in files.items()}


async def _bulk(users: Users) -> None:
    for batch in range(POSTS // BATCH):
        await users.post([f"post {batch}-{index}" for index in range(BATCH)])
    await users.shown(POSTS)


async def _singles(users: Users) -> None:
    for index in range(SINGLES):
        await users.post([f"post {index}"])  # a mail for each, because the store sends at once
    await users.shown(SINGLES)


async def _measured(
    work: Callable[[Users], Awaitable[None]], posts: int, folder: Path
) -> tuple[dict[str, Samples], dict[str, float]]:
    """Return the samples of each store, and its processor time for each post in microseconds."""
    async with three_stores(folder, "profile", "normal") as lab:
        await lab.set_rate(1.0)
        users = Users(lab)
        with _sampled(lab, folder) as found:
            before = cpu_s(lab)
            await work(users)
            after = cpu_s(lab)
        users.close()
    return found, {store: (after[store] - before[store]) / posts * 1e6 for store in STORES}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, or 2 if py-spy is not installed."""
    parser = argparse.ArgumentParser(prog="python -m bench.profile", description=__doc__.partition("\n")[0])
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="draw the flame graphs into this folder")
    options = parser.parse_args(arguments)
    if shutil.which("py-spy") is None:
        print("py-spy is not installed; install it with pip install py-spy", file=sys.stderr)
        return 2
    columns: dict[str, dict[str, float]] = {}
    for what, work, posts in (("bulk", _bulk, POSTS), ("singles", _singles, SINGLES)):
        with tempfile.TemporaryDirectory() as folder:
            found, spent_us = asyncio.run(_measured(work, posts, Path(folder)))
        for store, samples in found.items():
            columns[f"{what}, {store}"] = {**shares(samples), TOTAL: spent_us[store]}
            if options.pictures is not None:
                title = f"Store {store}, {what}: where its processor time goes"
                file = options.pictures / f"flame-{what}-{store.lower()}.svg"
                file.write_text(flame_graph(samples, title), "utf-8")
    print(f"| part | {' | '.join(columns)} |\n|---{'|---' * len(columns)}|")
    for part in [*(part for part, _ in PARTS), REST, TOTAL]:
        print(f"| {part} | {' | '.join(f'{each.get(part, 0):.0f}' for each in columns.values())} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
