"""Ordinary mail that the lab writes: exported posts, notices to people, mail from a folder's address.

Lines end in CRLF, the content is 7-bit, and the same values give the same bytes.

(spec: ML-5, CF-2)
"""

import hashlib
import re
from binascii import b2a_base64
from dataclasses import dataclass
from typing import Final

from traces.labtime import LabTime
from transport.errors import CodecError
from transport.mime.headers import (
    Field,
    address_field,
    address_text,
    date_text,
    encoded_words,
    message_id_field,
    text_field,
)

TEXT_COLUMNS: Final = 76
"""Base64 columns in a line [RFC 2045 6.8]."""

NO_RECIPIENTS: Final = "undisclosed-recipients:;"
"""The value of To if there are no recipients [RFC 5322 A.1.3]."""

MAX_NAME_BYTES: Final = 600
"""Longest name of an attachment, in bytes of UTF-8. The rest is cut off."""

_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,60}/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}")
_SAFE: Final = re.compile(r"[A-Za-z0-9 ._()-]{1,60}")
_PERCENT: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_PIECE: Final = 60  # bytes of one piece of a name, at most three columns each


@dataclass(frozen=True, slots=True)
class Attached:
    """A file, or with type message/rfc822 a whole mail."""

    name: str
    type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class NewMail:
    """A mail to write.

    `extra`: more header fields.

    `sender` may be any text. If it is not an address, From has `fallback_sender`, with the text as its display name.
    """

    message_id: str
    sender: str
    fallback_sender: str
    recipients: tuple[str, ...]
    subject: str
    date_at: LabTime
    text: str
    html: bytes | None = None
    attached: tuple[Attached, ...] = ()
    extra: tuple[Field, ...] = ()


def write_mail(mail: NewMail) -> bytes:
    """Return the mail's content. Raise `CodecError` for a malformed Message-ID or fallback address."""
    head = "".join(
        (
            message_id_field(mail.message_id),
            _from(mail),
            _to(mail.recipients),
            f"Date: {date_text(mail.date_at)}\r\n",
            text_field("Subject", " ".join(mail.subject.replace("\0", " ").split())),
            *(text_field(name, value) for name, value in mail.extra),
            "MIME-Version: 1.0\r\n",
        )
    ).encode("ascii")
    texts = [_encoded('text/plain; charset="utf-8"', mail.text.replace("\r\n", "\n").replace("\n", "\r\n").encode())]
    if mail.html is not None:
        texts.append(_encoded("text/html", mail.html))
    body = texts[0] if len(texts) == 1 else _multipart("alternative", texts)
    if mail.attached:
        body = _multipart("mixed", [body, *map(_attachment, mail.attached)])
    return head + body


def _from(mail: NewMail) -> str:
    try:
        address_text(mail.sender)
    except CodecError:
        name = " ".join(mail.sender.split())
        if not name:
            return address_field("From", (mail.fallback_sender,))
        display_name = name if _SAFE.fullmatch(name) else encoded_words(name)
        return f"From: {display_name}\r\n {address_text(mail.fallback_sender)}\r\n"
    return address_field("From", (mail.sender,))


def _to(recipients: tuple[str, ...]) -> str:
    sound = []
    for address in recipients:
        try:
            address_text(address)
        except CodecError:
            continue
        sound.append(address)
    return address_field("To", tuple(sound)) if sound else f"To: {NO_RECIPIENTS}\r\n"


def _encoded(content_type: str, data: bytes, more: str = "") -> bytes:
    text = b2a_base64(data, newline=False)
    lines = [text[at : at + TEXT_COLUMNS] for at in range(0, len(text), TEXT_COLUMNS)]
    head = f"Content-Type: {content_type}\r\nContent-Transfer-Encoding: base64\r\n{more}".encode("ascii")
    return b"\r\n".join([head, *lines, b""])


def _attachment(file: Attached) -> bytes:
    disposition = f"Content-Disposition: attachment{_filename(file.name)}\r\n"
    if file.type == "message/rfc822" and _is_clean(file.data):
        # A mail inside a mail must not be encoded [RFC 2046 5.2.1], so that mail programs can open it.
        return f"Content-Type: message/rfc822\r\n{disposition}\r\n".encode("ascii") + file.data
    # Types message/ and multipart/ may not be encoded in base64, and a reader would parse their content.
    plain = _TYPE.fullmatch(file.type) and not file.type.startswith(("message/", "multipart/"))
    kind = file.type if plain else "application/octet-stream"
    return _encoded(kind, file.data, disposition)


def _is_clean(data: bytes) -> bool:
    """Return whether the data is 7-bit, with CRLF line ends and no line that is too long."""
    return (
        data.isascii()
        and b"\0" not in data
        and data.count(b"\r") == data.count(b"\n") == data.count(b"\r\n")
        and max(map(len, data.split(b"\r\n"))) <= 998
    )


def _filename(name: str) -> str:
    if _SAFE.fullmatch(name):
        return f'; filename="{name}"'
    data = name.encode("utf-8", "replace")[:MAX_NAME_BYTES]
    pieces = [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)] or [b""]
    texts = ["".join(chr(byte) if byte in _PERCENT else f"%{byte:02X}" for byte in piece) for piece in pieces]
    if len(texts) == 1:
        return f";\r\n filename*=utf-8''{texts[0]}"
    first, *rest = texts
    return "".join(
        [f";\r\n filename*0*=utf-8''{first}", *(f";\r\n filename*{n}*={text}" for n, text in enumerate(rest, start=1))]
    )


def _multipart(kind: str, parts: list[bytes]) -> bytes:
    """Return the parts with boundaries between them. The boundary does not occur in any part."""
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()
    boundary = f"=_{kind}_{digest[:32]}"
    while any(boundary.encode() in part for part in parts):
        digest = hashlib.sha256(digest.encode()).hexdigest()
        boundary = f"=_{kind}_{digest[:32]}"
    mark = f"--{boundary}".encode("ascii")
    head = f'Content-Type: multipart/{kind};\r\n boundary="{boundary}"\r\n\r\n'.encode("ascii")
    return head + b"".join(mark + b"\r\n" + part + b"\r\n" for part in parts) + mark + b"--\r\n"
