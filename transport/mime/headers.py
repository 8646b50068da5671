"""The header of a mail: the block of bytes that contains its fields, and the fields as text.

=================  ==========================================================================================
the block          `scan_header` (once for every arriving mail), `header_of`, `split_header`
writing a field    `address_field`, `message_id_field`, `text_field`, `date_text`, `encoded_words`
reading a field    `parse_fields`, `parse_addresses`, `parse_message_id`, `parse_date`, `decode_words`
=================  ==========================================================================================

Writing refuses a value that would end its field (RFC 5322 2.2): a CR, LF or NUL is an error and is never repaired.
Reading accepts any folding, any case, raw 8-bit text and encoded words (RFC 2047), in linear time.

(spec: ML-7)
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, a2b_qp, b2a_base64
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from traces.labtime import LabTime
from transport.envelope import Header, IncomingMail
from transport.errors import CodecError
from transport.mime.charsets import codec_of, fitting_text, text_in
from transport.protocol.hop_headers import EPOCH, MONTHS, rfc5322_date

Field = tuple[str, str]
"""One header field: its name as written, and its unfolded value."""

MAX_HEADER_SIZE: Final = 256 * 1024
"""Largest header block, in bytes: enough for thousands of recipients."""

SCANNED_BYTES: Final = 64 * 1024
"""How far into a mail `scan_header` looks for the subject and the Message-ID, in bytes. One hop adds about 200 bytes."""

MAX_FIELDS: Final = 1000
"""Largest number of fields in one header block."""

MAX_LINE: Final = 998
"""Longest line in characters, without its CRLF [RFC 5322 2.1.1]."""

FOLD_AT: Final = 78
"""Column at which lines of addresses are folded [RFC 5322 2.1.1]."""

_NAME: Final = re.compile(r"[!-9;-~]+")  # printable ASCII without the colon [RFC 5322 2.2]
_ADDRESS: Final = re.compile(r'[^\s@<>()\[\],;:\\"\x00-\x20\x7f-\U0010ffff]+@[A-Za-z0-9._-]+')
_MESSAGE_ID: Final = re.compile(r"[^\s<>\x00-\x20\x7f-\U0010ffff]+")
_PLAIN: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_WORD_BYTES: Final = 39  # of UTF-8 in one encoded word: "Subject: " and the word fit in 78 columns

_VALUE: Final = re.compile(rb"[ \t]*([^\r\n]{0,1000})")
_FOLDED_VALUE: Final = re.compile(rb"[ \t]*(?:\r?\n[ \t]+)?([^\r\n]{0,1000})")
_SPECIAL: Final = re.compile(r'[;:"()\\]')  # if a field has one of these characters, a comma is not always a separator
_LINE_BREAKS: Final = {0x0D: " ", 0x0A: " ", 0: " "}

_ENCODED_WORD: Final = re.compile(r"=\?([A-Za-z0-9_.:+()'-]{1,60})(?:\*[A-Za-z0-9-]{0,40})?\?([bBqQ])\?([^?\s]*)\?=")
_GUESSED: Final = (None, "ascii", "utf_8")
_DATE: Final = re.compile(
    r"\s*(?:[A-Za-z]{3}\s*,\s*)?(\d{1,2})\s+([A-Za-z]{3})[a-z]*\s+(\d{4})"
    r"\s+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s+(?:([+-])(\d{2})(\d{2})|[A-Za-z]{1,5}))?\s*(?:\(.*)?"
)


# --- the block ---------------------------------------------------------------------------------------------


def incoming_mail(sender: str, recipients: Sequence[str], content: bytes) -> IncomingMail:
    """Return an arriving mail with the scan of its header."""
    return IncomingMail(sender, tuple(recipients), content, scan_header(content))


def scan_header(content: bytes) -> Header:
    """Return the facts about a mail's header that the servers on its way need for every mail.

    The fields themselves are not parsed, because most mails are replication mails, and no server needs their fields.
    """
    block = header_of(content)
    lower = block.lower()
    return Header(
        size=len(block),
        subject=_first_value(b"subject:", _VALUE, block, lower),
        message_id=_first_value(b"message-id:", _FOLDED_VALUE, block, lower).strip("<>"),
        hops=lower.count(b"\nreceived:") + lower.startswith(b"received:"),
    )


def header_size(content: bytes) -> int:
    """Return the size of a mail's header block without the empty line; at most `MAX_HEADER_SIZE`."""
    if content.startswith(b"\r\n"):
        return 0
    end = content.find(b"\r\n\r\n", 0, MAX_HEADER_SIZE)
    return end + 2 if end >= 0 else min(len(content), MAX_HEADER_SIZE)


def header_of(content: bytes) -> bytes:
    """Return the header block: its lines with their line ends, without the empty line."""
    return content[: header_size(content)]


