"""A lab as one file: the content of a saved lab in a zip archive, which another lab continues, in whatever driver.

The archive has the files that `pflab.runs.lab_state` lists, except the saved labs, under the same names, and nothing else. The
version of the file is the format in `lab.json`. Equal labs have equal files: names are in order, and times are always the same.

    lab.json  seed  topology.yaml  backups/backup-1.sqlite  databases/A.sqlite  traces/A-1-1.jsonl  traces/lab-1-1.jsonl

Keys are not in the file. The keys of a lab's stores derive from its seed, which each trace names, or from the secret of a lab
in containers, which never leaves that lab. So whoever has the file of a lab in containers cannot sign for its stores: a lab
from the file has the keys of its seed, with which the mail under way was signed again (`node.store.changed_keys`).

A stranger may have made the file. So the archive is read under the limits below and in memory; its names select files, and
never are paths; and `pflab.runs.foreign_run` checks the content of each file before it is written.

What must never happen: a file outside of the folder, a link, or anything left behind by a file that was refused.
"""

from __future__ import annotations

import io
import shutil
import sqlite3
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from node.state.database import Database
from pflab.errors import LabError
from pflab.runs.backups import BACKUPS
from pflab.runs.foreign_run import ForeignRun
from pflab.runs.lab_state import STATE, read_state
from topology.problems import counted, quoted
from traces.segments import list_segments

if TYPE_CHECKING:
    from pathlib import Path

    from pflab.runs.run_folder import RunFolder

MOST_PACKED_BYTES: Final = 64 * 1024 * 1024
"""The largest lab file."""

MOST_BYTES: Final = 256 * 1024 * 1024
"""The most bytes of all files in it. A lab reads the events among them into memory, where they take four times as much."""

MOST_FILES: Final = 10_000

MOST_RATIO: Final = 200
"""How many times larger the content may be than the file. An empty database is 54 times larger than in the file."""

TOPOLOGY: Final = "topology.yaml"
SEED: Final = "seed"
DATABASES: Final = "databases"
TRACES: Final = "traces"

_TIME: Final = (1980, 1, 1, 0, 0, 0)
"""The time of each file: the first that an archive can have."""

_MODE: Final = stat.S_IFREG | 0o644

_END: Final = struct.Struct("<4s4H2LH")
_LOCATOR_BYTES: Final = 20
"""The end of an archive: its number of files, and the length of its directory. Before it there would be the locator of a
directory for archives over 4 GB."""

_DIRECTORY_ENTRY_BYTES: Final = 512
"""More than the directory of an archive needs for a file."""

_ENCRYPTED: Final = 0x1


def pack(folder: RunFolder) -> bytes:
    """Return the lab file of a run that ended, of a saved lab, or of what `ServedLab.copy_into` wrote. Raises LabError if the
    folder is none of these, or if the lab is too large for a file."""
    files = dict(sorted(_files(folder)))
    size = sum(map(len, files.values()))
    if size > MOST_BYTES or len(files) > MOST_FILES:
        has = f"{counted(len(files), 'file')} of {_mb(size)}"
        raise LabError(
            f"the lab has {has}, and a lab file at most {MOST_FILES} of {_mb(MOST_BYTES)}; save the lab where it is"
        )
    content = _archive(files, ZIP_DEFLATED)
    if size > MOST_RATIO * len(content):
        content = _archive(files, ZIP_STORED)
    if len(content) > MOST_PACKED_BYTES:
        raise LabError(
            f"the lab file would have {_mb(len(content))}; a lab file has at most {_mb(MOST_PACKED_BYTES)};"
            " save the lab where it is"
        )
    return content


