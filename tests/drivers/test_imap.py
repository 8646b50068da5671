"""Mail programs at a lab by IMAP, with the client of the standard library over real sockets."""

from __future__ import annotations

import asyncio
import base64
import imaplib
import re
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bench.ports import free_port
from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.errors import LabError
from pflab.runs.run_folder import RunFolder
from tests.support.lab_actions import post, subjects
from tests.support.samples import sampled
from tests.support.topologies import TWO_STORES
from topology.file.load import topology_from_text
from traces.labtime import HOUR_US

connection = pytest.importorskip("node.imap.connection")
listener = pytest.importorskip("node.imap.listener")
mailboxes = pytest.importorskip("node.imap.mailboxes")

pytestmark = pytest.mark.live

T = TypeVar("T")

TOKEN = "the-token-of-this-lab"

BOX = "#public/Projects"

MAIL = b"From: kim@contoso.test\r\nSubject: Hello\r\nMessage-ID: <1@contoso.test>\r\n\r\nfrom a mail program\r\n.\r\n"

PATIENCE_S = 20.0


@pytest.fixture
def lab(tmp_path: Path) -> LiveLab:
    folder = RunFolder.create(tmp_path / "runs", "imap")
    return LiveLab(topology_from_text(TWO_STORES), folder=folder, imap_token=TOKEN)


@pytest.fixture(params=[LiveLab, ProcessLab])
def any_lab(request: pytest.FixtureRequest, tmp_path: Path) -> LiveLab | ProcessLab:
    folder = RunFolder.create(tmp_path / "runs", "imap")
    made: LiveLab | ProcessLab = request.param(topology_from_text(TWO_STORES), folder=folder, imap_token=TOKEN)
    return made


def address_of(lab: LiveLab | ProcessLab, server: str) -> tuple[str, int]:
    address = lab.imap_of(server)
    assert address is not None
    return address


@contextmanager
def mail_program(address: tuple[str, int], user: str = "kim", box: str | None = BOX) -> Iterator[imaplib.IMAP4]:
    """Log in and open a mailbox; at the end, log out."""
    with imaplib.IMAP4(*address, timeout=PATIENCE_S) as program:
        program.login(user, TOKEN)
        if box is not None:
            done(program.select(box))
        yield program


async def use(
    address: tuple[str, int], act: Callable[[imaplib.IMAP4], T], user: str = "kim", box: str | None = BOX
) -> T:
    """Let a user's mail program do something, while the lab goes on in this thread."""

    def acting() -> T:
        with mail_program(address, user, box) as program:
            return act(program)

    return await asyncio.to_thread(acting)


def done(answer: tuple[str, list[Any]]) -> list[Any]:
    """Return what a command has answered, if it has succeeded."""
    status, data = answer
    assert status == "OK", data
    return data


def flags(program: imaplib.IMAP4, uid: int = 1) -> set[str]:
    (line,) = done(program.uid("fetch", str(uid), "(FLAGS)"))
    return {each.decode() for each in imaplib.ParseFlags(line)}


def bodies(program: imaplib.IMAP4) -> list[bytes]:
    return [each[1] for each in done(program.uid("fetch", "1:*", "(BODY.PEEK[])")) if isinstance(each, tuple)]


async def test_a_mail_program_posts_reads_marks_and_deletes(any_lab: LiveLab | ProcessLab) -> None:
    """A post by IMAP replicates, and is the same mail to the byte at both stores. EXPUNGE deletes it at both."""
    async with any_lab as lab:

        def first(program: imaplib.IMAP4) -> None:
            assert done(program.list()) == [
                rb'(\Noselect \HasChildren) "/" #public',
                rb'(\HasNoChildren) "/" #public/Projects',
            ]
            (posted,) = done(program.append(BOX, r"(\Flagged)", None, MAIL))  # type: ignore[arg-type]
            assert re.fullmatch(rb"\[APPENDUID \d+ 1\] APPEND completed\.", posted)
            assert bodies(program) == [MAIL]
            assert flags(program) == {r"\Flagged"}
            done(program.uid("fetch", "1", "(BODY[])"))
            done(program.uid("store", "1", "+FLAGS", r"(\Answered keyword)"))
            assert flags(program) == {r"\Flagged", r"\Answered", r"\Seen"}

        await use(address_of(lab, "A"), first)
        assert await lab.until(lambda: subjects(lab, "B") == ["Hello"], lab.now + HOUR_US)

        def second(program: imaplib.IMAP4) -> None:
            assert bodies(program) == [MAIL]
            assert flags(program) == set()
            assert done(program.search(None, "UNSEEN", "SUBJECT", "hello", "BODY", "program")) == [b"1"]
            done(program.store("1", "+FLAGS", r"(\Deleted)"))
            assert done(program.expunge()) == [b"1"]

        await use(address_of(lab, "B"), second)
        assert await lab.until(lambda: subjects(lab, "A") == [], lab.now + HOUR_US)
        assert await use(address_of(lab, "A"), bodies) == []


