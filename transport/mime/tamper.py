"""Alters a mail in transit, for a fault: its body, so that only the signature shows it, or a field of its header (spec: ML-6).

The envelope of an altered body is encoded again, so every checksum and length in it is correct. The alteration depends only on
the mail: the same mail is always altered in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from transport.errors import CodecError
from transport.mapi.mdbef import decode_mdbef, encode_mdbef
from transport.mapi.properties import Bag
from transport.mapi.system_message import Part, SystemMessage
from transport.mapi.tnef import decode_tnef, encode_tnef
from transport.mime.headers import split_header
from transport.mime.message import BodyForm, MailHeaders, build_mail, system_body
from transport.protocol.fault_points import BODY

_ANY_HEADERS: Final = MailHeaders("any@lab.test", "any@lab.test", ("any@lab.test",), "", 0)
"""Header values for a mail of which only the body is used."""


def altered(content: bytes, parts: Sequence[str] = (BODY,)) -> bytes:
    """Return a mail with a change in each of some parts. A part without anything to alter stays.

    parts: BODY or names of header fields. In the body of a replication mail one bit changes, in the first item if there is
        one; in other text one letter becomes another, in a header field the first.
    """
    for part in parts:
        content = _with_altered_body(content) if part == BODY else _with_altered_field(content, part)
    return content


def _with_altered_body(content: bytes) -> bytes:
    try:
        form_and_body = system_body(content)
        if form_and_body is not None:
            form, body = form_and_body
            return with_body(content, form, _altered_body(form, body))
    except CodecError:
        pass  # the mail was altered before and is no longer a replication mail
    return _altered_text(content)


def with_body(content: bytes, form: BodyForm, body: bytes) -> bytes:
    """Return a replication mail with its header and another body of the same form."""
    mail = build_mail(_ANY_HEADERS, form, body)
    return content[: _body_at(content)] + mail[_body_at(mail) :]


def _body_at(content: bytes) -> int:
    """Return the index at which the body of a mail begins."""
    return split_header(content, 0, len(content))[1]


def _altered_body(form: BodyForm, body: bytes) -> bytes:
    if form is BodyForm.MDBEF:
        return encode_mdbef(_altered_message(decode_mdbef(body)))
    return encode_tnef(_altered_message(decode_tnef(body)))


def _altered_message(message: SystemMessage) -> SystemMessage:
    if message.parts:
        first, *others = message.parts
        return replace(message, parts=(Part(_with_bit_inverted(first.item), first.props), *others))
    return replace(message, props=_altered_bag(message.props))


def _altered_bag(props: Bag) -> Bag:
    for tag, value in props.items():
        if isinstance(value, bytes) and value:
            return {**props, tag: _with_bit_inverted(value)}
    raise CodecError("the system message has no property of type BINARY")


def _with_bit_inverted(value: bytes) -> bytes:
    """Return a value with the lowest bit of its middle byte inverted."""
    at = len(value) // 2
    return value[:at] + bytes((value[at] ^ 1,)) + value[at + 1 :]


def _altered_text(content: bytes) -> bytes:
    """Return an ordinary mail with another letter in its text."""
    try:
        start = _body_at(content)
    except CodecError:  # the header is too long
        return content
    middle = start + (len(content) - start) // 2
    return _with_other_letter(content, (*range(middle, len(content)), *range(start, middle)))


def _with_altered_field(content: bytes, name: str) -> bytes:
    """Return a mail with another letter in the value of the first field of a name."""
    try:
        header_end = _body_at(content)
    except CodecError:  # the header is too long
        return content
    field = re.compile(rb"^%s[ \t]*:((?:.|\n[ \t])*)" % re.escape(name.encode("ascii")), re.IGNORECASE | re.MULTILINE)
    match = field.search(content, 0, header_end)
    return content if match is None else _with_other_letter(content, range(*match.span(1)))


def _with_other_letter(content: bytes, places: Iterable[int]) -> bytes:
    """Return a mail with another letter or digit at the first of some places that has one. Line ends stay."""
    for at in places:
        if content[at : at + 1].isalnum():
            letter = b"B" if content[at : at + 1] in b"Aa" else b"A"
            return content[:at] + letter + content[at + 1 :]
    return content
