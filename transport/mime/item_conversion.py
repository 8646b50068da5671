"""Conversion of an ordinary mail to an item, and of an item to a mail.

The item has the properties that people use: subject, sender, recipients, text, and attachments as files. It also has the mail
itself, so every store can return exactly the same bytes. PFLAB_MAIL is the mail without the bodies of its attachments.
PFLAB_MAIL_CUTS says where each body belongs and how it was encoded. A body is cut out only if encoding it again gives the same
bytes. A body that is cut out is not stored twice. docs/reference/wire-format.md has the layout.

An item that was never a mail, or whose text was edited, becomes a new mail.

(spec: ML-2, ML-5)
"""

from binascii import b2a_base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from traces.labtime import LabTime
from transport.errors import CodecError
from transport.mapi.item import Item, body_text
from transport.mapi.properties import Bag, Value, filetime, labtime
from transport.mapi.property_tags import (
    ATTACH_BY_VALUE,
    PR_ADDRTYPE,
    PR_ATTACH_DATA_BIN,
    PR_ATTACH_LONG_FILENAME,
    PR_ATTACH_METHOD,
    PR_ATTACH_MIME_TAG,
    PR_BODY,
    PR_BODY_HTML,
    PR_CLIENT_SUBMIT_TIME,
    PR_DISPLAY_NAME,
    PR_EMAIL_ADDRESS,
    PR_INTERNET_MESSAGE_ID,
    PR_LAST_MODIFICATION_TIME,
    PR_MESSAGE_CLASS,
    PR_RECIPIENT_TYPE,
    PR_SENDER_ADDRTYPE,
    PR_SENDER_EMAIL_ADDRESS,
    PR_SENDER_NAME,
    PR_SUBJECT,
    RECIPIENT_CC,
    RECIPIENT_TO,
)
from transport.mime.compose import Attached, NewMail, write_mail
from transport.mime.headers import (
    Field,
    decode_charset,
    decode_words,
    parse_addresses,
    parse_date,
    parse_message_id,
    split_header,
    text_field,
)
from transport.mime.message import MAX_MAIL_SIZE
from transport.mime.parts import MailParts, Part, generated_name, one_line, part_data, read_parts

CLASS_NOTE: Final = "IPM.Note"

PR_PFLAB_MAIL: Final = 0x67050102
PR_PFLAB_MAIL_CUTS: Final = 0x67061003

MAX_SHOWN_TEXT: Final = 256 * 1024
"""How many characters of a mail's text are in PR_BODY. PFLAB_MAIL has the whole text."""

MAX_SHOWN_HTML: Final = 1024 * 1024
"""How many bytes of a mail's HTML are in PR_BODY_HTML."""

MAX_SHOWN_RECIPIENTS: Final = 1000
"""How many recipients of a mail become rows of the item's recipient table."""

MAX_SUBJECT: Final = 1000
"""How many characters of a subject are in PR_SUBJECT."""

MAX_ID: Final = 998
"""How many characters of a Message-ID or an address are in a property."""

_LINE_ENDS: Final = (b"", b"\n", b"\r\n")
_CUT_FIELDS: Final = 4  # offset in the rest of the mail, attachment, base64 columns (0: not encoded), line end
_LATEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class MailPost:
    """The contents of an item that is made from a mail.

    `fields`: the mail's header fields, unfolded, in order.
    """

    props: Bag
    recipients: tuple[Bag, ...] = ()
    attachments: tuple[Bag, ...] = ()
    subject: str = ""
    message_id: str = ""
    fields: tuple[Field, ...] = ()

    @property
    def size(self) -> int:
        """Return the approximate number of bytes that the values take in an item."""
        return sum(_size(value) for bag in (self.props, *self.recipients, *self.attachments) for value in bag.values())


def _size(value: Value) -> int:
    if isinstance(value, bytes):
        return 16 + len(value)
    return 16 + 4 * len(value) if isinstance(value, str | tuple) else 16


