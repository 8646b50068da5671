"""The attachments of an item: files and embedded messages, as bags and as TNEF attributes.

In a bag, a file's data is PR_ATTACH_DATA_BIN. On the wire the data is attAttachData, which means the same property [MS-OXTNEF
2.1.3.3.11]. Every reader keeps its bytes, so no second copy is needed. An embedded message is a property on the wire too. It
also has an attAttachData with a note, because some readers (ytnef) ignore an attachment without attAttachData. An empty file
stays a property, because ytnef does not read an item beyond an empty attribute.

(spec: ML-2)
"""

from typing import Final

from transport.errors import CodecError
from transport.mapi import tnef_stream as ts
from transport.mapi.properties import Bag, decode_bag_at, encode_bag
from transport.mapi.property_tags import (
    ATTACH_BY_VALUE,
    ATTACH_EMBEDDED_MSG,
    PR_ATTACH_DATA_BIN,
    PR_ATTACH_DATA_OBJ,
    PR_ATTACH_FILENAME,
    PR_ATTACH_LONG_FILENAME,
    PR_ATTACH_METHOD,
)
from transport.mapi.system_message import RawAttribute

IID_IMESSAGE: Final = bytes.fromhex("0703020000000000c000000000000046")
"""The bytes before an embedded message: {00020307-0000-0000-C000-000000000046} [MS-OXTNEF 2.1.3.4]."""

MAX_TITLE: Final = 99
"""The most characters in attAttachTitle. If it is longer, ytnef ignores the rest of the item. A property has the whole
name."""

_DERIVED: Final = frozenset((ts.ATT_ATTACH_REND_DATA, ts.ATT_ATTACH_TITLE, ts.ATT_ATTACH_DATA))


def file_attachment(name: str, data: bytes) -> Bag:
    """Return the bag of an attached file, for `Item.attachments`."""
    return {
        PR_ATTACH_METHOD: ATTACH_BY_VALUE,
        PR_ATTACH_LONG_FILENAME: name,
        PR_ATTACH_DATA_BIN: data,
    }


def embedded_attachment(item: bytes) -> Bag:
    """Return the bag of an attached message, given its stream, for `Item.attachments`."""
    return {PR_ATTACH_METHOD: ATTACH_EMBEDDED_MSG, PR_ATTACH_DATA_OBJ: IID_IMESSAGE + item}


def embedded_item(attachment: Bag) -> bytes | None:
    """Return the stream of the message in an attachment; None if the attachment is not a message."""
    value = attachment.get(PR_ATTACH_DATA_OBJ)
    if isinstance(value, bytes) and value.startswith(IID_IMESSAGE):
        return value[len(IID_IMESSAGE) :]
    return None


def attachment_pieces(bag: Bag, raws: list[RawAttribute]) -> list[bytes]:
    """Return all attributes of one attachment, in pieces to join; `raws` are its unknown attributes."""
    kept = {raw.code for raw in raws}
    pieces = [] if ts.ATT_ATTACH_REND_DATA in kept else [ts.REND_ATTRIBUTE]
    pieces += ts.frame_kept(raws)
    if ts.ATT_ATTACH_TITLE not in kept and (title := _title(bag)):
        pieces += ts.frame(ts.LEVEL_ATTACHMENT, ts.ATT_ATTACH_TITLE, title)
    if ts.ATT_ATTACH_DATA not in kept:
        data = bag.get(PR_ATTACH_DATA_BIN)
        if isinstance(data, bytes) and data and PR_ATTACH_DATA_OBJ not in bag:
            pieces += ts.frame(ts.LEVEL_ATTACHMENT, ts.ATT_ATTACH_DATA, data)
            bag = {tag: value for tag, value in bag.items() if tag != PR_ATTACH_DATA_BIN}
        elif embedded_item(bag) is not None:
            pieces.append(ts.NOTE_ATTRIBUTE)
    pieces += ts.frame(ts.LEVEL_ATTACHMENT, ts.ATT_ATTACHMENT, encode_bag(bag))
    return pieces


def _title(bag: Bag) -> bytes:
    """Return the file name for readers without properties: in our code page, where other characters become `?`."""
    name = bag.get(PR_ATTACH_LONG_FILENAME, bag.get(PR_ATTACH_FILENAME))
    return name[:MAX_TITLE].encode(f"cp{ts.CODEPAGE}", "replace") + b"\0" if isinstance(name, str) else b""


class AttachmentReader:
    """Collects the attributes of one attachment of a stream; `finish` returns its bag."""

    def __init__(self, stream: bytes, index: int, opening: tuple[int, int, int]) -> None:
        code, start, end = opening
        if code != ts.ATT_ATTACH_REND_DATA:
            raise CodecError(
                f"TNEF attribute {code:#010x} at byte {start - 9} comes before attAttachRendData, which opens an attachment"
            )
        self.stream = stream
        self.index = index
        self.bag: Bag | None = None
        self.raws = [RawAttribute(code, stream[start:end], index)]

    def take(self, code: int, start: int, end: int) -> None:
        """Add an attribute of this attachment."""
        if code != ts.ATT_ATTACHMENT:
            self.raws.append(RawAttribute(code, self.stream[start:end], self.index))
        elif self.bag is None:
            self.bag = exact_bag(self.stream, start, end)
        else:
            raise CodecError(f"attachment {self.index} has two attAttachment attributes; only one is allowed")

    def finish(self) -> tuple[Bag, list[RawAttribute]]:
        """Return the attachment's bag, and the attributes to keep as they are, because the bag does not contain them."""
        bag = self.bag if self.bag is not None else {}
        nested = embedded_item(bag) is not None
        count = {code: sum(raw.code == code for raw in self.raws) for code in _DERIVED}
        kept: list[RawAttribute] = []
        for raw in self.raws:
            implied = {
                ts.ATT_ATTACH_REND_DATA: raw.data == ts.REND_DATA,
                ts.ATT_ATTACH_TITLE: raw.data == _title(bag),
                ts.ATT_ATTACH_DATA: nested and raw.data == ts.NOTE,
            }.get(raw.code, raw.code == ts.ATT_END_GUARD and raw.data == ts.GUARD_DATA)
            if implied and count.get(raw.code, 1) == 1:
                continue
            if (
                raw.code == ts.ATT_ATTACH_DATA
                and count[raw.code] == 1
                and not (PR_ATTACH_DATA_BIN in bag or PR_ATTACH_DATA_OBJ in bag)
            ):
                bag[PR_ATTACH_DATA_BIN] = raw.data
            else:
                kept.append(raw)
        return bag, kept


def exact_bag(stream: bytes, start: int, end: int) -> Bag:
    """Decode the bag that fills ``stream[start:end]`` exactly. Raise CodecError if bytes are left over."""
    bag, stop = decode_bag_at(stream, start, end)
    if stop != end:
        raise CodecError(f"unexpected {end - stop} bytes after the last property, at byte {stop}")
    return bag
