"""Mail programs that others wrote use a running lab: swaks posts by SMTP, mbsync, mutt and curl read and post by IMAP, ytnef
reads what stores send each other.

A program that is not installed is named in the reason for skipping; all are Debian's packages.
"""

from __future__ import annotations

import email
import mailbox
import os
import pty
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from email import policy
from pathlib import Path
from typing import Final

import pytest

from pflab.client import Client
from tests.support.running_lab import lab_up

pytestmark = [pytest.mark.outsiders, pytest.mark.live]

PASSWORD: Final = "a password of mail programs"
PATIENCE_S: Final = 60
DEBIAN: Final = {"mbsync": "isync", "ytnefprint": "ytnef-tools"}
"""The packages that are not called like their program."""

TOPOLOGY: Final = """
domain: contoso.test
sites: [SEA]
servers: {A: , B: }
folders: {Projects: {replicas: [A, B]}}
"""
SYNC: Final = """
IMAPStore far
Host 127.0.0.1
Port {port}
User kim
Pass "{password}"
SSLType None
AuthMechs LOGIN
PathDelimiter /

MaildirStore near
Path {folder}/mail/
Inbox {folder}/inbox
SubFolders Verbatim

Channel projects
Far :far:"#public/Projects"
Near :near:Projects
Create Near
Sync All
Expunge Both
SyncState *
"""
MUTT: Final = """
set ssl_starttls=no ssl_force_tls=no imap_pass="{password}"
set folder={folder} mbox_type=mbox copy=no move=no quit=yes delete=yes confirmappend=no confirmcreate=no sleep_time=0
push "{keys}"
"""
LETTER: Final = (
    b"From: Kim <kim@contoso.test>\r\nTo: projects@contoso.test\r\nSubject: By Maildir\r\nMessage-ID: <1@contoso.test>\r\n"
    b"MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    b"Gr\xc3\xbc\xc3\x9fe\r\n"
)


@dataclass(frozen=True, slots=True)
class Lab:
    """A running lab with IMAP.

    `folder`: where it was started.
    """

    client: Client
    folder: Path

    def port(self, protocol: str, server: str) -> int:
        """Return the port of a server's SMTP or IMAP listener."""
        servers = self.client.json("GET", "/lab")["servers"]
        (address,) = (each[protocol] for each in servers if each["name"] == server)
        return int(address.rpartition(":")[2])

    def subjects(self, server: str) -> list[str]:
        return sorted(each["subject"] for each in self.client.messages(server, "Projects"))


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "password").write_text(PASSWORD + "\n", "utf-8")
    options = ("--imap", "--imap-token-file", "password", "--keep-mails")
    with lab_up(folder, *options, topology=TOPOLOGY) as url, Client(url) as client:
        yield Lab(client, folder)


def ran(program: str, *arguments: str) -> str:
    """Run a program and return what it printed. Skip the test if the program is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (Debian's package {DEBIAN.get(program, program)})")
    done = subprocess.run(
        [program, *arguments], capture_output=True, check=False, timeout=PATIENCE_S, stdin=subprocess.DEVNULL
    )
    told = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert done.returncode == 0, told
    return told


def test_swaks_posts_to_a_folder(lab: Lab, tmp_path: Path) -> None:
    """A mail with an attachment to the folder's address becomes a post, which replicates and is read as that mail (ML-5)."""
    attached = tmp_path / "data.bin"
    attached.write_bytes(bytes(range(256)))
    ran(
        *("swaks", "--server", "127.0.0.1", "--port", str(lab.port("smtp", "A")), "--helo", "outside.test"),
        *("--from", "kim@outside.test", "--to", "projects@contoso.test", "--h-Subject", "By swaks"),
        *("--attach-type", "application/octet-stream", "--attach", f"@{attached}"),
    )
    lab.client.advance("1 h")
    assert lab.subjects("A") == lab.subjects("B") == ["By swaks"]
    (post,) = lab.client.messages("B", "Projects")
    kept = email.message_from_bytes(lab.client.mail("B", "Projects", post["id"]), policy=policy.default)
    (part,) = (each for each in kept.walk() if each.get_content_type() == "application/octet-stream")
    assert part.get_payload(decode=True) == attached.read_bytes()