def _files(folder: RunFolder) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file of a lab file."""
    state = read_state(folder.path)
    try:
        for name in (STATE, TOPOLOGY, SEED):
            yield name, (folder.path / name).read_bytes()
        for server in state.stores:
            yield f"{DATABASES}/{server}.sqlite", Database.copy_of(folder.database(server))
        for backup in state.backups.stores:
            yield f"{BACKUPS}/{backup}.sqlite", (folder.path / BACKUPS / f"{backup}.sqlite").read_bytes()
        for segment, path in list_segments(folder.traces):
            yield f"{TRACES}/{segment}", path.read_bytes()
    except (OSError, sqlite3.Error) as error:
        raise LabError(f"the lab of {folder.path} cannot be read: {error}") from error


def _archive(files: Mapping[str, bytes], method: int) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            member = ZipInfo(name, _TIME)
            member.compress_type, member.external_attr = method, _MODE << 16
            archive.writestr(member, content)
    return buffer.getvalue()


def unpack(content: bytes, folder: RunFolder) -> None:
    """Write a lab file into a new run folder, which `continue_run` then continues. Raises LabError if the content is not a lab
    file that a lab of this version has written; the folder is then gone."""
    try:
        _unpack(content, folder)
    except OSError as error:
        shutil.rmtree(folder.path, ignore_errors=True)
        raise LabError(f"{folder.path} cannot be written: {error.strerror or error}") from error
    except BaseException:
        shutil.rmtree(folder.path, ignore_errors=True)
        raise


def _unpack(content: bytes, folder: RunFolder) -> None:
    archive = _Archive(content)
    run = ForeignRun(archive.read(STATE), archive.read(TOPOLOGY), archive.read(SEED))
    folder.write_inputs(run.topology.as_yaml(), run.seed)
    databases = {f"{DATABASES}/{name}.sqlite": name for name in run.stores}
    backups = {f"{BACKUPS}/{backup}.sqlite": store for backup, store in run.state.backups.stores.items()}
    segments = {name for name in archive.names if name.startswith(f"{TRACES}/") and run.is_segment(name[7:])}
    names = {STATE, TOPOLOGY, SEED, *databases, *backups, *segments}
    for name in archive.names:
        if name not in names:
            raise LabError(f"the lab file has the file {quoted(name)}, which does not belong into it")
    for path, store in [*databases.items(), *backups.items()]:
        database = archive.read(path)
        run.check_database(path, database, store, is_backup=path in backups)
        _write(folder.path / path, database)
    for path in sorted(segments):
        _write(folder.traces / path.removeprefix(f"{TRACES}/"), archive.read(path))
    run.check_traces(folder)
    _write(folder.path / STATE, archive.read(STATE))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("xb") as file:
        file.write(content)


class _Archive:
    """The files of an archive that a stranger may have made, by name. Raises LabError if it is damaged, or breaks a limit."""

    def __init__(self, content: bytes) -> None:
        _check_end(content)
        try:
            self._archive = ZipFile(io.BytesIO(content))
        except (BadZipFile, ValueError, OverflowError, struct.error, NotImplementedError) as error:
            raise _not_a_lab_file(error) from error
        members = self._archive.infolist()
        self._members = {member.filename: member for member in members}
        if len(self._members) < len(members):
            raise LabError("the lab file has two files of one name")
        for member in members:
            _check_plain(member)
        size = sum(member.file_size for member in members)
        if size > MOST_BYTES:
            raise LabError(f"the lab file has {_mb(size)} of content; it has at most {_mb(MOST_BYTES)}")
        if size > MOST_RATIO * len(content):
            raise LabError(f"the content of the lab file is over {MOST_RATIO} times larger than the file")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._members)

    def read(self, name: str) -> bytes:
        member = self._members.get(name)
        if member is None:
            raise LabError(f"the lab file has no {name}")
        try:
            return self._archive.read(member)  # at most `file_size` bytes, and only with the right CRC-32
        except (
            BadZipFile,
            zlib.error,
            EOFError,
            ValueError,
            OverflowError,
            struct.error,
            NotImplementedError,
        ) as error:
            raise LabError(f"{name} in the lab file is damaged: {' '.join(str(error).split())}") from error


def _check_end(content: bytes) -> None:
    """Check the sizes of an archive before its directory is read."""
    if len(content) > MOST_PACKED_BYTES:
        raise LabError(f"the file is larger than {_mb(MOST_PACKED_BYTES)}, so it is not a lab file")
    end = content[-_END.size :]
    if len(end) < _END.size or content[-_END.size - _LOCATOR_BYTES :].startswith(b"PK\6\7"):
        raise _not_a_lab_file()
    signature, *_, files, directory_bytes, _, _ = _END.unpack(end)
    if signature != b"PK\5\6":
        raise _not_a_lab_file()
    if files > MOST_FILES or directory_bytes > MOST_FILES * _DIRECTORY_ENTRY_BYTES:
        raise LabError(f"the lab file has over {MOST_FILES} files")


def _check_plain(member: ZipInfo) -> None:
    """Raise LabError if a file of an archive is a folder, a link, encrypted, or packed in a way that `pack` does not use."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in {0, stat.S_IFREG} or member.is_dir():
        raise LabError(f"{quoted(member.filename)} in the lab file is not a plain file")
    if member.flag_bits & _ENCRYPTED or member.compress_type not in {ZIP_DEFLATED, ZIP_STORED}:
        raise LabError(f"{quoted(member.filename)} in the lab file is packed in a way that lab files are not")


def _not_a_lab_file(error: Exception | None = None) -> LabError:
    reason = f" ({' '.join(str(error).split())})" if error is not None else ""
    return LabError(f"this is not a lab file{reason}; pflab lab take writes one")


def _mb(size: int) -> str:
    return f"{size / 1_000_000:.0f} MB"
