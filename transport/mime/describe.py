"""A description of a mail down to each property: a tree of labels and texts for `pflab decode` and the console.

This module does not print. No content of a mail is an error: a value that cannot be decoded is shown as damaged. Texts are made
safe for a terminal. `node` knows the names of more properties and the meaning of their bytes; it passes names and interpreters.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from traces.errors import TimeTextError
from traces.labtime import format_instant
from transport.errors import CodecError
from transport.mapi.item import Item, decode_item, embedded_item
from transport.mapi.mdbef import decode_mdbef
from transport.mapi.properties import Bag, NamedTag, PropType, Value, labtime, tag_text
from transport.mapi.property_tags import PR_ATTACH_DATA_OBJ, tag_name
from transport.mapi.system_message import RawAttribute, SystemMessage
from transport.mapi.tnef import decode_tnef
from transport.mime.message import BodyForm, ParsedMail, parse_mail

MAX_TEXT: Final = 200
"""How many characters of a text are shown."""

MAX_BYTES: Final = 48
"""How many bytes of a binary value are shown."""

MAX_VALUES: Final = 20
"""How many values of a property with many values are shown."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of the tree and the lines below it."""

    label: str
    text: str = ""
    children: tuple["Branch", ...] = ()


Meaning = str | tuple[Branch, ...]
"""The meaning of a value: a text, or branches below its property."""

Interpreters = Mapping[int, Callable[[Value], Meaning]]
"""Functions that return the meaning of a tag's value. They may raise `CodecError` or `ValueError`."""

Names = Mapping[int, str]
"""Names of tags that this module does not have."""

_TAG_ALONE: Final = re.compile(r"0x[0-9A-F]{8}")

MAIL_FIELDS: Final = frozenset(
    {"from", "sender", "to", "subject", "date", "message-id", "received", "mime-version", "content-type"}
)
"""Every mail has at least one of these fields. Other text with colons has none of them [RFC 5322 3.6, RFC 2045 4]."""