@dataclass(slots=True)
class _Cutter:
    """Cuts attachments out of a mail, in their order."""

    content: bytes
    pieces: list[bytes] = field(default_factory=list)
    size: int = 0
    at: int = 0
    cuts: list[int] = field(default_factory=list)

    def cut(self, part: Part, data: bytes, attachment: int) -> None:
        how = _same_again(self.content, part, data)
        if how is None:
            return
        columns, line_end, end = how
        self._keep(part.start)
        self.cuts += (self.size, attachment, columns, line_end)
        self.at = end

    def _keep(self, end: int) -> None:
        self.pieces.append(self.content[self.at : end])
        self.size += end - self.at

    def rest(self) -> bytes:
        self._keep(len(self.content))
        return b"".join(self.pieces)


def post_of_mail(content: bytes) -> MailPost:
    """Return a mail as the contents of an item. Raise `CodecError` only for a mail beyond a limit."""
    mail = read_parts(content)
    text, html = _shown(mail.parts, "text/plain"), _shown(mail.parts, "text/html")
    cutter = _Cutter(content)
    attachments: list[Bag] = []
    for number, part in enumerate(mail.parts, start=1):
        if part is text or part is html:
            continue
        data = part_data(content, part)
        cutter.cut(part, data, len(attachments))
        attachments.append(_attachment(part, data, number))
    props = _properties(mail)
    props[PR_BODY] = "" if text is None else _text_of(content, text)
    if html is not None:
        props[PR_BODY_HTML] = part_data(content, html)[:MAX_SHOWN_HTML]
    props[PR_PFLAB_MAIL] = cutter.rest()
    if cutter.cuts:
        props[PR_PFLAB_MAIL_CUTS] = tuple(cutter.cuts)
    subject, message_id = props[PR_SUBJECT], props.get(PR_INTERNET_MESSAGE_ID, "")
    assert isinstance(subject, str)
    assert isinstance(message_id, str)
    return MailPost(props, _recipients(mail), tuple(attachments), subject, message_id, mail.fields)


def mail_of_item(item: Item, *, message_id: str, sender: str) -> bytes:
    """Return an item as a mail: the original bytes if it was a mail, otherwise a new mail.

    A new mail has `message_id` and `sender` unless the item has its own. Raise `CodecError` if PFLAB_MAIL and its cuts differ.
    """
    if isinstance(item.props.get(PR_PFLAB_MAIL), bytes):
        return _original_mail(item)
    props = item.props
    modified_at = props.get(PR_CLIENT_SUBMIT_TIME, props.get(PR_LAST_MODIFICATION_TIME, 0))
    html = props.get(PR_BODY_HTML)
    return write_mail(
        NewMail(
            message_id=_text(props, PR_INTERNET_MESSAGE_ID) or message_id,
            sender=_text(props, PR_SENDER_EMAIL_ADDRESS) or sender,
            fallback_sender=sender,
            recipients=_addresses(item.recipients),
            subject=_text(props, PR_SUBJECT),
            date_at=_instant(modified_at),
            text=body_text(props) or "",
            html=html if isinstance(html, bytes) else None,
            attached=tuple(_attached(bag, number) for number, bag in enumerate(item.attachments, start=1)),
        )
    )


def edit_mail(props: Bag, *, subject: str | None, body: str | None) -> None:
    """Update the mail in an item after an edit.

    A new subject replaces the subject in the mail's header. If the text is new, the item is no longer that mail, so the mail
    and the HTML are removed.
    """
    mail = props.get(PR_PFLAB_MAIL)
    if not isinstance(mail, bytes):
        return
    if body is not None:
        for tag in (PR_PFLAB_MAIL, PR_PFLAB_MAIL_CUTS, PR_BODY_HTML):
            props.pop(tag, None)
    elif subject is not None:
        changed = _with_subject(mail, subject)
        grown = len(changed) - len(mail)
        props[PR_PFLAB_MAIL] = changed
        cuts = props.get(PR_PFLAB_MAIL_CUTS)
        if isinstance(cuts, tuple):
            props[PR_PFLAB_MAIL_CUTS] = tuple(
                value + grown if index % _CUT_FIELDS == 0 and isinstance(value, int) else value
                for index, value in enumerate(cuts)
            )