PARTS = (
    b"From: kim@contoso.test\r\nSubject: parts\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n"
    b"--b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=a.png\r\n"
    b"Content-Transfer-Encoding: base64\r\n\r\nAAEC\r\n--b--\r\n"
)


async def test_a_mail_program_loads_the_parts_that_it_shows(any_lab: LiveLab | ProcessLab) -> None:
    """RFC 3501, 6.4.5: a program reads the structure, then single parts, with their MIME headers and in pieces."""
    async with any_lab as lab:

        def read(program: imaplib.IMAP4) -> None:
            def fetched(item: str) -> bytes:
                ((_, content), _) = done(program.fetch("1", f"({item})"))
                return bytes(content)

            done(program.append(BOX, "", None, PARTS))  # type: ignore[arg-type]
            *_, structure = done(program.fetch("1", "(BODYSTRUCTURE)"))
            assert structure.startswith(
                b'1 (BODYSTRUCTURE (("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 5 0 NIL NIL NIL NIL)'
                b'("image" "png" NIL NIL NIL "base64" 4 NIL ("attachment" ("filename" "a.png")) NIL NIL) "mixed"'
            )
            assert fetched("BODY.PEEK[1]") == b"Hello"
            assert fetched("BODY.PEEK[1]<1.3>") == b"ell"
            assert fetched("BODY.PEEK[2.MIME]") == PARTS[PARTS.index(b"Content-Type: image") : PARTS.index(b"AAEC")]
            assert fetched("BODY.PEEK[HEADER.FIELDS (SUBJECT)]") == b"Subject: parts\r\n\r\n"
            assert fetched("BODY.PEEK[TEXT]") == PARTS[PARTS.index(b"--b") :]
            assert fetched("BINARY.PEEK[2]") == b"\0\1\2"

        await use(address_of(lab, "A"), read)


async def test_idle_tells_what_replication_brings(any_lab: LiveLab | ProcessLab) -> None:
    async with any_lab as lab:
        await post(lab, "A")
        reader, writer = await asyncio.open_connection(*address_of(lab, "B"))

        async def line_with(part: bytes) -> bytes:
            async with asyncio.timeout(PATIENCE_S):
                while part not in (line := await reader.readline()):
                    assert line
                return line

        writer.write(f'a LOGIN kim {TOKEN}\r\nb SELECT "{BOX}"\r\nc IDLE\r\n'.encode())
        await line_with(b"+ Idling")
        assert await lab.until(lambda: subjects(lab, "B") == ["Hello"], lab.now + HOUR_US)
        assert await line_with(b"EXISTS") == b"* 1 EXISTS\r\n"
        writer.write(b"DONE\r\n")
        assert (await line_with(b"c ")).startswith(b"c OK")
        writer.close()


@pytest.mark.parametrize("kind", sampled([LiveLab, ProcessLab], 2))
async def test_ports_can_be_chosen(kind: type[LiveLab] | type[ProcessLab], tmp_path: Path) -> None:
    """Each server has the next port, also after a restart. A port that is taken ends the start with one line."""
    topology = topology_from_text(TWO_STORES)
    first = free_port(2)
    with socket.create_server(("127.0.0.1", first)):
        folder = RunFolder.create(tmp_path / "runs", "taken")
        with pytest.raises(LabError, match=rf"(?i)cannot listen for IMAP on .*port {first}: .*address already in use"):
            async with kind(topology, folder=folder, imap_token=TOKEN, imap_port=first):
                pass
    async with kind(
        topology, folder=RunFolder.create(tmp_path / "runs", "free"), imap_token=TOKEN, imap_port=first
    ) as lab:
        assert lab.imap_of("B") == ("127.0.0.1", first + 1)
        await lab.stop("B")
        await lab.start("B")
        assert await use(address_of(lab, "B"), bodies) == []


