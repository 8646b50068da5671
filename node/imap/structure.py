"""ENVELOPE, BODY and BODYSTRUCTURE of a mail, as FETCH answers them (RFC 3501, 7.4.2).

Sizes and lines are those of the encoded body, which is what BODY[n] returns. Values are those of the header, unfolded and not
decoded: RFC 2231 and encoded words are the client's to decode, and a value that is not ASCII is a literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from node.imap.entities import Entity, Field, Parameters, read_parameters

NIL: Final = b"NIL"

_QUOTED: Final = re.compile(rb"[ -~]{0,998}")
_SPECIAL: Final = re.compile(rb'(["\\])')
_ESCAPED: Final = re.compile(rb"\\(.)", re.DOTALL)
_WORD: Final = re.compile(
    rb"\s*(?:"
    rb'(?P<quoted>"(?:[^"\\]|\\.)*"?)'
    rb"|(?P<comment>\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)?)"
    rb"|(?P<special>[<>,;:])"
    rb'|(?P<atom>(?:[^\s"(<>,;:\[]|\[[^\]\s]*\]?)+))',
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Address:
    """One address of an envelope. The begin of a group has no host, and its end has nothing."""

    name: bytes | None
    route: bytes | None
    mailbox: bytes | None
    host: bytes | None


def nstring(value: bytes | None) -> bytes:
    """Return a value as a quoted string or a literal; NIL for None."""
    if value is None:
        return NIL
    if _QUOTED.fullmatch(value):
        return b'"%b"' % _SPECIAL.sub(rb"\\\1", value)
    return b"{%d}\r\n%b" % (len(value), value)


# --- BODY and BODYSTRUCTURE


def body_structure(entity: Entity, *, extended: bool) -> bytes:
    """Return BODYSTRUCTURE; without the extended data, BODY."""
    if entity.parts:
        parts = b"".join(body_structure(part, extended=extended) for part in entity.parts)
        values = [nstring(entity.media.sub)]
        if extended:
            values += [_parameters(entity.media.parameters), *_described(entity)]
        return b"(%b %b)" % (parts, b" ".join(values))
    values = [
        nstring(entity.media.main),
        nstring(entity.media.sub),
        _parameters(entity.media.parameters),
        nstring(entity.first(b"content-id")),
        nstring(entity.first(b"content-description")),
        nstring(entity.encoding),
        b"%d" % entity.octets,
    ]
    if entity.message is not None:
        values += [envelope(entity.message.fields), body_structure(entity.message, extended=extended)]
    if entity.message is not None or entity.media.main == b"text":
        values.append(b"%d" % entity.lines)
    if extended:
        values += [nstring(entity.first(b"content-md5")), *_described(entity)]
    return b"(%b)" % b" ".join(values)


def _described(entity: Entity) -> tuple[bytes, bytes, bytes]:
    """Return the disposition, the language and the location."""
    value = entity.first(b"content-disposition") or b""
    kind = value.partition(b";")[0].partition(b"(")[0].strip()
    disposition = b"(%b %b)" % (nstring(kind.lower()), _parameters(read_parameters(value))) if kind else NIL
    named = (entity.first(b"content-language") or b"").split(b",")
    languages = [nstring(language.strip()) for language in named if language.strip()]
    language = b"(%b)" % b" ".join(languages) if len(languages) > 1 else b"".join(languages) or NIL
    return disposition, language, nstring(entity.first(b"content-location"))


def _parameters(parameters: Parameters) -> bytes:
    return b"(%b)" % b" ".join(nstring(text) for pair in parameters for text in pair) if parameters else NIL


# --- ENVELOPE


def envelope(fields: Sequence[Field]) -> bytes:
    """Return ENVELOPE of a mail, given the fields of its header. Without Sender and Reply-To, both are those of From."""
    texts = {field.name: field.value for field in reversed(fields)}
    lists = {
        name: _address_list(b",".join(field.value for field in fields if field.name == name))
        for name in (b"from", b"sender", b"reply-to", b"to", b"cc", b"bcc")
    }
    for name in (b"sender", b"reply-to"):
        if lists[name] == NIL:
            lists[name] = lists[b"from"]
    values = [nstring(texts.get(b"date")), nstring(texts.get(b"subject")), *lists.values()]
    return b"(%b)" % b" ".join([*values, nstring(texts.get(b"in-reply-to")), nstring(texts.get(b"message-id"))])


def _address_list(value: bytes) -> bytes:
    addresses = b"".join(
        b"(%b)" % b" ".join(map(nstring, (address.name, address.route, address.mailbox, address.host)))
        for address in read_addresses(value)
    )
    return b"(%b)" % addresses if addresses else NIL


def read_addresses(value: bytes) -> Iterator[Address]:
    """Yield the addresses of a field, and the begin and end of groups. Malformed addresses are read as far as possible."""
    entry = _Entry()
    in_group = False
    for word in _WORD.finditer(value):
        special = word["special"]
        if special == b"," and not entry.in_route:
            yield from entry.addresses()
            entry = _Entry()
        elif special == b";":
            yield from entry.addresses()
            entry = _Entry()
            if in_group:
                yield Address(None, None, None, None)
            in_group = False
        elif special == b":" and entry.inside is None:
            yield Address(None, None, b" ".join(entry.words), None)
            entry = _Entry()
            in_group = True
        else:
            entry.take(word)
    yield from entry.addresses()
    if in_group:
        yield Address(None, None, None, None)


class _Entry:
    """The words of one address. `inside`: those between angle brackets."""

    def __init__(self) -> None:
        self.words: list[bytes] = []
        self.inside: list[bytes] | None = None
        self._comment: bytes | None = None
        self._ended = False

    @property
    def in_route(self) -> bool:
        """Whether the words up to here are the begin of a route such as <@relay.test,@other.test:kim@contoso.test>."""
        return not self._ended and bool(self.inside and self.inside[0].startswith(b"@"))

    def take(self, word: re.Match[bytes]) -> None:
        if word["comment"]:
            self._comment = _unescaped(word["comment"][1:].removesuffix(b")"))
        elif word["special"] == b"<":
            self.inside = [] if self.inside is None else self.inside
        elif word["special"] == b">":
            self._ended = True
        elif not self._ended:
            text = word["atom"] or word["special"] or _unescaped(word["quoted"][1:].removesuffix(b'"'))
            (self.words if self.inside is None else self.inside).append(text)

    def addresses(self) -> Iterable[Address]:
        """Return the one address, or nothing if there are no words."""
        address = b"".join(self.words if self.inside is None else self.inside)
        name = self._comment if self.inside is None or not self.words else b" ".join(self.words)
        if not address and not self.words:
            return ()
        route, colon, mailbox = address.partition(b":") if address.startswith(b"@") else (b"", b"", b"")
        before, at, after = (mailbox if colon else address).rpartition(b"@")
        return (Address(name, route if colon else None, before if at else after, after if at else b""),)


def _unescaped(text: bytes) -> bytes:
    return _ESCAPED.sub(rb"\1", text)