# --- reading


def _shown(parts: Sequence[Part], kind: str) -> Part | None:
    """Return the first part of the type `kind` that has no name and is not marked as an attachment."""
    return next(
        (part for part in parts if part.type == kind and part.disposition != "attachment" and not part.name), None
    )


def _text_of(content: bytes, part: Part) -> str:
    # No character takes more than four bytes, except with the escape sequences of iso-2022.
    data = part_data(content, part)[: 8 * MAX_SHOWN_TEXT]
    return decode_charset(part.charset, data).replace("\r\n", "\n")[:MAX_SHOWN_TEXT]


def _properties(mail: MailParts) -> Bag:
    sender = mail.first("from") or mail.first("sender")
    address = next(iter(parse_addresses(sender)), "")[:MAX_ID]
    name = one_line(decode_words(sender.partition("<")[0])).strip('" ') or address
    props: Bag = {
        PR_MESSAGE_CLASS: CLASS_NOTE,
        PR_SUBJECT: one_line(decode_words(mail.first("subject")))[:MAX_SUBJECT],
        PR_SENDER_NAME: name[:MAX_ID],
        PR_SENDER_ADDRTYPE: "SMTP",
        PR_SENDER_EMAIL_ADDRESS: one_line(address),
    }
    message_id = one_line(parse_message_id(mail.first("message-id")))
    if message_id:
        props[PR_INTERNET_MESSAGE_ID] = message_id[:MAX_ID]
    date_at = parse_date(mail.first("date"))
    if date_at is not None and 0 <= filetime(date_at) <= _LATEST:
        props[PR_CLIENT_SUBMIT_TIME] = filetime(date_at)
    return props


def _recipients(mail: MailParts) -> tuple[Bag, ...]:
    rows: list[Bag] = []
    for name, kind in (("to", RECIPIENT_TO), ("cc", RECIPIENT_CC)):
        for address in parse_addresses(mail.first(name)):
            display_name = one_line(address)[:MAX_ID]
            rows.append(
                {
                    PR_RECIPIENT_TYPE: kind,
                    PR_DISPLAY_NAME: display_name,
                    PR_ADDRTYPE: "SMTP",
                    PR_EMAIL_ADDRESS: display_name,
                }
            )
    return tuple(rows[:MAX_SHOWN_RECIPIENTS])


def _attachment(part: Part, data: bytes, number: int) -> Bag:
    return {
        PR_ATTACH_METHOD: ATTACH_BY_VALUE,
        PR_ATTACH_LONG_FILENAME: part.name or generated_name(part, number),
        PR_ATTACH_MIME_TAG: one_line(part.type)[:MAX_ID],
        PR_ATTACH_DATA_BIN: data,
    }


def _same_again(content: bytes, part: Part, data: bytes) -> tuple[int, int, int] | None:
    """Return how to encode `data` to get the part's bytes again, or None: base64 columns (0: none), line end, end offset."""
    if content.startswith(data, part.start) and part.start + len(data) == part.end:
        return 0, 0, part.end
    if part.encoding != "base64" or not data:
        return None
    newline = content.find(b"\n", part.start, part.end)
    line_end = 0 if newline < 0 else 2 if content[newline - 1 : newline] == b"\r" else 1
    columns = (part.end if newline < 0 else newline) - part.start - (1 if line_end == 2 else 0)
    if columns <= 0 or columns % 4 or columns > MAX_MAIL_SIZE:
        return None
    encoded = _base64_lines(data, columns, _LINE_ENDS[line_end])
    end = part.start + len(encoded)
    return (columns, line_end, end) if end <= part.end and content.startswith(encoded, part.start) else None


