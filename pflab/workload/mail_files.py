"""Mail as files: read mbox, Maildir and .eml files, write mbox files. This module treats mails as bytes and does not
parse them.

An mbox is read and written in the form mboxrd: when a mail is written, each line that begins with `From `, with or without
`>`s before it, gets one more `>`. So mails are read back byte for byte, except that a missing line end after the last line
is added. (spec: ML-5)
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
"""The most mails in one mbox."""

_SEPARATOR: Final = re.compile(rb"(?:\A|(?<=\n)\r?\n)From [^\r\n]*\r?\n")
_QUOTED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_TO_QUOTE: Final = re.compile(rb"^(>*From )", re.MULTILINE)
_MAILDIR: Final = ("cur", "new")


@dataclass(frozen=True, slots=True)
class MailFile:
    """One mail and its source: `mail.mbox:3` is the third mail of an mbox."""

    source: str
    content: bytes


def read_mails(path: Path) -> Iterator[MailFile]:
    """Yield the mails of a file or folder. A file that begins with `From ` is an mbox; another file has one mail. A folder is
    a Maildir or has .eml files, which are read in the order of their names. Raises LabError if a file cannot be read or
    contains no mail."""
    try:
        if path.is_dir():
            yield from _of_folder(path)
        elif path.is_char_device():
            raise LabError(f"{path}: this is a device; name an mbox, a Maildir or an .eml file")
        elif path.stat().st_size > MAX_MAIL_SIZE and not _is_mbox(path):
            raise LabError(f"{path}: a mail has at most {MAX_MAIL_SIZE} bytes, and this file has {path.stat().st_size}")
        else:
            yield from split_file(str(path), path.read_bytes())
    except OSError as error:
        raise LabError(
            f"{path}: {(error.strerror or str(error)).lower()}; name an mbox, a Maildir or an .eml"
        ) from error


def split_file(name: str, content: bytes) -> Iterator[MailFile]:
    """Yield the mails in the content of a file. Raises LabError if it contains none."""
    if not content.strip():
        raise LabError(f"{name}: the file is empty; name an mbox, a Maildir or an .eml")
    if not content.startswith(b"From "):
        # A file named .eml counts as a mail even if it is malformed. Any other file must look like a mail, because it may be
        # given by mistake.
        if not name.endswith(".eml") and not looks_like_mail(content):
            raise LabError(f"{name}: {NOT_A_MAIL}")
        yield MailFile(name, content)
        return
    for number, mail in enumerate(split_mbox(content), start=1):
        if number > MAX_MAILS:
            raise LabError(f"{name}: more than {MAX_MAILS} mails; split the file")
        yield MailFile(f"{name}:{number}", mail)


def split_mbox(content: bytes) -> Iterator[bytes]:
    """Yield the mails of an mbox, with one `>` removed from each quoted `From ` line."""
    at: int | None = None
    for match in _SEPARATOR.finditer(content):
        if at is not None:
            yield _QUOTED.sub(rb"\1", content[at : match.start()])
        at = match.end()
    if at is not None:
        last = content[at:]
        # The empty line after the last mail belongs to the mbox.
        for end in (b"\n\r\n", b"\n\n"):
            if last.endswith(end):
                last = last[: len(last) - len(end) + 1]
                break
        yield _QUOTED.sub(rb"\1", last)


def mbox_of(mails: Iterable[tuple[str, int, bytes]]) -> Iterator[bytes]:
    """Yield the parts of an mbox. mails: the sender's address, the lab time and the content of each."""
    for sender, at, content in mails:
        name = "".join(sender.split()) or "MAILER-DAEMON"
        # The form of asctime, which programs that read an mbox know: `Tue Oct 21 00:00:00 2003`.
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
        raise LabError(f"{path}: no mail in this folder; name a Maildir (with cur and new) or a folder of .eml files")
    for file in files:
        if file.is_file() and not file.name.startswith("."):
            yield MailFile(str(file), file.read_bytes())
