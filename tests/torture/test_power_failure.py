"""Power failures: what is synced stays, what is not may go, and a store with durability `full` loses nothing acknowledged."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from pflab.home import environment
from tests.torture.one_store import FOLDER, STORE, TOPOLOGY, store_in
from tests.torture.power_failure import UnsyncedWrites, why_no_power_failure
from traces.reading import read_folder

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(why_no_power_failure() != "", reason=why_no_power_failure()),
]

FAILURES = 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "disk"
    folder.mkdir()
    return folder


def run_program(writes: UnsyncedWrites, *order: str, end_at: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a program of Python under the layer; it kills itself at a call if a number is given."""
    given = {**environment(), **writes.environment, "UNSYNCED_END_AT": str(end_at)}
    return subprocess.run([sys.executable, "-P", *order], env=given, capture_output=True, text=True, check=False)


def run_text(writes: UnsyncedWrites, folder: Path, text: str) -> None:
    program = f"import os\nos.chdir({str(folder)!r})\ndef sync(path):\n  os.fsync(os.open(path, os.O_RDONLY))\n{text}"
    done = run_program(writes, "-c", program)
    assert done.returncode == 0, done.stderr


def files_of(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("open('old', 'wb').write(b'new')", {"old": b"begin"}),
        ("open('old', 'r+b').write(b'new')", {"old": b"begin"}),
        ("open('old', 'ab').write(b'new')", {"old": b"begin"}),
        ("os.truncate(os.open('old', os.O_RDWR), 2)", {"old": b"begin"}),
        ("os.pwrite(os.open('old', os.O_WRONLY), b'xyz', 1000)", {"old": b"begin"}),
        ("os.unlink('old')", {"old": b"begin"}),
        ("os.rename('old', 'moved')", {"old": b"begin"}),
        ("open('other', 'wb').write(b'x'); os.replace('other', 'old')", {"old": b"begin"}),
        ("open('other', 'wb').write(b'x'); sync('other')", {"old": b"begin"}),
        ("open('other', 'wb').write(b'x'); sync('.')", {"old": b"begin", "other": b""}),
        ("open('other', 'wb').write(b'x'); sync('other'); sync('.')", {"old": b"begin", "other": b"x"}),
        ("open('other', 'wb').write(b'x'); sync('other'); os.replace('other', 'old'); sync('.')", {"old": b"x"}),
        ("open('old', 'ab').write(b'1'); sync('old'); open('old', 'ab').write(b'2')", {"old": b"begin1"}),
        ("os.unlink('old'); sync('.')", {}),
        ("open('map-shm', 'wb').write(b'x')", {"old": b"begin"}),
    ],
)
def test_what_is_not_synced_is_lost(folder: Path, tmp_path: Path, text: str, left: dict[str, bytes]) -> None:
    """If nothing unsynced is kept, each file has the content of its last sync, and each folder its names."""
    (folder / "old").write_bytes(b"begin")
    writes = UnsyncedWrites(folder, tmp_path)
    run_text(writes, folder, text)
    writes.lose(random.Random(1), share=0)
    assert files_of(folder) == left


def test_all_may_be_kept(folder: Path, tmp_path: Path) -> None:
    """If everything unsynced is kept, a power failure changes nothing."""
    (folder / "old").write_bytes(b"begin")
    writes = UnsyncedWrites(folder, tmp_path)
    run_text(writes, folder, "open('new', 'wb').write(b'x' * 5000); os.truncate(os.open('old', os.O_RDWR), 1)")
    writes.lose(random.Random(1), share=1)
    assert files_of(folder) == {"old": b"b", "new": b"x" * 5000}


def test_writes_are_torn_between_sectors(folder: Path, tmp_path: Path) -> None:
    """By chance a sector has its old or its new content, and never a part of each."""
    (folder / "old").write_bytes(b"a" * 64 * 512)
    writes = UnsyncedWrites(folder, tmp_path)
    run_text(writes, folder, "os.pwrite(os.open('old', os.O_RDWR), b'b' * 62 * 512, 512)")
    writes.lose(random.Random(1), share=0.5)
    content = (folder / "old").read_bytes()
    sectors = [content[at : at + 512] for at in range(0, len(content), 512)]
    assert {sectors[0], sectors[-1]} == {b"a" * 512}
    assert set(sectors) == {b"a" * 512, b"b" * 512}