async def test_each_user_has_flags_that_survive_a_restart(lab: LiveLab) -> None:
    async with lab:
        await post(lab, "A")

        def mark(program: imaplib.IMAP4) -> Any:
            done(program.store("1", "FLAGS", r"(\Seen \Draft)"))
            return program.response("UIDVALIDITY")

        validity = await use(address_of(lab, "A"), mark)
        await lab.stop("A")
        assert lab.imap_of("A") is None
        await lab.start("A")
        assert await use(address_of(lab, "A"), flags) == {r"\Seen", r"\Draft"}
        assert await use(address_of(lab, "A"), lambda program: program.response("UIDVALIDITY")) == validity
        assert await use(address_of(lab, "A"), flags, user="lee") == set()


async def test_an_edit_gets_a_new_uid_and_is_unread(lab: LiveLab) -> None:
    """The mail of a UID never changes (RFC 3501, 2.3.1.1)."""
    async with lab:
        message = await post(lab, "A")
        await use(address_of(lab, "A"), lambda program: done(program.store("1", "+FLAGS", r"(\Seen)")))
        await lab.do("A", lambda node, now: node.edit(now, "Projects", message, subject="Again"))

        def look(program: imaplib.IMAP4) -> None:
            assert done(program.uid("search", "ALL")) == [b"2"]  # type: ignore[arg-type]
            assert flags(program, 2) == set()
            assert b"Subject: Again" in bodies(program)[0]

        await use(address_of(lab, "A"), look)


