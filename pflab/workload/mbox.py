"""mbox files as bytes: split them into mails, and write them.

A mail begins after a *separator*, a line such as `From kim@contoso.test Tue Oct 21 00:00:00 2003`. Programs disagree about
lines of a mail that begin with `From ` themselves, and nothing in a file names its form:

=========  ======================================================================================================
mboxrd     each `From ` line of a mail, with or without `>`s before it, has one more `>`; pflab writes this form
mboxo      only lines that begin with `From ` have a `>`; read like mboxrd, so a line `>>From ` loses one `>` too many
mboxcl     like mboxo, and each header has a `Content-Length`, the size of the body in the file
mboxcl2    has `Content-Length` too, and no `>` is added; recognized by a body with an unchanged `From ` line
others     lines are unchanged, or there is no empty line before separators, or Thunderbird's separator: `From ` alone
=========  ======================================================================================================

So a line that begins with `From ` is one of three things:

- A separator, if it has an address and a date, and comes after an empty line or before a header; or if it is `From ` or
  `From -` alone, and comes before a header.
- A line of a mail. A `Content-Length` that leads exactly to a separator or to the end of the file is trusted.
- Doubtful, if a header follows and it is neither of the two. Then the file is refused, because two mails would become one.

(spec: ML-5)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pflab.errors import LabError
from transport.mime.describe import MAIL_FIELDS
from transport.mime.headers import MAX_HEADER_SIZE, date_text

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_DAY: Final = rb"(?:[A-Z][a-z]{2},? +)?"
_MONTH: Final = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK: Final = rb"\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?"
_ZONE: Final = rb"(?: +(?:[A-Z]{1,5}|[+-]\d{4}|\([^()\r\n]{1,40}\))){0,2}"
_YEAR: Final = rb"(?:\d{4}|\d{2})"
_DATE: Final = b"|".join(
    [
        _DAY + _MONTH + rb" +\d{1,2} +" + _CLOCK + _ZONE + b" +" + _YEAR + _ZONE,  # asctime: Tue Oct 21 00:00:00 2003
        _DAY
        + rb"\d{1,2}[ -]"
        + _MONTH
        + b"[ -]"
        + _YEAR
        + b" +"
        + _CLOCK
        + _ZONE,  # RFC 5322: 21 Oct 2003 00:00:00 +0000
        rb"\d{4}-\d\d-\d\d[T ]" + _CLOCK + rb"(?:Z| *[+-]\d\d:?\d\d)?",  # ISO 8601
    ]
)
_ADDRESS: Final = rb'(?:"[^"\r\n]{0,200}"[^\s"]{0,300}|[^\s"][^\s]{0,500})'
_SEPARATOR: Final = re.compile(rb"From +" + _ADDRESS + rb" +(?:" + _DATE + rb")(?: +remote from [^\s]{1,200})?[ \t]*")
_BARE: Final = re.compile(rb"From +-?[ \t]*")
_ADDRESS_ALONE: Final = re.compile(rb"From +(?:-|MAILER-DAEMON|[^\s@]{1,200}@[^\s@]{1,200})(?: .*)?")
_LINE: Final = re.compile(rb"^From ([^\r\n]*)(?:\r?\n|\r?\Z)", re.MULTILINE)
_FIELD: Final = rb"[!-9;-~]{1,200}[ \t]*:[^\n]*(?:\n|\Z)(?:[ \t][^\n]*(?:\n|\Z))*"
_HEADER: Final = re.compile(rb"(?:>+From [^\n]*\n)*(?:" + _FIELD + b")+")
_NAME: Final = re.compile(rb"^([!-9;-~]+)[ \t]*:", re.MULTILINE)
_LENGTH: Final = re.compile(rb"^Content-Length:[ \t]*(\d{1,12})[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_EMPTY_LINE: Final = re.compile(rb"\r?\n")
_EMPTY_LINES: Final = re.compile(rb"(?:\r?\n){0,2}")
_FROM_LINE: Final = re.compile(rb"^From ", re.MULTILINE)
_QUOTED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_TO_QUOTE: Final = re.compile(rb"^(>*From )", re.MULTILINE)


class _Mail(NamedTuple):
    """A mail's place in the file.

    measured: Content-Length says where it ends.
    spaced: an empty line comes before its end.
    """

    begin: int
    end: int
    measured: bool = False
    spaced: bool = True


def is_mbox(content: bytes) -> bool:
    """Return whether a file begins like an mbox. It may have a byte order mark or empty lines first."""
    return content.removeprefix(BYTE_ORDER_MARK).lstrip(b"\r\n").startswith(b"From ")


def split_mbox(content: bytes) -> Iterator[bytes]:
    """Return the mails of an mbox. Raise LabError if it is not clear where each mail begins."""
    content = content.removeprefix(BYTE_ORDER_MARK)
    mails = list(_mails(content))
    spaced = all(mail.spaced for mail in mails)
    plain = any(mail.measured and _FROM_LINE.search(content, mail.begin, mail.end) for mail in mails)
    return (_content(content, mail, spaced=spaced, plain=plain and mail.measured) for mail in mails)


def mbox_of(mails: Iterable[tuple[str, int, bytes]]) -> Iterator[bytes]:
    """Yield the parts of an mbox.

    mails: the sender's address, the lab time and the content of each.
    """
    for sender, at, content in mails:
        name = "".join(sender.split()) or "MAILER-DAEMON"
        # The form of asctime, which programs that read an mbox know: `Tue Oct 21 00:00:00 2003`.
        day, date, month, year, clock, _ = date_text(at).replace(",", "").split()
        yield f"From {name} {day} {month} {int(date):2} {clock} {year}\n".encode("utf-8", "replace")
        yield _TO_QUOTE.sub(rb">\1", content)
        yield b"\n" if content.endswith(b"\n") else b"\n\n"


def _content(content: bytes, place: _Mail, *, spaced: bool, plain: bool) -> bytes:
    """Return a mail.

    spaced: the empty line at its end belongs to the mbox.
    plain: its lines are not quoted.
    """
    mail = content[place.begin : place.end]
    if spaced:
        mail = _without_empty_line(mail)
    return mail if plain else _QUOTED.sub(rb"\1", mail)


def _mails(content: bytes) -> Iterator[_Mail]:
    first = len(content) - len(content.lstrip(b"\r\n"))
    if first == len(content):
        return
    line = _LINE.match(content, first)
    if line is None or not _separates(content, line, first):
        raise LabError(
            'the first line begins with "From ", but has no address and date as the separators of an mbox have, such as:'
            " From kim@contoso.test Tue Oct 21 00:00:00 2003"
        )
    while line is not None:
        begin = line.end()
        measured, line = _measured(content, begin)
        if not measured:
            line = next((match for match in _LINE.finditer(content, begin) if _separates(content, match, first)), None)
        end = len(content) if line is None else line.start()
        yield _Mail(begin, end, measured, spaced=line is None or _after_empty_line(content, end, begin))


def _separates(content: bytes, line: re.Match[bytes], first: int) -> bool:
    """Return whether a line that begins with `From ` is a separator. Raise LabError if it is doubtful."""
    after_empty = line.start() == first or _after_empty_line(content, line.start(), first)
    text = line[0].rstrip(b"\r\n")
    if _SEPARATOR.fullmatch(text) is not None:
        return after_empty or _header(content, line.end()) is not None
    header = _header(content, line.end())
    names = set() if header is None else {name.decode("ascii").lower() for name in _NAME.findall(header)}
    if not names & MAIL_FIELDS:
        return False
    if _BARE.fullmatch(text) is not None:
        return True
    if after_empty or _ADDRESS_ALONE.fullmatch(text) is not None:
        number = content.count(b"\n", 0, line.start()) + 1
        raise LabError(
            f'line {number} begins with "From " and a header follows, but it has no address and date, so it is not clear'
            " whether a mail begins there; give it both, or a > before it if it is text"
        )
    return False


def _header(content: bytes, at: int) -> bytes | None:
    """Return the header fields at a place; None if there is none."""
    match = _HEADER.match(content, at, min(len(content), at + MAX_HEADER_SIZE))
    return None if match is None else match[0]


def _after_empty_line(content: bytes, at: int, begin: int) -> bool:
    alone = at - begin <= len(b"\r\n") and content[begin:at] in {b"\n", b"\r\n"}
    return alone or content.endswith((b"\n\n", b"\n\r\n"), begin, at)


def _measured(content: bytes, begin: int) -> tuple[bool, re.Match[bytes] | None]:
    """Return whether the Content-Length of a mail leads to a separator or to the end of the file, and this separator."""
    header = _header(content, begin)
    empty = None if header is None else _EMPTY_LINE.match(content, begin + len(header))
    if header is None or empty is None:
        return False, None
    for length in _LENGTH.findall(header):
        spaces = _EMPTY_LINES.match(content, empty.end() + int(length))
        line = None if spaces is None else _LINE.match(content, spaces.end())
        if line is not None and _SEPARATOR.fullmatch(line[0].rstrip(b"\r\n")) is not None:
            return True, line
        if spaces is not None and spaces.end() == len(content) and empty.end() + int(length) <= len(content):
            return True, None
    return False, None


def _without_empty_line(mail: bytes) -> bytes:
    """Return a mail without the empty line that an mbox has after each."""
    for end in (b"\n\r\n", b"\n\n"):
        if mail.endswith(end):
            return mail[: len(mail) - len(end) + 1]
    return b"" if mail in {b"\n", b"\r\n"} else mail