def _first_value(name: bytes, value: re.Pattern[bytes], block: bytes, lower: bytes) -> str:
    """Return the value of the first field `name`; '' if there is none."""
    # Two calls of `find` take a tenth of the time of a pattern that looks for the name.
    at = 0 if lower.startswith(name) else lower.find(b"\n" + name, 0, SCANNED_BYTES) + 1
    if not lower.startswith(name, at):
        return ""
    match = value.match(block, at + len(name), SCANNED_BYTES)
    return match[1].decode("utf-8", "replace").strip() if match is not None else ""


def split_header(content: bytes, start: int, end: int) -> tuple[bytes, int]:
    """Return the header block at `start` and the index at which the body begins; LF alone also ends a line.

    Without an empty line everything is header. Raise `CodecError` for a block beyond `MAX_HEADER_SIZE`.
    """
    if content.startswith((b"\r\n", b"\n"), start, end):
        return b"", start + (2 if content[start] == 0x0D else 1)
    limit = min(end, start + MAX_HEADER_SIZE)
    strict = content.find(b"\r\n\r\n", start, limit)
    loose = content.find(b"\n\n", start, strict if strict >= 0 else limit)
    if loose >= 0:
        return content[start:loose], loose + 2
    if strict >= 0:
        return content[start:strict], strict + 4
    if limit < end:
        raise CodecError(f"the header has more than {MAX_HEADER_SIZE} bytes")
    return content[start:end], end


# --- writing a field ---------------------------------------------------------------------------------------


def address_text(address: str) -> str:
    """Return ``<address>``. Raise `CodecError` unless it has an ASCII local part, an @ and a domain."""
    if _ADDRESS.fullmatch(address) is None or len(address) > MAX_LINE - 3:
        raise CodecError(f"{address[:80]!r} is not a mail address: write name@domain in ASCII")
    return f"<{address}>"


def address_field(name: str, addresses: tuple[str, ...]) -> str:
    """Return an address field with its last CRLF. A long field is folded."""
    if not addresses:
        raise CodecError(f"the field {name} needs an address")
    pieces = [f"{name}: "]
    column = len(name) + 2
    last = len(addresses) - 1
    for index, address in enumerate(addresses):
        text = address_text(address)
        if index < last:
            text += ","
        if index and column + 1 + len(text) > FOLD_AT:
            pieces.append("\r\n ")
            column = 1
        elif index:
            pieces.append(" ")
            column += 1
        pieces.append(text)
        column += len(text)
    return "".join(pieces) + "\r\n"


def message_id_field(message_id: str) -> str:
    """Return the Message-ID field of an id that is given without angle brackets."""
    if _MESSAGE_ID.fullmatch(message_id) is None or len(message_id) > MAX_LINE - 20:
        raise CodecError(f"{message_id[:80]!r} is not a Message-ID: write ASCII without spaces or angle brackets")
    return f"Message-ID: <{message_id}>\r\n"


def text_field(name: str, value: str) -> str:
    """Return a field of free text: unchanged if it fits in one line of ASCII, otherwise as encoded words."""
    if _NAME.fullmatch(name) is None:
        raise CodecError(f"{name[:80]!r} is not a header name: write printable ASCII without a colon")
    if "\r" in value or "\n" in value or "\0" in value:
        raise CodecError(f"the field {name} has a line end or NUL in its value; a value is one line")
    plain = value == "" or (_PLAIN.fullmatch(value) is not None and "=?" not in value)
    if plain and len(name) + 2 + len(value) <= MAX_LINE:
        return f"{name}: {value}\r\n"
    return f"{name}: {encoded_words(value)}\r\n"


