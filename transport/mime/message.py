"""The MIME form of a mail: header fields and one encoded body, built and read at the speed of a copy.

Our own mails have one part and are written by hand: TNEF and MDBEF in base64 with lines of 996 columns, S-TNEF
as binary. RFC 2045 6.8 wants lines of at most 76; the longer ones stay within what SMTP allows (998) and pass
through DATA at nearly three times the speed. Reading takes any sender's form, among them a multipart that a
relay made around our body, or a body that it wrapped anew.

Nothing but `CodecError` is raised, whatever comes in.

(spec: ML-2, ML-4)
"""

import re
from binascii import Error as Base64Error
from binascii import a2b_qp
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from traces.labtime import LabTime
from transport.errors import CodecError
from transport.mime.base64_body import decoded, encoded_lines
from transport.mime.headers import (
    MAX_FIELDS,
    Field,
    address_field,
    date_text,
    decode_words,
    message_id_field,
    parse_addresses,
    parse_date,
    parse_fields,
    parse_message_id,
    split_header,
    text_field,
)


class BodyForm(StrEnum):
    """How the system message is written in the mail's body."""

    TNEF = "TNEF"
    S_TNEF = "S-TNEF"
    MDBEF = "MDBEF"


TYPE_TNEF: Final = "application/ms-tnef"
TYPE_TNEF_REGISTERED: Final = "application/vnd.ms-tnef"
"""The registered name of the same thing, which some relays prefer; read, never written."""
TYPE_MDBEF: Final = "application/x-pflab-mdbef"

CONTENT_IDENTIFIER_FIELD: Final = "Content-Identifer"
"""Sic: Exchange writes it without the second i [reference/exchange.md section 3]."""
CONTENT_IDENTIFIER: Final = "ExSysMessage"
"""What marks a system message [reference/exchange.md section 3]."""

MAX_MAIL_SIZE: Final = 256 * 1024 * 1024
"""Bytes of one mail; `transport` lets far less in by SMTP."""

MAX_DEPTH: Final = 10
"""How deep multiparts may lie in one another."""

MAX_MIME_PARTS: Final = 1000
"""Parts of a multipart mail that are looked at."""

MAX_BOUNDARIES: Final = 100_000
"""Places in a mail that look like a boundary, true or not."""

MAX_BOUNDARY_LINE: Final = 1000
"""How far behind a boundary its line must end."""