def outline(branch: Branch, depth: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the lines of the tree with their depth, top down."""
    yield depth, f"{branch.label}: {branch.text}" if branch.text else branch.label
    for child in branch.children:
        yield from outline(child, depth + 1)


NOT_A_MAIL: Final = "not a mail: no header field such as From, Subject or Message-ID"


def looks_like_mail(content: bytes) -> bool:
    """Return whether the content has a header field that only mails have. Also return True for a mail that cannot be parsed."""
    try:
        return _has_mail_fields(parse_mail(content))
    except CodecError:
        return True


def _has_mail_fields(mail: ParsedMail) -> bool:
    return any(name.lower() in MAIL_FIELDS for name, _ in mail.headers)


def describe_mail(content: bytes, interpreters: Interpreters | None = None, names: Names | None = None) -> Branch:
    """Return the tree of a mail. Raise `CodecError` only if it is not a mail, or if `parse_mail` cannot read it."""
    mail = parse_mail(content)
    if not _has_mail_fields(mail):
        raise CodecError(NOT_A_MAIL)
    children = [Branch("headers", f"{len(mail.headers)} fields", _headers(mail))]
    if mail.form is None or mail.body is None:
        children.append(Branch("body", "ordinary mail, no system message"))
    else:
        children.append(_named(describe_body(mail.form, mail.body, interpreters or {}), names or {}))
    return Branch("mail", f"{len(content)} bytes", tuple(children))


def _named(branch: Branch, names: Names) -> Branch:
    """Return the tree with a name added to each label that is only a tag, also in branches that interpreters returned."""
    label = branch.label
    if _TAG_ALONE.fullmatch(label) and int(label, 16) in names:
        label = f"{names[int(label, 16)]} {label}"
    return Branch(label, branch.text, tuple(_named(child, names) for child in branch.children))


def describe_body(form: BodyForm, body: bytes, interpreters: Interpreters) -> Branch:
    """Return the branch of a replication mail's body, in any form."""
    title = f"{form}, {len(body)} bytes"
    try:
        message = decode_mdbef(body) if form is BodyForm.MDBEF else decode_tnef(body)
    except CodecError as wrong:
        branches = [Branch("no system message", str(wrong))]
        if form is not BodyForm.MDBEF:  # perhaps an ordinary winmail.dat
            branches.append(describe_item("as one message", body, interpreters))
        return Branch("body", title, tuple(branches))
    return Branch("body", title, describe_message(message, interpreters))


def describe_message(message: SystemMessage, interpreters: Interpreters) -> tuple[Branch, ...]:
    """Return the branches of a system message's control properties and parts."""
    parts: list[Branch] = []
    for number, part in enumerate(message.parts, 1):
        beside = Branch("beside the item", _properties(part.props), describe_bag(part.props, interpreters))
        item = describe_item("item", part.item, interpreters)
        parts.append(Branch(f"part {number}", f"{len(part.item)} bytes", (beside, item)))
    return (
        Branch("control properties", str(len(message.props)), describe_bag(message.props, interpreters)),
        *_extra(message.extra),
        Branch("parts", str(len(parts)), tuple(parts)),
    )


def describe_item(label: str, stream: bytes, interpreters: Interpreters) -> Branch:
    """Return the branch of an item's stream. The branch of a damaged item is one line that says what is wrong."""
    try:
        item = decode_item(stream)
    except CodecError as wrong:
        return Branch(label, f"damaged: {wrong}")
    return Branch(label, _properties(item.props), _item(item, interpreters))


def _item(item: Item, interpreters: Interpreters) -> tuple[Branch, ...]:
    children = list(describe_bag(item.props, interpreters))
    for number, row in enumerate(item.recipients, 1):
        children.append(Branch(f"recipient {number}", "", describe_bag(row, interpreters)))
    for number, bag in enumerate(item.attachments, 1):
        nested = embedded_item(bag)
        shown_bag = {tag: value for tag, value in bag.items() if nested is None or tag != PR_ATTACH_DATA_OBJ}
        below = list(describe_bag(shown_bag, interpreters))
        if nested is not None:
            below.append(describe_item("embedded message", nested, interpreters))
        children.append(Branch(f"attachment {number}", "", tuple(below)))
    return (*children, *_extra(item.extra))


def _properties(bag: Bag) -> str:
    return "1 property" if len(bag) == 1 else f"{len(bag)} properties"


def describe_bag(bag: Bag, interpreters: Interpreters) -> tuple[Branch, ...]:
    """Return one branch for each property, in the order of the bag."""
    return tuple(_property(tag, value, interpreters) for tag, value in bag.items())


def property_label(tag: int | NamedTag) -> str:
    """Return name and tag of a property, or only the tag."""
    name = tag_name(tag) if isinstance(tag, int) else None
    return f"{name} {tag_text(tag)}" if name else safe_text(tag_text(tag))


def _property(tag: int | NamedTag, value: Value, interpreters: Interpreters) -> Branch:
    label = property_label(tag)
    plain = value_text(tag.type if isinstance(tag, NamedTag) else tag & 0xFFFF, value)
    interpreter = None if isinstance(tag, NamedTag) else interpreters.get(tag)
    if interpreter is None:
        return Branch(label, plain)
    try:
        meaning = interpreter(value)
    except (CodecError, ValueError) as wrong:
        return Branch(label, f"{plain} (not understood: {safe_text(str(wrong))})")
    return Branch(label, safe_text(meaning)) if isinstance(meaning, str) else Branch(label, "", meaning)


def value_text(kind: int, value: Value) -> str:
    """Return a property's value as text, by its type."""
    if isinstance(value, tuple):
        texts = [value_text(kind & 0xFFF, item) for item in value[:MAX_VALUES]]
        more = f", ... ({len(value)} values)" if len(value) > MAX_VALUES else ""
        return "[" + ", ".join(texts) + more + "]"
    if isinstance(value, str):
        return f'"{safe_text(value)}"'
    if kind == PropType.STRING8 and isinstance(value, bytes):
        return f'"{safe_text(value.decode("cp1252", "replace"))}"'
    if isinstance(value, bytes):
        return f"{value[:MAX_BYTES].hex()}{'...' if len(value) > MAX_BYTES else ''} ({len(value)} bytes)"
    if kind == PropType.SYSTIME and isinstance(value, int):
        return _instant(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} ({'-' if value < 0 else ''}{abs(value):#x})"
    return "null" if value is None else repr(value)


def _instant(ticks: int) -> str:
    try:
        return format_instant(labtime(ticks))
    except TimeTextError:
        return f"{ticks} (FILETIME of no year that has four digits)"


def safe_text(text: str) -> str:
    """Return a text cut to `MAX_TEXT`, on one line, without control characters for a terminal."""
    line = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text[:MAX_TEXT]
    )
    return f"{line}... ({len(text)} characters)" if len(text) > MAX_TEXT else line


def _headers(mail: ParsedMail) -> tuple[Branch, ...]:
    return tuple(Branch(safe_text(name), safe_text(value)) for name, value in mail.headers)


def _extra(extra: tuple[RawAttribute, ...]) -> tuple[Branch, ...]:
    return tuple(
        Branch(f"unknown TNEF attribute {raw.code:#010x}", value_text(PropType.BINARY, raw.data)) for raw in extra
    )