def _base64_lines(data: bytes, columns: int, line_end: bytes) -> bytes:
    text = b2a_base64(data, newline=False)
    return line_end.join(text[at : at + columns] for at in range(0, len(text), columns))


# --- writing


def _original_mail(item: Item) -> bytes:
    mail, cuts = item.props[PR_PFLAB_MAIL], item.props.get(PR_PFLAB_MAIL_CUTS, ())
    assert isinstance(mail, bytes)
    if not isinstance(cuts, tuple) or len(cuts) % _CUT_FIELDS:
        raise CodecError(f"PFLAB_MAIL_CUTS should have {_CUT_FIELDS} numbers for each attachment")
    rows = [tuple(cuts[at : at + _CUT_FIELDS]) for at in range(0, len(cuts), _CUT_FIELDS)]
    pieces: list[bytes] = []
    at = 0
    size = len(mail)
    for row in rows:
        offset, data, columns, line_end = _checked_cut(row, item.attachments, at, len(mail))
        size += len(data) * 2
        if size > 2 * MAX_MAIL_SIZE:
            raise CodecError(f"the mail has more than {MAX_MAIL_SIZE} bytes with its attachments")
        pieces += (mail[at:offset], _base64_lines(data, columns, line_end) if columns else data)
        at = offset
    pieces.append(mail[at:])
    return b"".join(pieces)


def _checked_cut(
    row: tuple[object, ...], attachments: Sequence[Bag], at: int, size: int
) -> tuple[int, bytes, int, bytes]:
    offset, number, columns, line_end = row
    if not (
        isinstance(offset, int)
        and isinstance(number, int)
        and isinstance(columns, int)
        and isinstance(line_end, int)
        and at <= offset <= size
        and 0 <= number < len(attachments)
        and columns >= 0
        and columns % 4 == 0
        and 0 <= line_end < len(_LINE_ENDS)
    ):
        raise CodecError("PFLAB_MAIL_CUTS has a row that does not match its mail")
    data = attachments[number].get(PR_ATTACH_DATA_BIN)
    if not isinstance(data, bytes):
        raise CodecError(f"attachment {number} of a mail has no data")
    return offset, data, columns, _LINE_ENDS[line_end]


def _with_subject(mail: bytes, subject: str) -> bytes:
    """Return the mail with another subject. Its first Subject field is replaced; without one, a field is put on top."""
    block, _ = split_header(mail, 0, len(mail))
    line_end = b"\r\n" if b"\r\n" in mail[: len(block) + 2] else b"\n"
    field_bytes = text_field("Subject", one_line(subject)).encode("ascii").replace(b"\r\n", line_end)
    starts = [0, *(at + 1 for at in _newlines(block)), len(block) + len(line_end)]
    for start, end in pairwise(starts):
        if block[start : start + 8].lower() == b"subject:":
            folded = (later for later in starts if later >= end and block[later : later + 1] not in {b" ", b"\t"})
            return mail[:start] + field_bytes + mail[next(folded, len(block)) :]
    return field_bytes + mail


def _newlines(block: bytes) -> list[int]:
    return [at for at, byte in enumerate(block) if byte == 0x0A]


def _text(props: Bag, tag: int) -> str:
    value = props.get(tag)
    return value if isinstance(value, str) else ""


def _instant(ticks: object) -> LabTime:
    return labtime(ticks) if isinstance(ticks, int) else 0


def _addresses(rows: Sequence[Bag]) -> tuple[str, ...]:
    return tuple(address for row in rows if (address := _text(row, PR_EMAIL_ADDRESS)))


def _attached(bag: Bag, number: int) -> Attached:
    data = bag.get(PR_ATTACH_DATA_BIN)
    return Attached(
        name=_text(bag, PR_ATTACH_LONG_FILENAME) or f"part-{number}.bin",
        type=_text(bag, PR_ATTACH_MIME_TAG) or "application/octet-stream",
        data=data if isinstance(data, bytes) else b"",
    )