def test_a_sync_of_a_later_process_counts(folder: Path, tmp_path: Path) -> None:
    """What a killed process has written is durable when another process syncs the file."""
    (folder / "old").write_bytes(b"begin")
    writes = UnsyncedWrites(folder, tmp_path)
    run_text(writes, folder, "open('old', 'ab').write(b'1')")
    run_text(writes, folder, "sync('old'); open('old', 'ab').write(b'2')")
    writes.lose(random.Random(1), share=0)
    assert files_of(folder) == {"old": b"begin1"}


REPLACE = """
from argparse import Namespace
from pathlib import Path
from node.process.managed import ManagedNode
node = ManagedNode(Namespace(name="A", data=Path("."), traces=Path("traces")))
node.replace("A", "history", b"database" * 4000)
"""


@pytest.mark.parametrize("share", [0, 0.3, 0.7])
def test_a_replaced_database_is_whole(folder: Path, tmp_path: Path, share: float) -> None:
    """A database that a coordinator has replaced, and the note of its history, survive a power failure."""
    writes = UnsyncedWrites(folder, tmp_path)
    run_text(writes, folder, REPLACE)
    writes.lose(random.Random(1), share)
    assert (folder / "A.sqlite").read_bytes() == b"database" * 4000
    assert (folder / "A.run").read_bytes() == b"history"


def test_a_store_keeps_each_acknowledged_post(tmp_path: Path) -> None:
    """With durability `full`, at whatever call the power fails: no acknowledged post is lost or doubled, the database is sound,
    and the trace has no gap (OUT-9, IN-2)."""
    assert [failure for failure in _failures(tmp_path, "full", range(1, FAILURES + 1)) if failure] == []


def test_durability_normal_loses_acknowledged_posts(tmp_path: Path) -> None:
    """So the test above can fail. The database is sound nevertheless."""
    failures = _failures(tmp_path, "normal", range(1, FAILURES + 1, 4))
    assert {each.partition(":")[0] for each in failures} <= {"", "lost"}
    assert any(failures)


def _failures(tmp_path: Path, durability: str, seeds: range) -> list[str]:
    """Let the power fail once in a store for each seed; return what was wrong afterwards, or ''."""
    whole = tmp_path / "whole"
    whole.mkdir()
    calls = _calls(whole, durability)
    told = []
    for seed in seeds:
        at = tmp_path / str(seed)
        folder = at / "disk"
        folder.mkdir(parents=True)
        writes = UnsyncedWrites(folder, at)
        chance = random.Random(seed)
        done = run_program(
            writes, "-m", "tests.torture.one_store", str(folder), durability, end_at=chance.randint(1, calls)
        )
        assert done.returncode in {0, -signal.SIGKILL}, done.stderr
        writes.lose(chance)
        told.append(_wrong_in(folder, set(done.stdout.splitlines())))
    return told


def _calls(tmp_path: Path, durability: str) -> int:
    """Return how many calls a store makes that posts and is closed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    writes = UnsyncedWrites(folder, tmp_path)
    done = run_program(writes, "-m", "tests.torture.one_store", str(folder), durability)
    assert done.returncode == 0, done.stderr
    return sum(1 for _ in writes.records())


def _wrong_in(folder: Path, acknowledged: set[str]) -> str:
    with closing(sqlite3.connect(folder / f"{STORE}.sqlite")) as conn:
        (sound,) = conn.execute("PRAGMA integrity_check").fetchone()
    if sound != "ok":
        return f"damaged: {sound}"
    node = store_in(folder, "full")
    node.open(TOPOLOGY.start_at)
    subjects = [message.subject for message in node.messages(FOLDER)]
    node.close(node.last_at)
    if len(set(subjects)) < len(subjects):
        return f"doubled: {sorted(subjects)}"
    if gaps := read_folder(folder / "traces").report():
        return f"trace: {gaps}"
    lost = sorted(acknowledged - set(subjects))
    return f"lost: {lost}" if lost else ""
