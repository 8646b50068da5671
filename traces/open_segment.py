"""A segment that is still being written: each event is in its file at once, so a killed program loses none of them.

| state | file | its lines | locked |
|---|---|---|---|
| open | `<segment>.open` | those appended so far | by the program that writes it |
| left behind | `<segment>.open` | as before; a power failure may have cut the last ones | no: its program was killed |
| closed | `<segment>` | all, and the end | no |

`close` leads from open to closed, `adopt` from left behind to closed.

Example: a lab has written `lab-1-1.jsonl.open` with 40 events when it is killed. The system ends its lock. `adopt` finds no
lock, reads the 40 events, writes `lab-1-1.jsonl` as any segment is written, and deletes the open file. If it is killed between
these two steps, the next `adopt` only deletes the open file.

What must never happen: a reader that takes an open file for a segment, so it has another suffix; and two programs that write
one, so its writer holds a lock that ends with the process. Processes that inherit the file (`OpenSegment.handle`) hold the lock
too.
"""

import os
from pathlib import Path
from typing import Final

import msgspec

from traces.errors import SegmentError
from traces.events import AnyEvent
from traces.file_lock import lock, lock_unless_locked
from traces.segments import Checksum, SegmentName, sync_folder, write_segment

OPEN: Final = ".open"

_EVENT: Final = msgspec.json.Decoder(AnyEvent)


def sync_data(handle: int) -> None:
    """Make what was written to a file survive a power failure. macOS has no fdatasync, which leaves out what nobody reads."""
    getattr(os, "fdatasync", os.fsync)(handle)


class OpenSegment:
    """The segment `name` in `folder`.

    durable: from `close` on, the segment survives a power failure.
    synced: each event does so from its `append` on.

    While the disk is full, appended lines wait in memory for the next `append` or `close`. Raises SegmentError if the segment
    is open already.
    """

    def __init__(self, folder: Path, name: SegmentName, *, durable: bool = True, synced: bool = False) -> None:
        self._final = folder / str(name)
        self._path = folder / f"{name}{OPEN}"
        self._durable = durable
        self._synced = synced
        try:
            self.handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        except FileExistsError:
            raise SegmentError(f"segment {name} is open already; each lab needs a folder of its own") from None
        lock(self.handle)
        self._checksum = Checksum()
        self._waiting = b""
        self._ended = False

    def append(self, line: bytes) -> None:
        """Append an event, with its newline."""
        self._checksum.add(line.rstrip(b"\n"))
        self._waiting += line
        try:
            self._write()
        except OSError:
            return  # the next write begins with what waits

    def _write(self) -> None:
        while self._waiting:
            self._waiting = self._waiting[os.write(self.handle, self._waiting) :]
        if self._synced:
            sync_data(self.handle)

    def lines(self) -> list[bytes]:
        """Return the events so far, each with its newline."""
        return [*whole_lines(self._path), *self._waiting.splitlines(keepends=True)]

    def close(self) -> None:
        """Write the end, so that readers can use the segment; without events there is none. Raises OSError if the disk is full;
        it can be called again."""
        if not self._checksum.events:
            self._path.unlink()
            os.close(self.handle)
            return
        if not self._ended:
            self._waiting += self._checksum.end_line()
            self._ended = True
        self._write()
        if self._durable:
            os.fsync(self.handle)
        self._path.rename(self._final)
        os.close(self.handle)
        if self._durable:
            sync_folder(self._final.parent)


def list_open(folder: Path) -> list[tuple[SegmentName, Path]]:
    """Return the open segments in a folder, those that are being written and those left behind."""
    files = ((SegmentName.parse(path.name.removesuffix(OPEN)), path) for path in folder.glob(f"*{OPEN}"))
    return sorted((name, path) for name, path in files if name is not None)


def is_being_written(path: Path) -> bool:
    """Return whether the program that writes an open segment still runs."""
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        lock_unless_locked(file)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def whole_lines(path: Path) -> list[bytes]:
    """Return the events of an open segment, each with its newline, up to the first that is cut or damaged."""
    lines = []
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n") or not _is_event(line):
            break
        lines.append(line)
    return lines


def _is_event(line: bytes) -> bool:
    try:
        _EVENT.decode(line)
    except msgspec.MsgspecError:
        return False
    return True


def adopt(name: SegmentName, path: Path) -> None:
    """Close a segment that its program left behind. Raises SegmentError if the program still runs."""
    if is_being_written(path):
        raise SegmentError(f"{path.name} is being written; stop its lab first")
    lines = whole_lines(path)
    if lines and not (path.parent / str(name)).exists():
        write_segment(path.parent, name, lines)
    path.unlink()
