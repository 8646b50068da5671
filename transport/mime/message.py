"""Replication mails as MIME: header fields and one encoded body, built and read almost as fast as bytes are copied.

Our own mails have one part: TNEF and MDBEF in base64 with lines of 996 columns, S-TNEF as binary. RFC 2045 6.8 asks for lines
of at most 76 columns. The longer lines are within the limit of SMTP (998) and pass through DATA nearly three times as fast. The
reader accepts the form of any sender, also a multipart that a relay put around our body, or a body with lines of other lengths.

The base64 of our own mails, up to 300 KB each, uses the fastest codec available: msgspec, which writes bytes in JSON as base64,
twice as fast as binascii in both directions. It reads only correct base64 without line ends, so lines of our own length are
joined first. Binascii, which is lenient, reads all other bodies, for example with other line lengths or foreign characters.

Before a bridgehead sends an S-TNEF mail over a connector, or to a server without CHUNKING, it encodes the TNEF in base64. The
bytes of the TNEF do not change, so the items and the signature over them stay valid.

No input raises an error other than `CodecError`.

(spec: ML-2, ML-4)
"""

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, a2b_qp
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from traces.labtime import LabTime
from transport.errors import CodecError
from transport.mime.headers import (
    MAX_FIELDS,
    Field,
    address_field,
    date_text,
    decode_words,
    first_field,
    header_of,
    header_size,
    message_id_field,
    parse_addresses,
    parse_date,
    parse_fields,
    parse_message_id,
    split_header,
    text_field,
)


class BodyForm(StrEnum):
    """The form of the system message in the mail's body."""

    TNEF = "TNEF"
    S_TNEF = "S-TNEF"
    MDBEF = "MDBEF"


TYPE_TNEF: Final = "application/ms-tnef"
TYPE_TNEF_REGISTERED: Final = "application/vnd.ms-tnef"
"""The registered name of the TNEF type. Some relays write this name; pflab only reads it."""
TYPE_MDBEF: Final = "application/x-pflab-mdbef"

CONTENT_IDENTIFIER_FIELD: Final = "Content-Identifer"
"""Exchange writes this name without the second i [reference/exchange.md section 3]."""
CONTENT_IDENTIFIER: Final = "ExSysMessage"
"""The value that marks a system message [reference/exchange.md section 3]."""

MAX_MAIL_SIZE: Final = 256 * 1024 * 1024
"""Largest mail in bytes. The limit of SMTP is far lower."""

MAX_DEPTH: Final = 10
"""Largest depth of multiparts in multiparts."""

MAX_MIME_PARTS: Final = 1000
"""Largest number of parts of one mail."""

MAX_BOUNDARIES: Final = 100_000
"""Largest number of places in one mail that look like a boundary, even if they are not boundaries."""

MAX_BOUNDARY_LINE: Final = 1000
"""Largest distance from a boundary to the end of its line."""

HEAD_ENDS: Final = {
    BodyForm.TNEF: f'Content-Type: {TYPE_TNEF}; name="winmail.dat"\r\n'
    "Content-Transfer-Encoding: base64\r\n"
    'Content-Disposition: attachment; filename="winmail.dat"\r\n',
    BodyForm.S_TNEF: f'Content-Type: {TYPE_TNEF}; name="winmail.dat"\r\n'
    "Content-Transfer-Encoding: binary\r\n"
    'Content-Disposition: attachment; filename="winmail.dat"\r\n',
    BodyForm.MDBEF: f"Content-Type: {TYPE_MDBEF}\r\nContent-Transfer-Encoding: base64\r\n",
}
LINE_COLUMNS: Final = 996
"""Base64 columns in a line: the largest multiple of 4 below the limit of RFC 5321, which is 998."""