HEAD_ENDS: Final = {
    BodyForm.TNEF: f'Content-Type: {TYPE_TNEF}; name="winmail.dat"\r\n'
    "Content-Transfer-Encoding: base64\r\n"
    'Content-Disposition: attachment; filename="winmail.dat"\r\n',
    BodyForm.S_TNEF: f'Content-Type: {TYPE_TNEF}; name="winmail.dat"\r\n'
    "Content-Transfer-Encoding: binary\r\n"
    'Content-Disposition: attachment; filename="winmail.dat"\r\n',
    BodyForm.MDBEF: f"Content-Type: {TYPE_MDBEF}\r\nContent-Transfer-Encoding: base64\r\n",
}
_OWN_HEADER_BYTES: Final = 16 * 1024
_OWN_HEAD_ENDS: Final = {form: HEAD_ENDS[form].encode("ascii") for form in BodyForm}
_BOUNDARY: Final = re.compile(r';\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MailHeaders:
    """What the header of a mail says. Addresses are bare (name@domain), the Message-ID without its <>.

    `date_at` is lab time; the header shows whole seconds of it. `extra` are further fields, in order.
    """

    message_id: str
    sender: str
    recipients: tuple[str, ...]
    subject: str
    date_at: LabTime
    extra: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedMail:
    """A mail as it was read. `form` and `body` are None for ordinary mail; missing fields are empty.

    `recipients` are those of To and Cc. `headers` are the top fields, unfolded, in order.
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
    """The mail's content, lines ended by CRLF. `CodecError` for a header value that would not be one value.

    A mail of form S-TNEF has a binary body, which only BDAT carries; the others are 7-bit.
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
    if form is BodyForm.S_TNEF:
        return b"\r\n".join((head, body))
    return b"\r\n".join([head, *encoded_lines(body), b""])


def system_body(content: bytes) -> tuple[BodyForm, bytes] | None:
    """Form and body that `parse_mail` would find, without reading the other fields where the mail is one of ours."""
    end = content.find(b"\r\n\r\n", 0, _OWN_HEADER_BYTES)
    if end > 0 and len(content) <= MAX_MAIL_SIZE:
        head = content[: end + 2]
        for form, last in _OWN_HEAD_ENDS.items():
            if head.endswith(last) and _is_alone(head, len(head) - len(last)):
                encoding = "binary" if form is BodyForm.S_TNEF else "base64"
                return form, _decode_body(content, end + 4, len(content), encoding)[0]
    parsed = parse_mail(content)
    return None if parsed.form is None or parsed.body is None else (parsed.form, parsed.body)


def _is_alone(head: bytes, at: int) -> bool:
    """True if the fields from `at` on say of the body all that the header says of it."""
    lower = head.lower()
    return (
        head[at - 2 : at] == b"\r\n"
        and lower.count(b"content-type") == 1 == lower.count(b"content-transfer-encoding")
        and b"\n\n" not in head
        and not head.startswith((b"\r", b"\n"))
        and head.count(b"\n") < MAX_FIELDS
    )


def parse_mail(content: bytes) -> ParsedMail:
    """Reads any mail. `CodecError` if it is beyond a limit, or if its TNEF or MDBEF body cannot be decoded."""
    if len(content) > MAX_MAIL_SIZE:
        raise CodecError(f"a mail of {len(content)} bytes, at most {MAX_MAIL_SIZE} are read")
    block, body_at = split_header(content, 0, len(content))
    fields = parse_fields(block)
    found = _Search(content).look(fields, body_at, len(content), 1)
    form, body = found or (None, None)
    sender = parse_addresses(_first(fields, "from"))
    return ParsedMail(
        message_id=parse_message_id(_first(fields, "message-id")),
        sender=sender[0] if sender else "",
        recipients=parse_addresses(_first(fields, "to")) + parse_addresses(_first(fields, "cc")),
        subject=decode_words(_first(fields, "subject")),
        date_at=parse_date(_first(fields, "date")),
        form=form,
        body=body,
        headers=fields,
    )


def _first(fields: tuple[Field, ...], name: str) -> str:
    for found, value in fields:
        if found.lower() == name:
            return value
    return ""


def boundary_of(content_type: str) -> str:
    """The boundary that the value of a Content-Type field names; '' if it names none."""
    found = _BOUNDARY.search(content_type)
    return (found[1] or found[2]).rstrip() if found else ""


class PartSplitter:
    """Cuts a mail's multiparts at their boundaries, with one limit for all of the mail."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.boundaries = 0

    def split(self, boundary: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Start and end of each part between the boundary's lines; a part without its end runs to `end`."""
        content = self.content
        delimiter = b"--" + boundary.encode("utf-8", "replace")
        opened = -1
        at = content.find(delimiter, start, end)
        while at >= 0:
            self.boundaries += 1
            if self.boundaries > MAX_BOUNDARIES:
                raise CodecError(f"more than {MAX_BOUNDARIES} places in a mail that look like a boundary")
            line_at, after = at, at + len(delimiter)
            at = content.find(delimiter, after, end)
            if line_at > start and content[line_at - 1] != 0x0A:
                continue
            last = content.startswith(b"--", after, end)
            rest = after + 2 if last else after
            line_end = content.find(b"\n", rest, min(end, rest + MAX_BOUNDARY_LINE))
            if line_end < 0 and last:
                line_end = end  # nothing need follow the last boundary
            if line_end < 0 or line_end > rest + MAX_BOUNDARY_LINE or content[rest:line_end].strip():
                continue
            if opened >= 0:
                yield opened, max(opened, _before_line_end(content, line_at))
            opened = -1 if last else line_end + 1
            if last:
                return
        if opened >= 0:
            yield opened, end


class _Search:
    """Looks for the first body of ours in a mail, depth first."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.parts = 0
        self.splitter = PartSplitter(content)

    def look(self, fields: tuple[Field, ...], start: int, end: int, depth: int) -> tuple[BodyForm, bytes] | None:
        content_type = _first(fields, "content-type")
        main = content_type.partition(";")[0].strip().lower()
        if main in {TYPE_TNEF, TYPE_TNEF_REGISTERED, TYPE_MDBEF}:
            encoding = _first(fields, "content-transfer-encoding").lower()
            body, binary = _decode_body(self.content, start, end, encoding)
            if main == TYPE_MDBEF:
                return BodyForm.MDBEF, body
            return (BodyForm.S_TNEF if binary else BodyForm.TNEF), body
        name = boundary_of(content_type) if main.startswith("multipart/") else ""
        if not name:
            return None
        if depth >= MAX_DEPTH:
            raise CodecError(f"multiparts nested more than {MAX_DEPTH} deep")
        for part_start, part_end in self.splitter.split(name, start, end):
            self.parts += 1
            if self.parts > MAX_MIME_PARTS:
                raise CodecError(f"more than {MAX_MIME_PARTS} MIME parts in one mail")
            block, body_at = split_header(self.content, part_start, part_end)
            found = self.look(parse_fields(block), body_at, part_end, depth + 1)
            if found is not None:
                return found
        return None


def _before_line_end(content: bytes, at: int) -> int:
    """The line end in front of a boundary belongs to the boundary [RFC 2046 5.1.1]."""
    return at - 2 if content.startswith(b"\r\n", at - 2) else at - 1


def _decode_body(content: bytes, start: int, end: int, encoding: str) -> tuple[bytes, bool]:
    """The decoded body, and whether it stood there as it is."""
    try:
        if encoding == "base64":
            return decoded(content, start, end), False
        if encoding == "quoted-printable":
            return a2b_qp(content[start:end]), False
    except (Base64Error, ValueError) as wrong:
        raise CodecError(f"the mail's body is not {encoding}: {wrong}") from wrong
    if encoding not in {"", "7bit", "8bit", "binary"}:
        raise CodecError(f"the mail's body has the encoding {encoding[:40]!r}, which RFC 2045 does not know")
    return content[start:end], True
