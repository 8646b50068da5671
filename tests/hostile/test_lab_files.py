"""A lab file from a stranger is refused in one line, and leaves nothing behind, whatever is wrong with it."""

from __future__ import annotations

import json
import random
import sqlite3
import stat
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipInfo

import pytest

from pflab.errors import LabError
from pflab.runs import lab_file
from pflab.runs.lab_file import unpack
from pflab.runs.run_folder import RunFolder
from tests.support.lab_files import THREE, archive_of, files_of, small_lab_file, with_database

Files = dict[str, bytes]

A, B, BACKUP, STATE, TRACE = (
    "databases/A.sqlite",
    "databases/B.sqlite",
    "backups/backup-1.sqlite",
    "lab.json",
    "traces/B-1-1.jsonl",
)


@pytest.fixture
async def files(tmp_path: Path) -> Files:
    return files_of(await small_lab_file(tmp_path / "lab"))


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[bytes], str]:
    """Unpack a file, which must be refused, and return the line that says why."""

    def why(content: bytes) -> str:
        place = tmp_path / "unpacked"
        before = {path for path in tmp_path.rglob("*") if path.is_file()}
        with pytest.raises(LabError) as told:
            unpack(content, RunFolder.at(place))
        assert not place.exists()
        assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
        line = str(told.value)
        assert line.isprintable(), line
        return line

    return why


def test_the_file_itself_is_taken(files: Files, tmp_path: Path) -> None:
    """What the tests below change is a lab file before the change."""
    unpack(archive_of(files), RunFolder.at(tmp_path / "unpacked"))
    assert (tmp_path / "unpacked" / "lab.json").read_bytes() == files[STATE]


# --- the archive