_STRIDE: Final = LINE_COLUMNS + 2  # with its CRLF
_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(bytes)
_OWN_HEADER_BYTES: Final = 16 * 1024  # a mail with a larger header is not encoded again
_OWN_HEAD_ENDS: Final = {form: HEAD_ENDS[form].encode("ascii") for form in BodyForm}
_BINARY_FIELD: Final = re.compile(rb"^content-transfer-encoding:[ \t]*binary\b", re.IGNORECASE | re.MULTILINE)
_BOUNDARY: Final = re.compile(r';\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MailHeaders:
    """The header of a mail to write. Addresses are bare (name@domain); the Message-ID is without angle brackets.

    `date_at` is lab time; the header shows whole seconds. `extra` are further fields, in order.
    """

    message_id: str
    sender: str
    recipients: tuple[str, ...]
    subject: str
    date_at: LabTime
    extra: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedMail:
    """A parsed mail. `form` and `body` are None for ordinary mail; missing fields are empty.

    `recipients` are those of To and Cc. `headers` are the fields of the mail's own header, unfolded, in order.
    """

    message_id: str
    sender: str
    recipients: tuple[str, ...]
    subject: str
    date_at: LabTime | None
    form: BodyForm | None
    body: bytes | None
    headers: tuple[Field, ...]


def build_mail(headers: MailHeaders, form: BodyForm, body: bytes) -> bytes:
    """Return the mail's content with CRLF line ends. Raise `CodecError` for a header value that would end its field.

    A mail of form S-TNEF has a binary body, which only BDAT can carry; the others are 7-bit.
    """
    head = "".join(
        (
            message_id_field(headers.message_id),
            address_field("From", (headers.sender,)),
            address_field("To", headers.recipients),
            f"Date: {date_text(headers.date_at)}\r\n",
            text_field("Subject", headers.subject),
            f"MIME-Version: 1.0\r\n{CONTENT_IDENTIFIER_FIELD}: {CONTENT_IDENTIFIER}\r\n",
            *[text_field(name, value) for name, value in headers.extra],
            HEAD_ENDS[form],
        )
    ).encode("ascii")
    return _mail(head, form, body)


def is_system_mail(content: bytes) -> bool:
    """Return whether the header marks a mail as a system message. Anybody can write the mark; a signature proves it."""
    mark = f"\n{CONTENT_IDENTIFIER_FIELD}: {CONTENT_IDENTIFIER}\r\n".encode("ascii").lower()
    return mark in header_of(content).lower()


def system_body(content: bytes) -> tuple[BodyForm, bytes] | None:
    """Return the form and body that `parse_mail` finds. This is fast for our own mails, because other fields are not read."""
    end = content.find(b"\r\n\r\n", 0, _OWN_HEADER_BYTES)
    if end > 0 and len(content) <= MAX_MAIL_SIZE:
        head = content[: end + 2]
        for form, last in _OWN_HEAD_ENDS.items():
            if head.endswith(last) and _is_alone(head, len(head) - len(last)):
                encoding = "binary" if form is BodyForm.S_TNEF else "base64"
                return form, _decode_body(content, end + 4, len(content), encoding)[0]
    return _find_body(content)[1]


def with_body(content: bytes, body: bytes) -> bytes | None:
    """Return one of our own mails with another body in the same form; None for a mail in the form of another program."""
    end = content.find(b"\r\n\r\n", 0, _OWN_HEADER_BYTES)
    head = content[: end + 2]
    form = next((form for form, last in _OWN_HEAD_ENDS.items() if head.endswith(last)), None)
    if end < 0 or form is None:
        return None
    return _mail(head, form, body)


def _mail(head: bytes, form: BodyForm, body: bytes) -> bytes:
    if form is BodyForm.S_TNEF:
        return b"\r\n".join((head, body))
    return b"\r\n".join([head, *encoded_lines(body), b""])


def _find_body(content: bytes) -> tuple[tuple[Field, ...], tuple[BodyForm, bytes] | None]:
    """Return the header's fields, and form and body of the first system message in a mail."""
    if len(content) > MAX_MAIL_SIZE:
        raise CodecError(f"the mail has {len(content)} bytes; at most {MAX_MAIL_SIZE} are read")
    search = _Search(content)
    body = search.look(0, len(content), 1)
    return search.fields, body


def _is_alone(head: bytes, at: int) -> bool:
    """Return whether no field before `at` describes the body."""
    lower = head.lower()
    return (
        head[at - 2 : at] == b"\r\n"
        and lower.count(b"content-type") == 1 == lower.count(b"content-transfer-encoding")
        and b"\n\n" not in head
        and not head.startswith((b"\r", b"\n"))
        and head.count(b"\n") < MAX_FIELDS
    )


def parse_mail(content: bytes) -> ParsedMail:
    """Read any mail. Raise `CodecError` beyond a limit, or if its TNEF or MDBEF body cannot be decoded."""
    fields, form_and_body = _find_body(content)
    form, body = form_and_body or (None, None)
    sender = parse_addresses(first_field(fields, "from"))
    return ParsedMail(
        message_id=parse_message_id(first_field(fields, "message-id")),
        sender=sender[0] if sender else "",
        recipients=parse_addresses(first_field(fields, "to")) + parse_addresses(first_field(fields, "cc")),
        subject=decode_words(first_field(fields, "subject")),
        date_at=parse_date(first_field(fields, "date")),
        form=form,
        body=body,
        headers=fields,
    )


def boundary_of(content_type: str) -> str:
    """Return the boundary in the value of a Content-Type field; '' if it has none."""
    match = _BOUNDARY.search(content_type)
    return (match[1] or match[2]).rstrip() if match else ""


class PartSplitter:
    """Splits a mail's multiparts at their boundaries, with one limit for the whole mail."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.boundaries = 0

    def split(self, boundary: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield start and end of each part between boundary lines; a part without an end boundary ends at `end`."""
        content = self.content
        delimiter = b"--" + boundary.encode("utf-8", "replace")
        opened = -1
        at = content.find(delimiter, start, end)
        while at >= 0:
            self.boundaries += 1
            if self.boundaries > MAX_BOUNDARIES:
                raise CodecError(f"the mail has more than {MAX_BOUNDARIES} lines that look like a boundary")
            line_at, after = at, at + len(delimiter)
            at = content.find(delimiter, after, end)
            if line_at > start and content[line_at - 1] != 0x0A:
                continue
            last = content.startswith(b"--", after, end)
            tail = after + 2 if last else after
            line_end = content.find(b"\n", tail, min(end, tail + MAX_BOUNDARY_LINE))
            if line_end < 0 and last:
                line_end = end  # the last boundary needs no line end
            if line_end < 0 or line_end > tail + MAX_BOUNDARY_LINE or content[tail:line_end].strip():
                continue
            if opened >= 0:
                yield opened, max(opened, _before_line_end(content, line_at))
            opened = -1 if last else line_end + 1
            if last:
                return
        if opened >= 0:
            yield opened, end


class _Search:
    """Finds the first TNEF or MDBEF body in a mail, depth first."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.fields: tuple[Field, ...] = ()  # of the mail's own header
        self.parts = 0
        self.splitter = PartSplitter(content)

    def look(self, at: int, end: int, depth: int) -> tuple[BodyForm, bytes] | None:
        """Return form and body of the first system message in a mail (depth 1) or part."""
        block, start = split_header(self.content, at, end)
        fields = parse_fields(block)
        if depth == 1:
            self.fields = fields
        content_type = first_field(fields, "content-type")
        main = content_type.partition(";")[0].strip().lower()
        if main in {TYPE_TNEF, TYPE_TNEF_REGISTERED, TYPE_MDBEF}:
            encoding = first_field(fields, "content-transfer-encoding").lower()
            body, binary = _decode_body(self.content, start, end, encoding)
            if main == TYPE_MDBEF:
                return BodyForm.MDBEF, body
            return (BodyForm.S_TNEF if binary else BodyForm.TNEF), body
        name = boundary_of(content_type) if main.startswith("multipart/") else ""
        if not name:
            return None
        if depth >= MAX_DEPTH:
            raise CodecError(f"multiparts are nested more than {MAX_DEPTH} deep")
        for part_start, part_end in self.splitter.split(name, start, end):
            self.parts += 1
            if self.parts > MAX_MIME_PARTS:
                raise CodecError(f"the mail has more than {MAX_MIME_PARTS} MIME parts")
            form_and_body = self.look(part_start, part_end, depth + 1)
            if form_and_body is not None:
                return form_and_body
        return None


def _before_line_end(content: bytes, at: int) -> int:
    """Return the end of a part: the line end before a boundary belongs to the boundary [RFC 2046 5.1.1]."""
    return at - 2 if content.startswith(b"\r\n", at - 2) else at - 1


def _decode_body(content: bytes, start: int, end: int, encoding: str) -> tuple[bytes, bool]:
    """Return the decoded body, and whether it was not encoded."""
    try:
        if encoding == "base64":
            return decoded(content, start, end), False
        if encoding == "quoted-printable":
            return a2b_qp(content[start:end]), False
    except (Base64Error, ValueError) as wrong:
        raise CodecError(f"the mail's body is not {encoding}: {wrong}") from wrong
    if encoding not in {"", "7bit", "8bit", "binary"}:
        raise CodecError(f"the mail's body has the encoding {encoding[:40]!r}, which RFC 2045 does not define")
    return content[start:end], True


# -- base64


def encoded_lines(body: bytes) -> Iterator[memoryview]:
    """Return the base64 of `body` in lines, without line ends."""
    text = memoryview(_ENCODER.encode(body))[1:-1]  # a JSON string without its quotes
    return (text[at : at + LINE_COLUMNS] for at in range(0, len(text), LINE_COLUMNS))


def decoded(content: bytes, start: int, end: int) -> bytes:
    """Return the bytes whose base64 is ``content[start:end]``. Raise `binascii.Error` for malformed base64."""
    text = _joined(content, start, end)
    # A backslash is an escape in JSON; binascii ignores it, like any character that is not base64.
    if text is not None and b"\\" not in text:
        try:
            return _DECODER.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            pass
    return a2b_base64(memoryview(content)[start:end])


def _joined(content: bytes, start: int, end: int) -> bytes | None:
    """Return the lines as one JSON string; None if they are not as `encoded_lines` makes them."""
    stop = end - 2 if content.endswith(b"\r\n", start, end) else end
    returns, feeds = content[start + LINE_COLUMNS : stop : _STRIDE], content[start + LINE_COLUMNS + 1 : stop : _STRIDE]
    if returns.count(b"\r") != len(returns) or feeds.count(b"\n") != len(returns):
        return None
    view = memoryview(content)
    lines = [view[at : min(at + LINE_COLUMNS, stop)] for at in range(start, stop, _STRIDE)]
    return b"".join((b'"', *lines, b'"'))


# -- the 7-bit form of a binary mail (spec: ML-4)


def is_binary(content: bytes) -> bool:
    """Return whether the header says that the body is binary. DATA cannot carry such a mail."""
    header = header_of(content)
    return not header.endswith(_OWN_HEAD_ENDS[BodyForm.TNEF]) and _BINARY_FIELD.search(header) is not None


def far_size(content: bytes, header_bytes: int) -> int:
    """Return the length of `as_seven_bit(content)`, without encoding it; the mail's own length if it cannot be encoded."""
    if not _is_s_tnef(content, header_bytes):
        return len(content)
    encoded = (len(content) - header_bytes - 2 + 2) // 3 * 4
    lines = -(-encoded // LINE_COLUMNS)
    return (
        header_bytes
        + 2
        - len(_OWN_HEAD_ENDS[BodyForm.S_TNEF])
        + len(_OWN_HEAD_ENDS[BodyForm.TNEF])
        + encoded
        + 2 * lines
    )


def as_seven_bit(content: bytes) -> bytes:
    """Return an S-TNEF mail with its body in base64. Return any other mail without a binary body unchanged.

    Raise CodecError for a binary mail of another program: this function cannot encode its parts.
    """
    if not is_binary(content):
        return content
    size = header_size(content)
    if not _is_s_tnef(content, size):
        raise CodecError(
            "the binary body of the mail is not an S-TNEF message of this program, so it cannot be encoded as text"
        )
    head = content[: size - len(_OWN_HEAD_ENDS[BodyForm.S_TNEF])] + _OWN_HEAD_ENDS[BodyForm.TNEF]
    return b"\r\n".join([head, *encoded_lines(content[size + 2 :]), b""])


def _is_s_tnef(content: bytes, header_bytes: int) -> bool:
    return (
        header_bytes + 2 <= _OWN_HEADER_BYTES
        and content.endswith(_OWN_HEAD_ENDS[BodyForm.S_TNEF], 0, header_bytes)
        and content.startswith(b"\r\n", header_bytes)
    )