def test_mbsync_keeps_a_folder_and_a_maildir_equal(lab: Lab, tmp_path: Path) -> None:
    """A post comes into the Maildir. A mail that is put there becomes a post, and a mail that is deleted there is deleted at
    every store."""
    settings = tmp_path / "mbsyncrc"
    settings.write_text(SYNC.format(port=lab.port("imap", "A"), password=PASSWORD, folder=tmp_path), "utf-8")
    settings.chmod(0o600)
    maildir = tmp_path / "mail" / "Projects"
    (tmp_path / "mail").mkdir()
    lab.client.post("B", "Projects", subject="From the lab", body="Hello\n", sender="kim@contoso.test")
    lab.client.advance("1 h")
    ran("mbsync", "-c", str(settings), "projects")
    (got,) = (path for path in maildir.glob("*/*") if path.parent.name in {"cur", "new"})
    assert b"Subject: From the lab" in got.read_bytes()

    (maildir / "new" / "1.2.3").write_bytes(LETTER.replace(b"\r\n", b"\n"))
    ran("mbsync", "-c", str(settings), "projects")
    lab.client.advance("1 h")
    assert lab.subjects("A") == lab.subjects("B") == ["By Maildir", "From the lab"]
    (post,) = (each for each in lab.client.messages("B", "Projects") if each["subject"] == "By Maildir")
    assert lab.client.mail("B", "Projects", post["id"]).endswith(LETTER.partition(b"\r\n\r\n")[2])

    got = next(path for path in maildir.glob("*/*") if path.is_file() and b"From the lab" in path.read_bytes())
    got.rename(maildir / "cur" / f"{got.name.partition(':')[0]}:2,ST")
    ran("mbsync", "-c", str(settings), "projects")
    lab.client.advance("1 h")
    assert lab.subjects("A") == lab.subjects("B") == ["By Maildir"]


def mutt(settings: Path, opened: str, keys: str) -> None:
    """Open a mailbox with mutt in a terminal, press keys, and end it."""
    if shutil.which("mutt") is None:
        pytest.skip("mutt is not installed (Debian's package mutt)")
    settings.write_text(MUTT.format(password=PASSWORD, folder=settings.parent, keys=keys), "utf-8")
    ours, terminal = pty.openpty()
    order = ["mutt", "-n", "-F", str(settings), "-f", opened]
    environment = {**os.environ, "TERM": "xterm", "HOME": str(settings.parent)}
    with subprocess.Popen(order, stdin=terminal, stdout=terminal, stderr=terminal, env=environment) as program:
        os.close(terminal)
        alarm = threading.Timer(PATIENCE_S, program.kill)
        alarm.start()
        shown = b""
        with suppress(OSError):  # the terminal is closed at the end
            while more := os.read(ours, 4096):
                shown += more
        alarm.cancel()
    os.close(ours)
    assert program.returncode == 0, shown.decode("utf-8", "replace")


def test_mutt_copies_posts_between_a_folder_and_a_mailbox(lab: Lab, tmp_path: Path) -> None:
    """mutt reads a folder and copies its post into a mailbox; from there it copies the mail to another server's replica, where
    it becomes a post."""
    folder, copy = "imap://kim@127.0.0.1:{}/#public/Projects", tmp_path / "copy"
    lab.client.post("A", "Projects", subject="For mutt", body="Hello\n", sender="kim@contoso.test")
    mutt(tmp_path / "muttrc", folder.format(lab.port("imap", "A")), f"<copy-message>{copy}<enter><quit>")
    with closing(mailbox.mbox(copy)) as kept:
        assert [each["Subject"] for each in kept] == ["For mutt"]
    copy.write_bytes(copy.read_bytes().replace(b"For mutt", b"By mutt"))
    to = folder.format(lab.port("imap", "B"))
    mutt(tmp_path / "muttrc", str(copy), f"<copy-message>{to}<enter><quit>")
    lab.client.advance("1 h")
    assert lab.subjects("A") == lab.subjects("B") == ["By mutt", "For mutt"]


def test_curl_reads_a_post_by_imap(lab: Lab) -> None:
    """curl finds a post by its subject and fetches it; a wrong password is refused."""
    lab.client.post("A", "Projects", subject="By IMAP", body="Hello\n", sender="kim@contoso.test")
    at = f"imap://127.0.0.1:{lab.port('imap', 'A')}/%23public%2FProjects"
    found = ran("curl", "-sS", "--user", f"kim:{PASSWORD}", at, "--request", "SEARCH SUBJECT imap")
    assert found.split() == ["*", "SEARCH", "1"]
    mail = ran("curl", "-sS", "--user", f"kim:{PASSWORD}", f"{at};UID=1")
    assert "Subject: By IMAP" in mail
    with pytest.raises(AssertionError, match=r"(?i)login|denied|auth"):
        ran("curl", "-sS", "--user", "kim:wrong", f"{at};UID=1")


def test_ytnef_reads_what_stores_send(lab: Lab, tmp_path: Path) -> None:
    """The body of a replication mail is TNEF for others too: ytnef finds its class, its properties and its one item (ML-2)."""
    lab.client.post("A", "Projects", subject="For ytnef", body="Hello", sender="kim@contoso.test")
    lab.client.advance("1 h")
    (kept,) = lab.folder.glob("runs/up/*/mails/*A-to-B-content.eml")
    mail = email.message_from_bytes(kept.read_bytes())
    (body,) = (part for part in mail.walk() if part.get_content_type() == "application/ms-tnef")
    stream = tmp_path / "winmail.dat"
    stream.write_bytes(body.get_payload(decode=True))  # type: ignore[arg-type]  # bytes of a part without parts
    told = ran("ytnefprint", str(stream))
    assert "Message Class: IPM.Replication" in told
    assert "MAPI Properties: 12" in told
    assert told.count("[File") == 1
    assert "ERROR" not in told
