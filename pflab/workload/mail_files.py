"""Mail as files: mbox, Maildir and single messages read, mbox written. Bytes in, bytes out; no mail is looked into.

An mbox is read and written in its `rd` form: a line of the mail that begins with `From ` gets one `>` more than it had,
so that what was written is read back to the byte, save a line end that the last line of a mail lacked. (spec: ML-5)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pflab.errors import LabError
from transport.mime.describe import NOT_A_MAIL, looks_like_mail
from transport.mime.headers import date_text
from transport.mime.message import MAX_MAIL_SIZE

MAX_MAILS: Final = 1_000_000
"""Mails that are taken from one place."""

_SEPARATOR: Final = re.compile(rb"(?:\A|(?<=\n)\r?\n)From [^\r\n]*\r?\n")
_QUOTED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_TO_QUOTE: Final = re.compile(rb"^(>*From )", re.MULTILINE)
_MAILDIR: Final = ("cur", "new")


@dataclass(frozen=True, slots=True)
class MailFile:
    """One mail and where it was found: `mail.mbox:3` is the third of an mbox."""

    source: str
    content: bytes


def read_mails(path: Path) -> Iterator[MailFile]:
    """The mails of a file or folder: an mbox if it begins with `From `, else one message; of a folder a Maildir's, or
    its .eml files, in the order of their names. Raises LabError in one line for what cannot be read or holds no mail."""
    try:
        if path.is_dir():
            yield from _of_folder(path)
        elif path.stat().st_size > MAX_MAIL_SIZE and not _is_mbox(path):
            raise LabError(f"{path}: {path.stat().st_size} bytes, and no mbox; a mail has at most {MAX_MAIL_SIZE}")
        else:
            yield from split_file(str(path), path.read_bytes())
    except OSError as error:
        raise LabError(
            f"{path}: {(error.strerror or str(error)).lower()}; name an mbox, a Maildir or an .eml"
        ) from error


def split_file(name: str, content: bytes) -> Iterator[MailFile]:
    """The mails in the content of one file."""
    if not content.strip():
        raise LabError(f"{name}: nothing in it; name an mbox, a Maildir or an .eml")
    if not content.startswith(b"From "):
        # Whoever calls it .eml means it, however broken it is; any other file may be here by mistake.
        if not name.endswith(".eml") and not looks_like_mail(content):
            raise LabError(f"{name}: {NOT_A_MAIL}")
        yield MailFile(name, content)
        return
    for number, mail in enumerate(split_mbox(content), start=1):
        if number > MAX_MAILS:
            raise LabError(f"{name}: more than {MAX_MAILS} mails; cut it in pieces")
        yield MailFile(f"{name}:{number}", mail)


def split_mbox(content: bytes) -> Iterator[bytes]:
    """The mails of an mbox, their `>From ` lines as they were."""
    at: int | None = None
    for match in _SEPARATOR.finditer(content):
        if at is not None:
            yield _QUOTED.sub(rb"\1", content[at : match.start()])
        at = match.end()
    if at is not None:
        last = content[at:]
        # The empty line behind the last mail belongs to the mbox.
        for end in (b"\n\r\n", b"\n\n"):
            if last.endswith(end):
                last = last[: len(last) - len(end) + 1]
                break
        yield _QUOTED.sub(rb"\1", last)


def mbox_of(mails: Iterable[tuple[str, int, bytes]]) -> Iterator[bytes]:
    """An mbox in pieces; each mail is its sender's address, its lab time and its content."""
    for sender, at, content in mails:
        name = "".join(sender.split()) or "MAILER-DAEMON"
        # asctime's form, which mbox readers know: `Tue Oct 21 00:00:00 2003`.
        day, date, month, year, clock, _ = date_text(at).replace(",", "").split()
        yield f"From {name} {day} {month} {int(date):2} {clock} {year}\n".encode("utf-8", "replace")
        yield _TO_QUOTE.sub(rb">\1", content)
        yield b"\n" if content.endswith(b"\n") else b"\n\n"


def _is_mbox(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(5) == b"From "


def _of_folder(path: Path) -> Iterator[MailFile]:
    places = [path / name for name in _MAILDIR if (path / name).is_dir()]
    files = sorted(each for place in places for each in place.iterdir()) or sorted(path.glob("*.eml"))
    if not files:
        if places:
            return
        raise LabError(f"{path}: a folder without mail; name a Maildir (with cur and new) or a folder of .eml files")
    for file in files:
        if file.is_file() and not file.name.startswith("."):
            yield MailFile(str(file), file.read_bytes())