async def test_a_restored_store_has_another_uidvalidity(lab: LiveLab, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a restore, the next UIDs go to other messages than before it."""
    async with lab:
        await post(lab, "A", "before")
        ask = lambda program: program.response("UIDVALIDITY")[1]  # noqa: E731
        before = await use(address_of(lab, "A"), ask)
        backup = await lab.backup("A")
        await post(lab, "A", "after")
        await lab.stop("A")
        monkeypatch.setattr("time.time", lambda: 2**31)
        await lab.restore("A", backup)
        assert await use(address_of(lab, "A"), ask) > before
        assert await use(address_of(lab, "A"), lambda program: done(program.uid("search", "ALL"))) == [b"1"]  # type: ignore[arg-type]


async def test_messages_can_be_copied_and_moved(tmp_path: Path) -> None:
    text = "servers: {A: }\nfolders: {Projects: , Other: }"
    folder = RunFolder.create(tmp_path / "runs", "imap")
    async with LiveLab(topology_from_text(text), folder=folder, imap_token=TOKEN) as lab:
        for subject in ("1", "2"):
            await post(lab, "A", subject)

        def act(program: imaplib.IMAP4) -> None:
            done(program.store("2", "FLAGS", r"(\Flagged)"))
            (copied,) = done(program.copy("1:*", "#public/Other"))
            assert copied.endswith(b" 1:2 1:2] COPY completed.")
            done(program.uid("move", "2", "#public/Other"))
            assert done(program.uid("search", "ALL")) == [b"1"]  # type: ignore[arg-type]
            done(program.select("#public/Other"))
            assert [flags(program, uid) for uid in (1, 2, 3)] == [set(), {r"\Flagged"}, {r"\Flagged"}]

        await use(address_of(lab, "A"), act)
        assert subjects(lab, "A") == ["1"]
        assert subjects(lab, "A", "Other") == ["1", "2", "2"]


@pytest.mark.parametrize("command", [("fetch", "2:3", "(FLAGS)"), ("store", "2:3", "+FLAGS", r"(\Seen)")])
async def test_an_answer_numbers_messages_as_the_client_does(lab: LiveLab, command: tuple[str, ...]) -> None:
    """After the EXPUNGE of another client, the answer to UID FETCH or UID STORE has the numbers that the client knows. The next
    answer tells of the EXPUNGE. Dovecot's imaptest found answers with numbers of both kinds."""
    async with lab:
        for subject in ("1", "2", "3"):
            await post(lab, "A", subject)

        def act(program: imaplib.IMAP4) -> None:
            with mail_program(address_of(lab, "A")) as other:
                done(other.store("3", "+FLAGS", r"(\Flagged)"))
                done(other.store("1", "+FLAGS", r"(\Deleted)"))
                done(other.expunge())
            lines = done(program.uid(*command))
            assert [re.match(rb"(\d+) .*UID (\d+)", each).groups() for each in lines] == [(b"2", b"2"), (b"3", b"3")]  # type: ignore[union-attr]
            assert rb"\Flagged" not in lines[0] and rb"\Flagged" in lines[1]
            assert program.response("EXPUNGE") == ("EXPUNGE", [None])
            done(program.noop())
            assert program.response("EXPUNGE") == ("EXPUNGE", [b"1"])
            assert done(program.fetch("1:*", "(UID)")) == [b"1 (UID 2)", b"2 (UID 3)"]

        await use(address_of(lab, "A"), act)


async def test_two_clients_that_move_the_same_messages_move_each_once(tmp_path: Path) -> None:
    """Between two messages of one MOVE, other clients work. A message that another client has moved meanwhile is left out."""
    text = "servers: {A: }\nfolders: {Projects: , Other: }"
    folder = RunFolder.create(tmp_path / "runs", "imap")
    async with LiveLab(topology_from_text(text), folder=folder, imap_token=TOKEN) as lab:
        for number in range(8):
            await post(lab, "A", f"{number}")
        readers = [mailboxes.Reader(lab.host_of("A"), user) for user in ("kim", "lee")]
        moved = await asyncio.gather(
            *(
                mailboxes.Mailbox(each, each.folders()[BOX]).copy_all(
                    range(1, 9), mailboxes.Mailbox(each, each.folders()["#public/Other"]), moves=True
                )
                for each in readers
            )
        )
        assert sorted(uid for pairs in moved for uid, _ in pairs) == list(range(1, 9))
        assert subjects(lab, "A") == []
        assert subjects(lab, "A", "Other") == [f"{number}" for number in range(8)]


async def test_a_mailbox_that_was_opened_to_be_read_is_closed_without_deleting(lab: LiveLab) -> None:
    """CLOSE after EXAMINE deletes nothing and is no error (RFC 3501, 6.4.2)."""
    async with lab:
        await post(lab, "A", "1")

        def act(program: imaplib.IMAP4) -> None:
            done(program.store("1", "+FLAGS", r"(\Deleted)"))
            done(program.select(BOX, readonly=True))
            done(program.close())

        await use(address_of(lab, "A"), act)
        assert subjects(lab, "A") == ["1"]


async def test_a_copy_may_be_deleted_before_the_next_one_is_made(lab: LiveLab) -> None:
    """Between two copies of one COPY, other clients work. The answer names the copies that are left. Dovecot's imaptest
    lost its connection here."""
    async with lab:
        for subject in ("1", "2"):
            await post(lab, "A", subject)
        ours, other = (mailboxes.Reader(lab.host_of("A"), user) for user in ("kim", "lee"))
        mine, theirs = (mailboxes.Mailbox(each, each.folders()[BOX]) for each in (ours, other))
        copying = asyncio.create_task(mine.copy_all([1, 2], mine))
        while len(subjects(lab, "A")) == 2:  # noqa: ASYNC110 - a turn of the event loop makes one copy
            await asyncio.sleep(0)
        assert subjects(lab, "A") == ["1", "1", "2"]
        await theirs.delete([(await theirs.snapshot()).next_uid - 1])
        assert await copying == [(2, 4)]
        assert subjects(lab, "A") == ["1", "2", "2"]


async def test_only_posts_can_be_changed(lab: LiveLab) -> None:
    async with lab:

        def act(program: imaplib.IMAP4) -> None:
            for answer in (program.create("#public/New"), program.delete(BOX), program.rename(BOX, "#public/New")):
                assert answer[0] == "NO"
                assert b"administrators" in answer[1][0]
            assert program.select("INBOX")[0] == program.select("#public")[0] == "NO"
            assert program.append("#public/Nowhere", "", "", MAIL)[0] == "NO"
            done(program.select(BOX, readonly=True))
            assert program.expunge()[0] == "NO"

        await use(address_of(lab, "A"), act)


async def test_a_folder_without_a_replica_here_is_no_mailbox(tmp_path: Path) -> None:
    text = "servers: {A: , B: }\nfolders: {Here: {replicas: [B]}, Here/Below: {replicas: [A]}}"
    folder = RunFolder.create(tmp_path / "runs", "imap")
    async with LiveLab(topology_from_text(text), folder=folder, imap_token=TOKEN) as lab:
        names = await use(address_of(lab, "A"), lambda program: done(program.list()), box=None)
        assert [each.rpartition(b" ")[2] for each in names] == [b"#public", b"#public/Here", b"#public/Here/Below"]
        assert rb"\Noselect" in names[1]


async def test_a_post_over_the_limit_of_its_folder_is_refused(tmp_path: Path) -> None:
    text = "servers: {A: }\nfolders: {Projects: {item_limit: 1 KB}}"
    folder = RunFolder.create(tmp_path / "runs", "imap")
    async with LiveLab(topology_from_text(text), folder=folder, imap_token=TOKEN) as lab:
        answer = await use(address_of(lab, "A"), lambda program: program.append(BOX, "", "", MAIL + b"x" * 4096))
        assert answer[0] == "NO"
        assert answer[1][0].startswith(b"[OVERQUOTA] ")
        assert subjects(lab, "A") == []


# --- log-in and limits


async def answers(address: tuple[str, int], sent: bytes) -> bytes:
    """Return all that a server says to these lines until it closes the connection."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(sent)
        async with asyncio.timeout(PATIENCE_S):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


async def test_nobody_gets_in_without_a_name_and_the_token(lab: LiveLab) -> None:
    async with lab:
        address = address_of(lab, "A")
        commands = [f'LOGIN kim "{TOKEN}x"', f'LOGIN "" {TOKEN}', f"LOGIN {'k' * 65} {TOKEN}", "AUTHENTICATE ANONYMOUS"]
        commands += ["LOGIN kim {1+}\r\n\xff", "LOGIN {1+}\r\n\xff x"]
        sent = "".join(f"{number} {each}\r\n" for number, each in enumerate(commands)).encode("latin-1")
        plain = base64.b64encode(b"\0kim\0\xff")
        said = await answers(
            address, sent + f"7 SELECT {BOX}\r\n8 AUTHENTICATE PLAIN\r\n".encode() + plain + b"\r\n9 LOGOUT\r\n"
        )
        for number in range(6):
            assert f"\r\n{number} NO".encode() in said
        assert b"\r\n7 BAD SELECT: Must authenticate first." in said
        assert b"\r\n8 BAD names and passwords are UTF-8" in said


async def test_a_wrong_name_of_a_mailbox_does_not_stop_the_lab(lab: LiveLab) -> None:
    async with lab:
        assert b"\r\na BAD" in await answers(address_of(lab, "A"), b"a SELECT R&D\r\nb LOGOUT\r\n")


async def test_a_web_page_cannot_post(lab: LiveLab) -> None:
    """A browser sends the lines of an HTTP request first; the connection is closed before its body is read."""
    async with lab:
        body = f"a LOGIN kim {TOKEN}\r\nb SELECT {BOX}\r\n"
        said = await answers(
            address_of(lab, "A"), f"POST / HTTP/1.1\r\nHost: x\r\nOrigin: y\r\nA: b\r\n\r\n{body}".encode()
        )
        assert said.endswith(b"\r\nOrigin: BAD Y: Unknown command.\r\n")


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"a LOGIN " + b"x" * connection.LINE_BYTES + b"\r\n", b"a line has at most"),
        (b"a LOGIN {9000+}\r\n", b"a command has at most"),
        (b"a LOGIN {99999999999999999999999999+}\r\n", b"a command has at most"),
        (b"a AUTHENTICATE PLAIN\r\n{9000+}\r\n", b"a command has at most"),
        (b"a LOGIN {5000+}\r\n" + b"x" * 5000 + b" {5000+}\r\n", b"a command has at most"),
        (b"a LOGIN {1+}\r\nx" + b"y" * 9000 + b"\r\n", b"a command has at most"),
        (b"a LOGIN " + b"{0+}\r\n" * 3000, b"a command has at most"),
        (f"a LOGIN kim {TOKEN}\r\nb APPEND {BOX} {{70000000+}}\r\n".encode(), b"a command has at most"),
    ],
)
async def test_lines_and_literals_have_limits(lab: LiveLab, sent: bytes, reason: bytes) -> None:
    async with lab:
        said = await answers(address_of(lab, "A"), sent)
        assert b"\r\n* BYE " + reason in said
        assert said.count(b"BYE") == 1


async def test_a_silent_client_is_logged_out(lab: LiveLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LOGIN_S", 0.1)
    monkeypatch.setattr(connection, "IDLE_S", 0.1)
    monkeypatch.setattr(connection, "COMMAND_S", 0.1)
    login = f"a LOGIN kim {TOKEN}\r\n".encode()
    async with lab:
        for sent in (b"", b"a LOG", b"a LOGIN {3}\r\n", login, login + f"b SELECT {BOX}\r\nc IDLE\r\n".encode()):
            said = await answers(address_of(lab, "A"), sent)
            assert said.count(b"BYE") == said.count(b"\r\n* BYE no complete command") == 1, sent


async def test_a_client_that_hangs_up_inside_a_command_leaves_the_lab_running(lab: LiveLab) -> None:
    """An empty literal and the end of the connection were read again and again, without end."""
    async with lab:
        for sent in (b"a LOGIN {0+}\r\n", b"a LOGIN {3+}\r\nk", b"a LOGIN kim"):
            reader, writer = await asyncio.open_connection(*address_of(lab, "A"))
            writer.write(sent)
            writer.write_eof()
            async with asyncio.timeout(PATIENCE_S):
                await reader.read()
            writer.close()
        assert await answers(address_of(lab, "A"), b"a LOGOUT\r\n")


async def test_the_time_to_log_in_is_for_all_commands(lab: LiveLab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that begins a command before log-in gets no more time for it."""
    monkeypatch.setattr(connection, "LOGIN_S", 0.1)
    async with lab:
        for sent in (b"a LOGIN {0+}\r\n", b"a LOGIN {3}\r\n", b"a AUTHENTICATE PLAIN\r\n"):
            assert b"\r\n* BYE no complete command" in await answers(address_of(lab, "A"), sent), sent


@pytest.mark.parametrize(
    "command",
    [
        "SEARCH " + "(" * 400 + "ALL" + ")" * 400,
        "SEARCH " + "OR " * 5000 + "ALL ALL",
        "SEARCH " + "".join(f"NOT BODY {each} " for each in range(33)),
        "SEARCH " + "".join(f"OR BODY {each} " for each in range(33)) + "ALL",
        "SEARCH LARGER " + "9" * 5000,
        "SEARCH CHARSET nobodys SUBJECT x",
        "SEARCH SUBJECT \xff",
        "FETCH " + "9" * 5000 + " FLAGS",
        "FETCH 1 BODY[" + "9" * 5000 + "]",
        "FETCH 1 BODY[]<1." + "9" * 5000 + ">",
        "LOGIN {" + "9" * 5000 + "}",
    ],
    ids=lambda command: command[:30],
)
async def test_what_cannot_be_read_is_refused(lab: LiveLab, command: str, caplog: pytest.LogCaptureFixture) -> None:
    """A command that is too deep, has too many keys, or has numbers or texts that nobody can read, gets BAD."""
    async with lab:
        await post(lab, "A", "1")
        sent = f"a LOGIN kim {TOKEN}\r\nb SELECT {BOX}\r\nc {command}\r\nd NOOP\r\ne LOGOUT\r\n"
        said = await answers(address_of(lab, "A"), sent.encode("latin-1"))
        assert b"\r\nc BAD" in said and b"\r\nd OK" in said, said[-300:]
        assert caplog.records == []


async def test_a_header_field_has_an_ascii_name(lab: LiveLab) -> None:
    async with lab:
        await post(lab, "A", "1")
        sent = (
            f"a LOGIN kim {TOKEN}\r\nb SELECT {BOX}\r\nc SEARCH CHARSET UTF-8 HEADER {{2+}}\r\n\u00e9 x\r\nd LOGOUT\r\n"
        )
        said = await answers(address_of(lab, "A"), sent.encode())
        assert b"\r\nc NO" in said and b"\r\nd OK" in said, said[-300:]


async def test_an_answer_about_one_message_has_a_limit(lab: LiveLab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a command asks of a message is held in memory, so it may not ask for a long mail a hundred times."""
    monkeypatch.setattr(connection, "ANSWER_BYTES", 3000)
    async with lab:
        await post(lab, "A", "1", "x" * 1000)
        begin = f"a LOGIN kim {TOKEN}\r\nb SELECT {BOX}\r\n"
        said = await answers(address_of(lab, "A"), f"{begin}c FETCH 1 BODY.PEEK[]\r\nd LOGOUT\r\n".encode())
        assert b"\r\nc OK" in said
        many = " ".join(f"BODY.PEEK[]<{each}.900>" for each in range(9))
        said = await answers(address_of(lab, "A"), f"{begin}c FETCH 1 ({many})\r\nd LOGOUT\r\n".encode())
        assert b"\r\n* BYE an answer about one message has at most 3000 bytes" in said and b"FETCH (" not in said


async def test_many_wildcards_do_not_stop_the_store(lab: LiveLab) -> None:
    async with lab:
        begin, names = f"a LOGIN kim {TOKEN}\r\n", ("*" * 60 + "x", "*p" * 99 + "x", "%p" * 101)
        lists = "".join(f'{number} LIST "" "{name}"\r\n' for number, name in enumerate(names))
        said = await answers(address_of(lab, "A"), f"{begin}{lists}z LOGOUT\r\n".encode())
        assert b"\r\n0 OK" in said and b"\r\n1 OK" in said
        assert b"\r\n2 NO" in said and b"at most 100 wildcards" in said


async def test_a_client_that_takes_no_answer_is_cut_off(lab: LiveLab, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the client does not take is not kept in memory either: an answer is written message by message."""
    monkeypatch.setattr(connection, "WRITE_S", 0.2)
    monkeypatch.setattr(listener, "CONNECTIONS", 1)
    async with lab:
        for number in range(30):
            await post(lab, "A", f"{number}", "x" * 1_000_000)
        address = address_of(lab, "A")
        reader, writer = await asyncio.open_connection(*address, limit=2**16)
        writer.write(f"a LOGIN kim {TOKEN}\r\nb SELECT {BOX}\r\n".encode())
        while not (await reader.readline()).startswith(b"b OK"):
            pass
        writer.write(b"c FETCH 1:* BODY[]\r\n")
        while not (await _greeting(address)).startswith(b"* OK"):  # the only place is taken until the server cuts off
            pass
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(30_000_000)
        writer.close()


async def _greeting(address: tuple[str, int]) -> bytes:
    reader, writer = await asyncio.open_connection(*address)
    try:
        return await reader.readline()
    finally:
        writer.close()
        await writer.wait_closed()


async def test_a_client_that_vanishes_leaves_no_warning(lab: LiveLab, caplog: pytest.LogCaptureFixture) -> None:
    """An answer is written message by message, and not once more after the connection is gone."""
    async with lab:
        for number in range(20):
            await post(lab, "A", f"{number}", "x" * 100_000)
        with socket.create_connection(address_of(lab, "A")) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset at the end
            client.sendall(f"a LOGIN kim {TOKEN}\r\nb SELECT {BOX}\r\nc FETCH 1:* (BODY[] ENVELOPE)\r\n".encode())
            said = b""
            while b"FETCH" not in said:
                said += await asyncio.to_thread(client.recv, 4096)
        await lab.advance(lab.now + HOUR_US)
        assert await use(address_of(lab, "A"), bodies)
        assert [each.getMessage() for each in caplog.records if each.name == "asyncio"] == []


async def test_connections_have_a_limit(lab: LiveLab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new connection takes the place of one whose client has not logged in, but not of a mail program."""
    monkeypatch.setattr(listener, "CONNECTIONS", 1)
    async with lab:
        address = address_of(lab, "A")
        with mail_program_of_nobody(address):

            def act(program: imaplib.IMAP4) -> bytes:
                with socket.create_connection(address, timeout=PATIENCE_S) as other:
                    said = other.recv(100)
                done(program.noop())
                return said

            assert await use(address, act) == b"* BYE too many connections to this store\r\n"


async def test_announced_mails_take_nothing_from_others(lab: LiveLab) -> None:
    """Clients that announce large mails, and send nothing of them, held all the room; then everybody was disconnected."""
    async with lab:
        address = address_of(lab, "A")
        begin = f"a LOGIN kim {TOKEN}\r\nb APPEND {BOX} {{{connection.COMMAND_BYTES}}}\r\n".encode()
        waiting = [await asyncio.open_connection(*address) for _ in range(4)]
        async with asyncio.timeout(PATIENCE_S):
            for reader, writer in waiting:
                writer.write(begin)
                while not (await reader.readline()).startswith(b"+"):
                    pass
        await use(address, lambda program: done(program.append(BOX, "", "", MAIL + b"x" * 100_000)))
        for _, writer in waiting:
            writer.close()


async def test_without_room_for_large_mails_small_ones_are_served(
    lab: LiveLab, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A client is told why its command fails. The answer had no room either, which ended in an internal error."""
    monkeypatch.setattr(connection, "ALL_BYTES", 0)
    async with lab:
        await post(lab, "A", "1", "x" * 100_000)

        def act(program: imaplib.IMAP4) -> None:
            done(program.append(BOX, "", "", MAIL))
            assert MAIL in [each[1] for each in done(program.fetch("2", "(BODY.PEEK[])")) if isinstance(each, tuple)]
            with pytest.raises(imaplib.IMAP4.abort):
                program.fetch("1", "(BODY.PEEK[])")

        await use(address_of(lab, "A"), act)
        begin = f"a LOGIN kim {TOKEN}\r\nb SELECT {BOX}\r\n".encode()
        for command, why in (
            (b"c FETCH 1 BODY.PEEK[]\r\n", b"* BYE too many mails are being sent"),
            (b"c APPEND Projects {100000+}\r\n" + b"x" * 100_000, b"* BYE too many mails are being received"),
        ):
            assert why in await answers(address_of(lab, "A"), begin + command)
        assert not [each for each in caplog.records if each.name == "pflab.imap"]


async def turns_until(reader: asyncio.StreamReader, end: bytes) -> int:
    """Return how often others had a turn before an answer ended."""
    answer = asyncio.ensure_future(reader.readuntil(end))
    turns = 0
    while not answer.done():
        await asyncio.sleep(0)
        turns += 1
    await answer
    return turns


async def test_many_commands_at_once_let_others_in_between(lab: LiveLab) -> None:
    """Commands that had arrived together were answered without a pause, for seconds."""
    async with lab:
        reader, writer = await asyncio.open_connection(*address_of(lab, "A"))
        async with asyncio.timeout(PATIENCE_S):
            writer.write(f"a LOGIN kim {TOKEN}\r\n".encode())
            await reader.readline()
            await reader.readline()
            writer.write(b"b NOOP\r\n" * 1000 + b"c NOOP\r\n")
            turns = await turns_until(reader, b"c OK NOOP completed.\r\n")
        writer.close()
    assert turns > 1000


async def test_a_fetch_of_many_items_lets_others_in_between(lab: LiveLab) -> None:
    async with lab:
        await post(lab, "A", "1", "x")
        reader, writer = await asyncio.open_connection(*address_of(lab, "A"))
        async with asyncio.timeout(PATIENCE_S):
            writer.write(f"a LOGIN kim {TOKEN}\r\nb SELECT {BOX}\r\n".encode())
            while not (await reader.readline()).startswith(b"b OK"):
                pass
            many = " ".join(f"BODY.PEEK[1]<{each}.1>" for each in range(1000))
            writer.write(f"c FETCH 1 ({many})\r\n".encode())
            turns = await turns_until(reader, b"c OK FETCH completed.\r\n")
        writer.close()
    assert turns > 1000


@pytest.mark.parametrize("encoding", ["base64", "x-nobodys", "\xff"])
async def test_a_part_that_cannot_be_decoded_is_refused(
    lab: LiveLab, encoding: str, caplog: pytest.LogCaptureFixture
) -> None:
    """FETCH BINARY of such a part ended the connection with an internal error. The connection goes on."""
    mail = b"Content-Transfer-Encoding: " + encoding.encode("latin-1") + b"\r\n\r\n====A\r\n"
    async with lab:

        def act(program: imaplib.IMAP4) -> None:
            done(program.append(BOX, "", "", mail))
            for item in ("BINARY.PEEK[1]", "BINARY.PEEK[]", "BINARY.SIZE[1]"):
                status, (why,) = program.fetch("1", f"({item})")
                assert status == "NO" and isinstance(why, bytes) and why.startswith(b"[UNKNOWN-CTE]")
            assert bodies(program) == [mail]

        await use(address_of(lab, "A"), act)
        assert not [each for each in caplog.records if each.name == "pflab.imap"]


async def test_a_part_in_binary_needs_no_decoder(lab: LiveLab) -> None:
    async with lab:
        program = f"a LOGIN kim {TOKEN}\r\nb SELECT {BOX}\r\nc APPEND {BOX} {{41+}}\r\n"
        mail = b"Content-Transfer-Encoding: binary\r\n\r\n\x00\xff\r\n"
        said = await answers(
            address_of(lab, "A"), program.encode() + mail + b"\r\nd FETCH 1 BINARY.PEEK[1]\r\ne LOGOUT\r\n"
        )
        assert b"(BINARY[1] ~{4}\r\n\x00\xff\r\n)" in said


@contextmanager
def mail_program_of_nobody(address: tuple[str, int]) -> Iterator[None]:
    with socket.create_connection(address):
        yield
