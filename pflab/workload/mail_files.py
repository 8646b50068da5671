"""Mail as files: read mbox, Maildir and .eml files. This module treats mails as bytes and does not parse them. (spec: ML-5)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pflab.errors import LabError
from pflab.workload.mbox import BYTE_ORDER_MARK, is_mbox, split_mbox
from transport.mime.describe import NOT_A_MAIL, looks_like_mail
from transport.mime.message import MAX_MAIL_SIZE

MAX_MAILS: Final = 1_000_000
"""The largest number of mails in one mbox."""

_FIRST_BYTES: Final = 4096
_MAILDIR: Final = ("cur", "new")


@dataclass(frozen=True, slots=True)
class MailFile:
    """One mail and its source: `mail.mbox:3` is the third mail of an mbox."""

    source: str
    content: bytes


def read_mails(path: Path) -> Iterator[MailFile]:
    """Yield the mails of a file or folder. A file that begins with `From ` is an mbox; another file has one mail. A folder is
    a Maildir or has .eml files, which are read in the order of their names. A byte order mark is left out. Raises LabError if
    a file cannot be read or contains no mail."""
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
    """Yield the mails in the content of a file. Raises LabError if it contains none, or an mbox that cannot be read."""
    if not content.removeprefix(BYTE_ORDER_MARK).strip():
        raise LabError(f"{name}: the file is empty; name an mbox, a Maildir or an .eml")
    if not is_mbox(content):
        content = content.removeprefix(BYTE_ORDER_MARK)
        # A file named .eml counts as a mail even if it is malformed. Any other file must look like a mail, because it may be
        # given by mistake.
        if not name.endswith(".eml") and not looks_like_mail(content):
            raise LabError(f"{name}: {NOT_A_MAIL}")
        yield MailFile(name, content)
        return
    try:
        mails = split_mbox(content)
    except LabError as error:
        raise LabError(f"{name}: {error}") from None
    for number, mail in enumerate(mails, start=1):
        if number > MAX_MAILS:
            raise LabError(f"{name}: more than {MAX_MAILS} mails; split the file")
        yield MailFile(f"{name}:{number}", mail)


def _is_mbox(path: Path) -> bool:
    with path.open("rb") as file:
        return is_mbox(file.read(_FIRST_BYTES))


def _of_folder(path: Path) -> Iterator[MailFile]:
    places = [path / name for name in _MAILDIR if (path / name).is_dir()]
    files = sorted(file for place in places for file in place.iterdir()) or sorted(path.glob("*.eml"))
    if not files:
        if places:
            return
        raise LabError(f"{path}: no mail in this folder; name a Maildir (with cur and new) or a folder of .eml files")
    for file in files:
        if file.is_file() and not file.name.startswith("."):
            content = file.read_bytes()
            if not places and is_mbox(content):
                yield from split_file(str(file), content)
            else:
                yield MailFile(str(file), content.removeprefix(BYTE_ORDER_MARK))
