"""The parts of an ordinary mail: its header, and every part that is not a multipart, with its position in the mail.

Real mail breaks many rules, so a wrong structure of a mail is not an error. A multipart without its boundary is one part. A
part without an end runs to the end of the mail. An unknown encoding leaves the bytes as they are. Only a mail beyond a limit
raises `CodecError`. Everything takes time linear in the mail's size.

(spec: ML-5, ML-7)
"""

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, a2b_qp
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from transport.errors import CodecError
from transport.mime.headers import Field, decode_charset, decode_words, first_field, parse_fields, split_header
from transport.mime.message import MAX_DEPTH, MAX_MAIL_SIZE, MAX_MIME_PARTS, PartSplitter, boundary_of

MAX_PARAMETERS: Final = 100
"""How many parameters of a Content-Type or Content-Disposition are read. More parameters are ignored."""

MAX_NAME: Final = 255
"""Longest name of an attachment, in characters. The rest is cut off."""

_PARAMETER: Final = re.compile(r';\s*([^\s=;"]{1,80})\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^;"]*))')
_PIECE: Final = re.compile(r"([^*]+)(?:\*(\d{1,3}))?(\*?)")
_PERCENT: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_BEGUN_AGAIN: Final = re.compile(rb"(?<==)\s*(?=[A-Za-z0-9+/])")  # after the end of base64
_ESCAPED: Final = re.compile(r"\\(.)")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_EXTENSIONS: Final = {
    "text/plain": "txt",
    "text/html": "html",
    "text/calendar": "ics",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "message/rfc822": "eml",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part that is not a multipart. `start` and `end` are the position of its encoded body in the mail."""

    type: str
    charset: str
    encoding: str
    disposition: str
    name: str
    content_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MailParts:
    """A mail's unfolded header fields and its parts, both in order. There is at least one part."""

    fields: tuple[Field, ...]
    parts: tuple[Part, ...]

    def first(self, name: str) -> str:
        """Return the value of the first field `name` (in lower case); '' if there is none."""
        return first_field(self.fields, name)


def read_parts(content: bytes) -> MailParts:
    """Return the parts of a mail. Raise `CodecError` beyond a limit: size, header, number of parts, depth."""
    if len(content) > MAX_MAIL_SIZE:
        raise CodecError(f"the mail has {len(content)} bytes; at most {MAX_MAIL_SIZE} are read")
    block, body_at = split_header(content, 0, len(content))
    fields = parse_fields(block)
    reader = _Reader(content)
    reader.take(fields, body_at, len(content), "text/plain", 1)
    return MailParts(fields, tuple(reader.parts))


def part_data(content: bytes, part: Part) -> bytes:
    """Return a part's decoded bytes.

    If they cannot be decoded, or decoding leaves nothing, they are returned undecoded, so that a file is never shown as empty.
    """
    raw = content[part.start : part.end]
    decode = _DECODERS.get(part.encoding)
    if decode is None:
        return raw
    try:
        data = decode(raw)
    except (Base64Error, ValueError):
        return raw
    return raw if not data and raw.strip() else data


def _base64(raw: bytes) -> bytes:
    """Return the decoded bytes of all pieces, because some programs end base64 and begin it again."""
    data = a2b_base64(raw)
    pieces = _BEGUN_AGAIN.split(raw)
    if len(pieces) == 1:
        return data
    try:
        return b"".join(a2b_base64(b"".join(piece.split()), strict_mode=True) for piece in pieces)
    except Base64Error:
        return data  # other text follows the end, such as the footer of a mailing list


_DECODERS: Final[dict[str, Callable[[bytes], bytes]]] = {"base64": _base64, "quoted-printable": a2b_qp}


class _Reader:
    """Collects the parts of a mail, through all its multiparts."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.parts: list[Part] = []
        self.seen = 0
        self.splitter = PartSplitter(content)

    def take(self, fields: tuple[Field, ...], start: int, end: int, default: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise CodecError(f"multiparts are nested more than {MAX_DEPTH} deep")
        value = first_field(fields, "content-type")
        kind = value.partition(";")[0].strip().lower()
        if kind.count("/") != 1 or kind.startswith("/") or kind.endswith("/"):
            kind = default
        boundary = boundary_of(value) if kind.startswith("multipart/") else ""
        if not boundary or not self._inside(kind, boundary, start, end, depth):
            self.parts.append(_leaf(fields, value, kind, start, end))

    def _inside(self, kind: str, boundary: str, start: int, end: int, depth: int) -> bool:
        """Add the parts of a multipart; return False if its boundary does not occur."""
        default = "message/rfc822" if kind == "multipart/digest" else "text/plain"
        occurs = False
        for part_start, part_end in self.splitter.split(boundary, start, end):
            occurs = True
            self.seen += 1
            if self.seen > MAX_MIME_PARTS:
                raise CodecError(f"the mail has more than {MAX_MIME_PARTS} MIME parts")
            block, body_at = split_header(self.content, part_start, part_end)
            self.take(parse_fields(block), min(body_at, part_end), part_end, default, depth + 1)
        return occurs


def _leaf(fields: tuple[Field, ...], content_type: str, kind: str, start: int, end: int) -> Part:
    of_type = parameters(content_type)
    disposition = first_field(fields, "content-disposition")
    of_disposition = parameters(disposition)
    name = of_disposition.get("filename") or of_type.get("name") or ""
    return Part(
        type=kind,
        charset=of_type.get("charset", ""),
        encoding=first_field(fields, "content-transfer-encoding").partition(";")[0].strip().lower(),
        disposition=disposition.partition(";")[0].strip().lower(),
        name=one_line(name)[:MAX_NAME],
        content_id=one_line(first_field(fields, "content-id")).strip("<>"),
        start=start,
        end=end,
    )


def generated_name(part: Part, number: int) -> str:
    """Return a name for an attachment without a name; `number` counts the mail's parts from 1."""
    return f"part-{number}.{_EXTENSIONS.get(part.type, 'bin')}"


def one_line(text: str) -> str:
    """Return a text without line ends, control characters and lone surrogates."""
    return _CONTROL.sub(" ", text).strip()


def parameters(value: str) -> dict[str, str]:
    """Return the parameters of a field by name in lower case.

    Parameters may be quoted, in pieces and with a character set (RFC 2231), or in encoded words, which many programs use
    wrongly. Malformed parameters are read as far as possible.
    """
    pieces: dict[str, dict[int, tuple[str, bool]]] = {}
    for count, match in enumerate(_PARAMETER.finditer(value)):
        if count >= MAX_PARAMETERS:
            break
        split = _PIECE.fullmatch(match[1])
        if split is None:
            continue
        text = _ESCAPED.sub(r"\1", match[2]) if match[2] is not None else match[3].strip()
        pieces.setdefault(split[1].lower(), {}).setdefault(int(split[2] or 0), (text, bool(split[3])))
    return {name: _joined(numbered) for name, numbered in pieces.items()}


def _joined(pieces: dict[int, tuple[str, bool]]) -> str:
    if not any(encoded for _, encoded in pieces.values()):
        return decode_words("".join(pieces[number][0] for number in sorted(pieces)))
    charset = ""
    data = bytearray()
    for number in sorted(pieces):
        text, encoded = pieces[number]
        if encoded and not data and text.count("'") >= 2:
            charset, _, text = text.split("'", 2)
        # A piece that is not encoded is literal, per cent signs included [RFC 2231 4.1].
        plain = text.encode("utf-8", "replace")
        data += _PERCENT.sub(lambda match: bytes((int(match[1], 16),)), plain) if encoded else plain
    return decode_charset(charset, bytes(data))