def encoded_words(value: str) -> str:
    """Return a text as encoded words (RFC 2047), folded. Raise `CodecError` for a lone surrogate."""
    try:
        data = value.encode()
    except UnicodeEncodeError as wrong:
        raise CodecError(f"a header value contains half of a surrogate pair: {wrong}") from wrong
    words: list[str] = []
    at = 0
    while at < len(data):
        end = min(at + _WORD_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:  # do not cut a character in two
            end -= 1
        words.append(f"=?utf-8?b?{b2a_base64(data[at:end], newline=False).decode('ascii')}?=")
        at = end
    return "\r\n ".join(words)


def date_text(at: LabTime) -> str:
    """Return the date of an RFC 5322 mail, in UTC and whole seconds. Raise `CodecError` beyond the year 9999."""
    try:
        return rfc5322_date(at)
    except OverflowError as wrong:
        raise CodecError(f"lab time {at} is after the year 9999") from wrong


# --- reading a field ----------------------------------------------------------------------------------------


def parse_fields(block: bytes) -> tuple[Field, ...]:
    """Return the fields of a header block, unfolded. Lines that are not a field are skipped."""
    fields: list[Field] = []
    lines = block.replace(b"\r\n", b"\n").split(b"\n")
    if len(lines) > (limit := MAX_HEADER_SIZE // 8 + MAX_FIELDS):
        raise CodecError(f"the header has {len(lines)} lines; at most {limit} are read")
    value: list[str] = []
    name = ""
    for raw in lines:
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            line = raw.decode("latin-1")
        if line[:1] in {" ", "\t"}:
            value.append(" " + line.strip())
            continue
        if name:
            fields.append((name, "".join(value).strip()))
        name, colon, rest = line.partition(":")
        name = name.rstrip()
        if not colon or _NAME.fullmatch(name) is None:
            name = ""
        value = [rest.strip()]
    if name:
        fields.append((name, "".join(value).strip()))
    if len(fields) > MAX_FIELDS:
        raise CodecError(f"the header has {len(fields)} fields; at most {MAX_FIELDS} are read")
    return tuple(fields)


def first_field(fields: Iterable[Field], name: str) -> str:
    """Return the value of the first field `name` (in lower case); '' if there is none."""
    return next((value for field_name, value in fields if field_name.lower() == name), "")


def parse_addresses(value: str) -> tuple[str, ...]:
    """Return the bare addresses of an address field: the text inside <>, or the text without comments.

    Group names and display names are removed; quoted local parts stay as written. Nothing is an error.
    """
    addresses: list[str] = []
    for entry in value.split(",") if _SPECIAL.search(value) is None else _entries(value):
        opened, closed = entry.rfind("<"), entry.rfind(">")
        address = entry[opened + 1 : closed] if 0 <= opened < closed else entry
        address = "".join(address.split()).strip("<>")
        if "@" in address:
            addresses.append(address)
    return tuple(addresses)


def _entries(value: str) -> list[str]:
    """Return the parts of an address field between commas, semicolons and group colons, without comments."""
    entries: list[str] = []
    entry: list[str] = []
    quoted, comments, angle, escaped = False, 0, False, False
    for char in value:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == '"' and not comments:
            quoted = not quoted
        elif quoted:
            pass
        elif char == "(":
            comments += 1
            continue
        elif char == ")":
            comments = max(comments - 1, 0)
            continue
        elif char in "<>":
            angle = char == "<"
        elif char in ",;:" and not comments and not angle:
            entries.append("".join(entry))
            entry = []
            continue
        if not comments:
            entry.append(char)
    entries.append("".join(entry))
    return entries


def parse_message_id(value: str) -> str:
    """Return a Message-ID without its angle brackets."""
    return value.strip().removeprefix("<").removesuffix(">").strip()


def parse_date(value: str) -> LabTime | None:
    """Return the lab time of a Date field; None if it cannot be read. A time zone that is given by name counts as UTC."""
    match = _DATE.fullmatch(value)
    if match is None:
        return None
    day, month, year, hour, minute, second, sign, zone_h, zone_m = match.groups()
    try:
        month_number = MONTHS.index(month.title()) + 1
        moment = datetime(int(year), month_number, int(day), int(hour), int(minute), int(second or 0), tzinfo=UTC)
    except ValueError:
        return None
    at = (moment - EPOCH) // timedelta(microseconds=1)
    if sign:
        east_us = (int(zone_h) * 60 + int(zone_m)) * 60_000_000
        at += -east_us if sign == "+" else east_us
    return at


def decode_words(value: str) -> str:
    """Return a field's text with its encoded words decoded. A word that cannot be decoded stays as it is.

    Line ends and NULs inside encoded words become spaces, so the result is one line, like every field.
    """
    if "=?" not in value:
        return value
    pieces: list[str] = []
    at = 0
    run_codec, run = "ascii", bytearray()  # adjacent words of one character set may share a character
    for match in _ENCODED_WORD.finditer(value):
        between = value[at : match.start()]
        codec, data = codec_of(match[1]), _word_bytes(match[2], match[3])
        if data is None or codec is None:
            continue
        if between.strip() or not run or codec != run_codec:
            pieces.append(text_in(run_codec, bytes(run)))
            pieces.append(between if between.strip() or not run else "")
            run = bytearray()
        run_codec = codec
        run += data
        at = match.end()
    pieces.append(text_in(run_codec, bytes(run)))
    pieces.append(value[at:])
    return "".join(pieces).translate(_LINE_BREAKS)


def decode_charset(charset: str, data: bytes) -> str:
    """Return the text of bytes in a character set as a mail names it. Nothing is an error.

    Bytes that do not fit the set, nor the larger one that programs mean by its name, are read as UTF-8 if they fit that.
    Otherwise those that are said to be ASCII, UTF-8 or nothing at all are read as Latin-1, in which every byte is a character.
    In another set, what does not fit becomes U+FFFD. If the set is unknown, bytes that are not ASCII are shown as `\\xNN`.
    """
    codec = codec_of(charset)
    text = None if codec is None else fitting_text(codec, data)
    if text is not None:
        return text
    try:
        return data.decode()
    except UnicodeDecodeError:
        if codec is None and charset.strip():
            return data.decode("ascii", "backslashreplace")
        return data.decode("latin-1") if codec in _GUESSED else text_in(str(codec), data)


def _word_bytes(kind: str, text: str) -> bytes | None:
    try:
        return a2b_base64(text) if kind in "bB" else a2b_qp(text, header=True)
    except (Base64Error, ValueError):
        return None
