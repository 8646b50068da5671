"""The places of traces that a user names: which segments are in them, and their content.

A place is a file, a folder or a pattern on this machine, or a URL. Both engines get the segments on this machine from here, so
a place means the same to both. Spark lists only those at URLs, where a pattern is one of Spark's.

In a pattern `*`, `?`, `[x]` and `[!x]` or `[^x]` stand for letters of a name, and `**` for folders below each other. A name
that exists is no pattern. Files and folders whose names begin with `.` or `_` are left out, unless they are named, because
Spark leaves them out at URLs too.

What must never happen: a segment is read twice, or under another name than the other segments of its folder; a segment that
cannot be read is passed over.
"""

from __future__ import annotations

import glob
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from io import BufferedReader
from pathlib import Path
from typing import Final

from analytics.errors import AnalyticsError
from analytics.ingest.lines import is_segment
from traces.segments import is_url

BLOCK_BYTES: Final = 16_000_000
"""How much of a file is read at a time. As Python objects, its lines take several times as much memory."""


def named(names: Iterable[str]) -> list[str]:
    """Return the files, folders and URLs that a user names, with all links resolved (`runs/latest` is a link).

    names: paths, patterns of paths, and URLs. `file:///runs` is the path `/runs`.

    Raises AnalyticsError for one that names nothing.
    """
    return list(dict.fromkeys(place for name in names for place in _named(name)))


def _named(name: str) -> list[str]:
    if name.startswith("file:/"):
        name = "/" + name.removeprefix("file:").lstrip("/")
    if is_url(name):
        return [name]
    if os.path.exists(name):  # noqa: PTH110 - pathlib raises an error for a name that is too long
        return [os.path.realpath(name)]
    if not glob.has_magic(name):
        raise AnalyticsError(f"{_shown(name)}: no such file or folder; name run folders or segment files")
    paths = glob.glob(name.replace("[^", "[!"), recursive=True)  # noqa: PTH207 - a pattern may begin anywhere
    places = sorted({os.path.realpath(path) for path in paths if not _is_left_out(path, name)})
    if not places:
        raise AnalyticsError(f"{_shown(name)}: no file or folder has such a name")
    return places


def _is_left_out(path: str, pattern: str) -> bool:
    """Return whether a path that matches a pattern has a hidden name which the pattern does not name."""
    named_parts = [part for part in pattern.split("/") if _is_hidden(part)]
    return any(
        _is_hidden(name) and not any(fnmatchcase(name, part) for part in named_parts) for name in path.split("/")
    )


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_")) and name not in {".", ".."}


def segments(places: Iterable[str]) -> list[str]:
    """Return the segments in these files and folders, each once.

    Links in a folder are followed. If several names lead to a folder, its own name is preferred. Raises
    AnalyticsError for a folder that cannot be read, and for a name that is not UTF-8.
    """
    names: dict[str, str] = {}
    ways: dict[str, tuple[str, str]] = {}
    for path in (path for place in places for path in _segments_of(place)):
        folder, _, name = path.rpartition("/")
        real = os.path.realpath(folder)
        names[real] = min(folder, names.get(real, folder), key=lambda way: (way != real, way))
        file = os.path.realpath(path) if Path(path).is_symlink() else f"{real}/{name}"
        ways[file] = min((real, name), ways.get(file, (real, name)), key=lambda way: ("/".join(way) != file, way))
    files = sorted(f"{names[real]}/{name}" if names[real] else name for real, name in ways.values())
    for path in files:
        need_utf_8(path, "so no verdict can name it; rename it")
    return files


def need_utf_8(path: str, hint: str) -> None:
    """Raise AnalyticsError if the name of a file is not UTF-8.

    hint: why it must be, and what to do.
    """
    if _shown(path) != path:
        raise AnalyticsError(f"{_shown(path)}: this name is not UTF-8, {hint}")


def _segments_of(path: str, visited: set[str] | None = None) -> Iterator[str]:
    """Yield the segments in a folder, or the file itself.

    known: the folders that were read already, with all links resolved.
    """
    if not Path(path).is_dir():
        yield from (name for name in [path] if is_segment(name))
        return
    visited = set() if visited is None else visited
    links: list[str] = []
    for folder, folders, files in os.walk(path, onerror=_refuse):
        visited.add(os.path.realpath(folder))
        folders[:] = [name for name in folders if not _is_hidden(name)]
        links += (link for name in folders if Path(link := f"{folder}/{name}").is_symlink())
        paths = (f"{folder}/{name}" for name in files if not _is_hidden(name))
        yield from filter(is_segment, paths)
    for link in sorted(links):
        if os.path.realpath(link) not in visited:
            yield from _segments_of(link, visited)


def _refuse(error: OSError) -> None:
    raise AnalyticsError(f"{_shown(str(error.filename))}: cannot be read: {error.strerror}") from error


def _shown(path: str) -> str:
    """Return a path with escapes for what is not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def sizes(files: Iterable[str]) -> dict[str, int]:
    """Map each of these files to its size in bytes. Raises AnalyticsError for one that cannot be read."""
    return {file: _size(file) for file in files}


def _size(file: str) -> int:
    try:
        of = Path(file).stat()
    except OSError as error:
        raise AnalyticsError(f"{_shown(file)}: cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(of.st_mode):
        raise AnalyticsError(f"{file}: cannot be read: it is no regular file")
    return of.st_size


def contents_of(places: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each segment in these files and folders, as `contents` does."""
    yield from contents(segments(places))


def contents(files: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each file: of a large file several times, each time the next whole lines.

    Raises AnalyticsError for one that cannot be read.
    """
    for file in files:
        with _opened(file) as opened:
            while block := opened.read(BLOCK_BYTES):
                yield file, block + opened.readline()


def checksum(file: str) -> str:
    """Return the SHA-256 of a file. Raises AnalyticsError if it cannot be read."""
    with _opened(file) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@contextmanager
def _opened(file: str) -> Iterator[BufferedReader]:
    _size(file)
    try:
        with Path(file).open("rb") as opened:
            yield opened
    except OSError as error:
        raise AnalyticsError(f"{_shown(file)}: cannot be read: {error.strerror}") from error