def test_what_is_no_archive_is_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """An empty file, other bytes, and an archive that was cut."""
    whole = archive_of(files)
    for content in (b"", b"x", b"x" * 100_000, whole[:-1], whole[: len(whole) // 2], whole[1:], whole + b"x"):
        assert "not a lab file" in refused(content) or "damaged" in refused(content)


def test_a_bomb_is_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """Zeros that are packed a thousand times smaller are not unpacked."""
    assert "over 200 times larger" in refused(archive_of({**files, "traces/A-1-1.jsonl": bytes(100_000_000)}))


def test_a_bomb_that_lies_about_its_size_is_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """The size in the directory of the archive limits what is unpacked, and the checksum tells the rest."""
    size = 300_000_000
    content = archive_of({**files, TRACE: bytes(size)})
    assert content.count(struct.pack("<L", size)) == 2
    lying = content.replace(struct.pack("<L", size), struct.pack("<L", 1000))
    assert "traces/B-1-1.jsonl in the lab file is damaged" in refused(lying)


def test_content_over_the_limit_is_refused(
    refused: Callable[[bytes], str], files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits of the file, of its content, and of the number of files are checked before anything is unpacked."""
    content = archive_of(files)
    monkeypatch.setattr(lab_file, "MOST_BYTES", 100_000)
    assert "MB of content; it has at most 0 MB" in refused(content)
    monkeypatch.setattr(lab_file, "MOST_FILES", len(files) - 1)
    assert f"over {len(files) - 1} files" in refused(content)
    monkeypatch.setattr(lab_file, "MOST_PACKED_BYTES", len(content) - 1)
    assert "is larger than" in refused(content)


def test_a_directory_that_says_it_is_small_is_not_read(refused: Callable[[bytes], str], files: Files) -> None:
    """The end of an archive cannot point to another, larger directory (ZIP64)."""
    content = archive_of(files)
    assert "not a lab file" in refused(content[:-22] + b"PK\6\7" + bytes(16) + content[-22:])


def test_too_many_files_are_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """The number of files has a limit."""
    more = {f"traces/A-1-{number}.jsonl": b"" for number in range(1, lab_file.MOST_FILES)}
    assert "over 10000 files" in refused(archive_of({**files, **more}))


@pytest.mark.parametrize(
    "name",
    [
        *(
            "../outside",
            "/tmp/outside",
            "traces/../../outside",
            "databases/../../A.sqlite",
            "C:\\outside",
            "..\\outside",
        ),
        *(
            "traces/A-1-1.jsonl/../../x",
            "databases/D.sqlite",
            "backups/backup-2.sqlite",
            "traces/D-1-1.jsonl",
            "tls/key",
        ),
        *(
            "traces/../A-1-1.jsonl",
            "traces/A-1-01.jsonl",
            "imap-password",
            ".saved/x/lab.json",
            "traces/A-1-1.jsonl.part",
        ),
        *("traces/A-\u0661-1.jsonl", "a" * 60_000, "\x1b[2J", "traces/"),
    ],
)
def test_another_name_is_refused(refused: Callable[[bytes], str], files: Files, name: str) -> None:
    """A name selects one of the files that a lab has, and is no path: neither one that leaves the folder, nor a file of a
    server that does not exist, nor one that a lab file does not have."""
    line = refused(archive_of({**files, name: b"x"}))
    assert "does not belong into it" in line or "not a plain file" in line
    assert len(line) < 300


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_a_link_is_refused(refused: Callable[[bytes], str], files: Files, kind: int) -> None:
    """A link, a folder or a device is no file of a lab, even under the name of one."""
    member = ZipInfo("traces/C-1-1.jsonl")
    member.create_system, member.external_attr = 3, (kind | 0o777) << 16
    assert '"traces/C-1-1.jsonl" in the lab file is not a plain file' in refused(archive_of(files, member))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_comes_twice_is_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """Which of two files would be checked, and which written?"""
    assert "two files of one name" in refused(archive_of(files, ZipInfo(A)))


def test_other_ways_of_packing_are_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """An encrypted file, and one that is packed by a program with other limits."""
    content = archive_of(files)
    at = content.rindex(b"PK\1\2")
    for offset, value in ((8, 1), (10, 12), (10, 14)):
        changed = content[: at + offset] + struct.pack("<H", value) + content[at + offset + 2 :]
        assert "packed in a way that lab files are not" in refused(changed)


def test_a_wrong_checksum_is_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """The archive's checksum of a file, and a segment's of its events."""
    content = archive_of(files)
    crc = struct.pack("<L", zlib.crc32(files[A]))
    assert content.count(crc) == 2
    assert "databases/A.sqlite in the lab file is damaged: Bad CRC-32" in refused(content.replace(crc, b"1234"))
    lines = files[TRACE].replace(b'"lamport":1,', b'"lamport":9,', 1)
    assert lines != files[TRACE]
    assert "was changed after it was written" in refused(archive_of({**files, TRACE: lines}))
    cut = files[TRACE].rsplit(b"\n", 2)[0] + b"\n"
    assert "is cut" in refused(archive_of({**files, TRACE: cut}))


# --- the state, the topology and the seed


@pytest.mark.parametrize("name", [STATE, "topology.yaml", "seed", A, BACKUP])
def test_a_file_that_is_missing_is_named(refused: Callable[[bytes], str], files: Files, name: str) -> None:
    """Each file of a lab must be there."""
    del files[name]
    assert refused(archive_of(files)) == f"the lab file has no {name}"


def test_another_format_is_told(refused: Callable[[bytes], str], files: Files) -> None:
    """A file of another version of the format is one clear line."""
    state = json.loads(files[STATE]) | {"format": 4}
    assert "in format 4, and this version of pflab reads only format 3" in refused(
        archive_of({**files, STATE: json.dumps(state).encode()})
    )


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"\xff", b'{"format":3}', b'{"faults":' + b"[" * 100_000])
def test_a_broken_state_is_told(refused: Callable[[bytes], str], files: Files, content: bytes) -> None:
    """What is not JSON, or not the state of a lab, is refused; so is what would break Python in a browser by its levels."""
    assert "lab.json" in refused(archive_of({**files, STATE: content}))


def _renamed(state: dict[str, object]) -> None:
    state["servers"] = {"D": {}}


def _with_policies(state: dict[str, Any], *, times: int = 1, **fields: object) -> None:
    policy = {"name": "London", "domain": "fabrikam.test", "filter": {"servers": ["A"]}, **fields}
    state["directory"]["policies"] = [policy] * times


CHANGES: dict[str, Callable[[dict[str, object]], object]] = {
    "other servers": _renamed,
    "no proper id": lambda state: state.update(run="x\x1b[2J"),
    "an instant": lambda state: state.update(at=2**70 // 2**8),
    "has removed the server": lambda state: state.update(deleted=["../D"]),
    "which no lab made": lambda state: state.update(backups={"number": 1, "stores": {"../../outside": "A"}}),
    "list of backups": lambda state: state.update(backups={"number": 1, "stores": {"backup-1": "D"}}),
    "which no lab made ": lambda state: state.update(backups={"number": 1, "stores": {"backup-2": "A"}}),
    "not a mail domain": lambda state: state["directory"].update(domain="a b\r\n"),  # type: ignore[attr-defined]
    "not a mail domain ": lambda state: _with_policies(state, domain="a b\r\n"),
    "not a name for a recipient policy": lambda state: _with_policies(state, name="x\x1b[2J"),
    "no list of policies": lambda state: _with_policies(state, filter={}),
    "no list of policies ": lambda state: _with_policies(state, filter={"sites": ["x\x1b[2J"]}),
    "no list of policies  ": lambda state: _with_policies(state, times=2),
    "the directory in": lambda state: state["directory"]["damage"].update(unstamped=["D"]),  # type: ignore[attr-defined]
    "on a backup": lambda state: state["servers"]["A"].update(backup="backup-9"),  # type: ignore[index]
    "directory of server": lambda state: state["servers"]["A"].update(known={"D": {}}),  # type: ignore[index]
    "cannot be read": lambda state: state["servers"]["A"].update(status="dead"),  # type: ignore[index]
}


@pytest.mark.parametrize("why", CHANGES)
def test_a_state_that_names_what_there_is_not_is_refused(
    refused: Callable[[bytes], str], files: Files, why: str
) -> None:
    """Names of servers, backups and domains, and instants, are checked before a lab uses them."""
    state = json.loads(files[STATE])
    CHANGES[why](state)
    assert why.strip() in refused(archive_of({**files, STATE: json.dumps(state).encode()}))


@pytest.mark.parametrize(
    "content", [b"\xff", b"", b"servers: 1\n", b"a: &a [*a, *a]\n", b"servers: {A: }\nfolders: {F: {replicas: [B]}}\n"]
)
def test_a_topology_that_is_none_is_refused(refused: Callable[[bytes], str], files: Files, content: bytes) -> None:
    """The topology is read as every topology is, and the first mistake is told."""
    assert "topology.yaml in the lab file" in refused(archive_of({**files, "topology.yaml": content}))


@pytest.mark.parametrize("seed", [b"", b"1", b"x\n", b"1\n\n", b"0x10\n", b"9" * 5000 + b"\n", "\u0661\n".encode()])
def test_a_seed_is_a_number(refused: Callable[[bytes], str], files: Files, seed: bytes) -> None:
    """The seed is a number as a run folder has it."""
    assert refused(archive_of({**files, "seed": seed})) == "the seed in the lab file is not a number"


def test_another_organization_is_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """The run must have begun with the topology of the file: the ids of its folders derive from the organization's name."""
    other = THREE.replace("Contoso", "Fabrikam").encode()
    assert "began with another topology" in refused(archive_of({**files, "topology.yaml": other}))
    fewer = b"organization: Contoso\nservers: {A: , B: }\nfolders: {Projects: {replicas: [A, B]}}\n"
    assert "other servers than its topology" in refused(archive_of({**files, "topology.yaml": fewer}))


# --- the databases

DATABASE_CHANGES: dict[str, tuple[str, str]] = {
    "trigger": ("CREATE TRIGGER t AFTER INSERT ON message BEGIN DELETE FROM message; END", '"trigger t"'),
    "view": ("CREATE VIEW v AS SELECT 1", '"view v"'),
    "table": ("CREATE TABLE t (a)", '"table t"'),
    "virtual table": ("CREATE VIRTUAL TABLE t USING fts5(a)", '"table t"'),
    "index": ("CREATE INDEX i ON message (abs(ctr))", '"index i"'),
    "column": ("ALTER TABLE message ADD COLUMN a GENERATED ALWAYS AS (abs(ctr))", '"table message"'),
    "dropped": ("DROP TRIGGER message_removed", "it lacks the trigger message_removed"),
    "version": ("PRAGMA user_version = 7", "made by another version of pflab"),
    "type": ("UPDATE store_state SET seq = 'x'", "a value in its table store_state has the wrong type"),
    "blob": ("UPDATE message SET subject = x'00'", "a value in its table message has the wrong type"),
    "owner": ("UPDATE store_state SET name = 'B'", 'it is the database of "B"'),
    "nobody": ("DELETE FROM store_state", "it is the database of no store"),
    "row": ("UPDATE rst SET numbers = x'ff'", "it cannot be read"),
    "guid": ("DELETE FROM replid", "it cannot be read"),
    "directory": ("UPDATE directory SET stamps = '[[['", "it cannot be read"),
    "setting": ("INSERT INTO setting VALUES ('x', '[[[')", "it cannot be read"),
    "huge number": ("UPDATE store_state SET last_at = 9223372036854775807, seq = 9223372036854775807", "do not fit"),
}


@pytest.mark.parametrize("change", DATABASE_CHANGES)
def test_a_changed_database_is_refused(refused: Callable[[bytes], str], files: Files, change: str) -> None:
    """A database has the tables of a store, to the letter, and rows that a store can read. No statement of a stranger runs."""
    statement, why = DATABASE_CHANGES[change]
    assert why in refused(archive_of({**files, A: with_database(files[A], lambda opened: opened.execute(statement))}))


def test_a_changed_backup_is_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """A backup is checked as a database is."""
    changed = with_database(files[BACKUP], lambda opened: opened.execute("CREATE VIEW v AS SELECT 1"))
    assert f"{BACKUP} in the lab file is not the database of server A" in refused(
        archive_of({**files, BACKUP: changed})
    )


def test_a_schema_that_was_written_by_hand_is_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """`writable_schema` can put any text into the schema, and a root page that another table has."""

    def forge(opened: sqlite3.Connection) -> None:
        opened.execute("PRAGMA writable_schema = ON")
        opened.execute(
            "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'rst') WHERE name = 'message'"
        )

    assert "in the lab file is not the database" in refused(archive_of({**files, A: with_database(files[A], forge)}))


def test_a_database_with_huge_pages_is_refused(refused: Callable[[bytes], str], files: Files, tmp_path: Path) -> None:
    """Pages have the size that stores copy; a file in WAL mode, or with reserved bytes, is no copy."""
    path = tmp_path / "huge.sqlite"
    opened = sqlite3.connect(path, isolation_level=None)
    opened.execute("PRAGMA page_size = 65536")
    opened.execute("CREATE TABLE t (a)")
    opened.close()
    huge = path.read_bytes()
    path.unlink()
    whole = files[A]
    wal, reserved = whole[:18] + b"\2\2" + whole[20:], whole[:20] + b"\x08" + whole[21:]
    for content in (huge, wal, reserved, whole[:-1], whole + b"x"):
        assert "does not consist of pages of 4096 bytes" in refused(archive_of({**files, A: content}))
    for content in (b"", b"SQLite format 3\0", b"x" * 4096):
        assert "not an SQLite database" in refused(archive_of({**files, A: content}))


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_database_is_refused_or_harmless(files: Files, tmp_path: Path, seed: int) -> None:
    """Whatever the bytes of a database are, it is refused in one line, or is read like any other."""
    draw = random.Random(seed)
    damaged = bytearray(files[A])
    for _ in range(draw.choice((1, 10, 1000))):
        damaged[draw.randrange(len(damaged))] = draw.randrange(256)
    try:
        unpack(archive_of({**files, A: bytes(damaged)}), RunFolder.at(tmp_path / "unpacked"))
    except LabError as error:
        assert "\n" not in str(error)


# --- the traces


def test_traces_that_do_not_fit_are_refused(refused: Callable[[bytes], str], files: Files) -> None:
    """The traces are of this run and of these servers, and end where the databases end."""
    without = {name: content for name, content in files.items() if name != TRACE}
    assert "the traces of server B in the lab file do not fit its database: they end at event 0" in refused(
        archive_of(without)
    )
    lines = [line for line in files[TRACE].splitlines(keepends=True) if b"segment.end" not in line]
    for old, new, why in (
        (b'"run":"up/small"', b'"run":"up/other"', 'are of run "up/other", not up/small'),
        (b'"node":"B"', b'"node":"Z"', 'the server "Z"'),
    ):
        changed = b"".join(lines).replace(old, new)
        assert why in refused(archive_of({**files, TRACE: _closed(changed)}))
    assert "do not fit its database" in refused(archive_of({**files, TRACE: _closed(b"".join(lines[:-1]))}))
    assert "are missing" in refused(archive_of({**files, TRACE: _closed(b"".join(lines[:3] + lines[5:]))}))


def _closed(lines: bytes) -> bytes:
    """Return lines as a segment with the right checksum."""
    last = json.loads(lines.splitlines()[-1])["seq"]
    total = sum(zlib.crc32(line) for line in lines.splitlines())
    end = {"type": "segment.end", "events": len(lines.splitlines()), "last_seq": last, "crc32_sum": total}
    return lines + json.dumps(end, separators=(",", ":")).encode() + b"\n"
