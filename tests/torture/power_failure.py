"""A power failure: the files below a folder lose what their programs wrote and did not sync (`unsynced.c`).

A disk may keep any part of that. So `lose` goes back through what each file and folder has not synced, from the newest to the
oldest, and keeps or undoes it by chance:

| what | is kept or undone | so there are |
|---|---|---|
| content of a file | each sector by itself: it keeps the writes up to one | torn writes, writes out of order |
| length of a file | apart from its content; what was never written is zeros | long files without content |
| names in a folder | all up to one, because file systems keep a journal of names | new files without a name |

Example. A store commits to its write-ahead log and syncs it, commits again, and is killed before it syncs. The first commit
stays. Of the second one's pages some sectors may stay, which SQLite notices by their checksum.

All processes of the folder must have ended. New folders are as if they had been synced.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import struct
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

SOURCE: Final = Path(__file__).with_name("unsynced.c")

SECTOR_BYTES: Final = 512
ROOM_S: Final = 60.0
"""How long a full disk may take to have room again."""

NOWHERE: Final = Path()
CONTENT: Final = frozenset({b"W", b"X", b"T"})
"""The records of files; see `unsynced.c`."""

_HEAD: Final = struct.Struct("=c3xI4Q")


class _Record(NamedTuple):
    kind: bytes
    file: int
    at: int
    count: int
    size: int
    content: bytes

    @property
    def names(self) -> tuple[Path, Path, Path]:
        """The paths of a change of names; one that is missing is `.`."""
        path, to, kept = self.content.decode().split("\0")
        return Path(path), Path(to), Path(kept)


@dataclass(slots=True)
class Lost:
    """What power failures have taken: sectors of content, names, and lengths of files. journals: how many were read."""

    failures: int = 0
    journals: int = 0
    sectors: int = 0
    names: int = 0
    lengths: int = 0

    def __bool__(self) -> bool:
        return bool(self.sectors or self.names or self.lengths)

    def in_words(self) -> str:
        return (
            f"{self.failures} power failures took {self.sectors} sectors, the lengths of {self.lengths} files and"
            f" {self.names} names that were not synced"
        )


@dataclass(slots=True)
class _Unsynced:
    """The records since the last sync, of each file by its inode and of each folder by its path."""

    files: dict[int, list[_Record]] = field(default_factory=lambda: defaultdict(list))
    folders: dict[Path, list[_Record]] = field(default_factory=lambda: defaultdict(list))


class UnsyncedWrites:
    """Knows what the processes that run with `environment` have not synced below `folder`. Its own files are in `beside`."""

    def __init__(self, folder: Path, beside: Path) -> None:
        self._folder = folder.resolve()
        self._journals = beside.resolve() / "journals"
        self._kept = self._folder.with_name(f"{self._folder.name}.kept")
        for each in (self._folder, self._journals, self._kept):
            each.mkdir(parents=True, exist_ok=True)
        library = beside.resolve() / "unsynced.so"
        order = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run(order, check=True, capture_output=True)
        self.environment = {
            "LD_PRELOAD": str(library),
            "UNSYNCED_FOLDER": str(self._folder),
            "UNSYNCED_JOURNALS": str(self._journals),
            "UNSYNCED_KEPT": str(self._kept),
        }
        self.lost = Lost()

    def records(self) -> Iterator[_Record]:
        """Return the records of all processes since the last power failure, one process after the other."""
        for journal in sorted(self._journals.iterdir()):
            yield from _records_of(journal)

    def has_content(self) -> bool:
        """Return whether a file has content that is not synced. No process may run meanwhile."""
        present = {each.stat().st_ino for each in self._folder.rglob("*") if each.is_file()}
        return any(number in present for number in _unsynced(self.records()).files)

    def lose(self, chance: random.Random, share: float | None = None) -> None:
        """Let the power fail. share: the part that is kept of what is not synced; None: by chance, and often nothing."""
        if share is None:
            share = chance.choice((0.0, chance.random()))
        unsynced = _unsynced(self.records())
        for changes in unsynced.folders.values():
            self._lose_names(changes, chance, share)
        places = {each.stat().st_ino: each for each in self._folder.rglob("*") if each.is_file()}
        for number, writes in unsynced.files.items():
            if number in places:
                self._lose_content(places[number], writes, chance, share)
        journals = list(self._journals.iterdir())
        for each in (*journals, *self._kept.iterdir(), *self._folder.rglob("*-shm")):
            each.unlink()
        self.lost.failures += 1
        self.lost.journals += len(journals)

    def _lose_names(self, changes: list[_Record], chance: random.Random, share: float) -> None:
        for change in reversed(changes):
            if chance.random() < share:
                return  # a journal of names has all before, too
            path, to, kept = change.names
            if change.kind == b"C":
                path.unlink(missing_ok=True)
            elif change.kind == b"R" and to.exists() and not path.exists():
                to.rename(path)
            if kept != NOWHERE and kept.exists():
                kept.replace(to if change.kind == b"R" else path)
            self.lost.names += 1

    def _lose_content(self, path: Path, writes: list[_Record], chance: random.Random, share: float) -> None:
        before = path.read_bytes()
        size = len(before)
        for write in reversed(writes):
            if chance.random() < share:
                break
            size = write.size
        content = bytearray(before)
        content.extend(bytes(max(0, max(write.at + write.count for write in writes) - len(content))))
        kept: set[int] = set()
        undone: set[int] = set()
        for write in reversed(writes):
            for sector in range(write.at // SECTOR_BYTES, -(-(write.at + write.count) // SECTOR_BYTES)):
                if sector in kept:
                    continue
                if write.kind == b"W" and chance.random() < share:
                    kept.add(sector)
                    continue
                start = max(write.at, sector * SECTOR_BYTES)
                end = min(write.at + write.count, (sector + 1) * SECTOR_BYTES)
                old = write.content[start - write.at : end - write.at]
                content[start:end] = old.ljust(end - start, b"\0")
                undone.add(sector)
        self.lost.sectors += len(undone)
        self.lost.lengths += size != len(before)
        after = bytes(content[:size]).ljust(size, b"\0")
        if after != before:
            _overwrite(path, after)


def _records_of(journal: Path) -> Iterator[_Record]:
    content = journal.read_bytes()
    start = 0
    while start + _HEAD.size <= len(content):
        kind, length, file, at, count, size = _HEAD.unpack_from(content, start)
        end = start + _HEAD.size + length
        if end > len(content):
            return  # the process was killed while it wrote this record, so the call never ran
        yield _Record(kind, file, at, count, size, content[start + _HEAD.size : end])
        start = end


def _unsynced(records: Iterable[_Record]) -> _Unsynced:
    found = _Unsynced()
    for record in records:
        if record.kind == b"S":
            found.files.pop(record.file, None)
        elif record.kind in CONTENT:
            found.files[record.file].append(record)
        elif record.kind == b"D":
            found.folders.pop(record.names[0].parent, None)
        else:
            found.folders[record.names[0].parent].append(record)
    return found


def _overwrite(path: Path, content: bytes) -> None:
    """Replace the content of a file in place. A hazard may have filled the disk: then wait until it has room."""
    give_up_s = time.monotonic() + ROOM_S
    while True:
        try:
            with path.open("r+b", buffering=0) as file:
                file.truncate(len(content))
                written = 0
                while written < len(content):
                    written += file.write(content[written:])
        except OSError as error:
            if error.errno != errno.ENOSPC or time.monotonic() > give_up_s:
                raise
            time.sleep(0.1)
        else:
            return


def why_no_power_failure() -> str:
    """Return why this machine cannot let the power fail, or ''."""
    if os.uname().sysname != "Linux":
        return "only Linux preloads unsynced.c"
    return "" if shutil.which("cc") else "no C compiler, cc, is installed"
