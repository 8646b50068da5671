"""Messages and folders as items: lists of MAPI properties (spec: ML-2, HI-2).

An item is encoded once, by the store that changed it. From then on its bytes are stored, sent and applied unchanged. A
receiver reads the columns of its tables from these bytes, which also proves that the item can be decoded.

Nearly every item is a post in its first version: twelve properties in a fixed order, no attachments, one author. Such posts
have a fast encoder and decoder (`encode_post`, `read_post`). The bytes of two of them (docs/reference/wire-format.md, section
3) differ in their first part only by ids, times and lengths, so one `struct` describes this part. Four texts and two numbers
follow it. The last text, the body, is STRING8 or UNICODE. This is no second format: the two functions write the same bytes as
the codec in `transport.mapi.item`, and read only what that codec reads in the same way. For anything else they return None,
and the caller uses the codec.
"""

from __future__ import annotations

import struct
from codecs import ascii_encode, utf_16_le_decode, utf_16_le_encode
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from node.tracking.change_number import COUNTER_SIZE, GUID_SIZE, XID_SIZE, ChangeNumber, NumberError
from node.tracking.pcl import Pcl, PclError
from topology.quantities import KILOBYTE
from topology.schedule import parse_schedule
from traces.labtime import SECOND_US, LabTime
from transport.errors import CodecError
from transport.mapi import tnef_stream as ts
from transport.mapi.item import Item, body_text, decode_item, encode_item, file_attachment, item_bag, put_body
from transport.mapi.properties import Bag, Properties, Property, filetime, labtime, read_values, write_values
from transport.mapi.property_tags import (
    PR_ATTACH_DATA_BIN,
    PR_ATTACH_LONG_FILENAME,
    PR_BODY,
    PR_BODY_A,
    PR_CHANGE_KEY,
    PR_COMMENT,
    PR_CREATION_TIME,
    PR_DISPLAY_NAME,
    PR_INTERNET_MESSAGE_ID,
    PR_LAST_MODIFICATION_TIME,
    PR_MESSAGE_CLASS,
    PR_MESSAGE_DELIVERY_TIME,
    PR_MESSAGE_FLAGS,
    PR_OVERALL_AGE_LIMIT,
    PR_PARENT_SOURCE_KEY,
    PR_PF_MSG_SIZE_LIMIT,
    PR_PF_OVER_HARD_QUOTA_LIMIT,
    PR_PREDECESSOR_CHANGE_LIST,
    PR_REPLICATION_MESSAGE_PRIORITY,
    PR_RESOLVE_METHOD,
    PR_SENDER_EMAIL_ADDRESS,
    PR_SENDER_NAME,
    PR_SOURCE_KEY,
    PR_STORAGE_QUOTA_LIMIT,
    PR_SUBJECT,
)
from transport.mime.item_conversion import MailPost, edit_mail, mail_of_item

# The encoding of PR_REPLICA_LIST is not public [X, section 6.5], so pflab defines these properties; see
# docs/reference/wire-format.md.
PR_PFLAB_REPLICAS = 0x6700101F  # names of the holders' stores
PR_PFLAB_REPLICAS_ADDED = 0x67011014  # when each was added, lab time in microseconds
PR_PFLAB_CONTACTS = 0x6702101F
PR_PFLAB_SCHEDULE = 0x6703001F
PR_PFLAB_CREATED = 0x67040102  # XID of the creating change number (spec: HI-7)
PR_PFLAB_ALIAS = 0x6707001F  # absent: made from the name; empty: the folder has no address (spec: ML-5)

MSGFLAG_ASSOCIATED = 0x40
CLASS_POST: Final = "IPM.Post"

ROOT = bytes(21) + b"\x01"
"""The object id of folder 1-1, the root of the tree [S2]."""

_LIMIT_TAGS = (PR_STORAGE_QUOTA_LIMIT, PR_PF_OVER_HARD_QUOTA_LIMIT, PR_PF_MSG_SIZE_LIMIT)
"""Properties with the storage limits in KB: of the warning, of posts, of an item (spec: AD-2)."""

RESOLVE_DEFAULT, RESOLVE_LAST_WRITER_WINS, RESOLVE_NO_NOTIFICATION = 0, 1, 2
RESOLVE_NAMES = {
    RESOLVE_DEFAULT: "default",
    RESOLVE_LAST_WRITER_WINS: "last writer wins",
    RESOLVE_NO_NOTIFICATION: "no notification",
}


def digest_of(item: bytes | None) -> str:
    """Return the SHA-256 of an item as in traces and signatures, or '' for a deletion."""
    return sha256(item).hexdigest() if item is not None else ""


@dataclass(slots=True, unsafe_hash=True)  # never changed; a frozen class takes four times as long to create
class Version:
    """One version of a message or folder. `item` None: the object is deleted (spec: DL-1)."""

    object: bytes  # XID of the object id
    number: ChangeNumber
    pcl: Pcl
    modified_at: LabTime
    item: bytes | None
    subject: str = ""
    fai: bool = False
    message_id: str = ""  # of an ordinary mail that was posted (spec: ML-5)
    known_digest: str = field(default="", init=False, compare=False)  # the cache of `digest`

    @property
    def digest(self) -> str:
        """The digest of the item (`digest_of`), computed once."""
        if not self.known_digest:
            self.known_digest = digest_of(self.item)
        return self.known_digest


@dataclass(frozen=True, slots=True)
class FolderProperties:
    """The properties of a folder in one version, without its identity."""

    parent: bytes
    name: str
    replicas: tuple[str, ...]
    added_at: tuple[LabTime, ...]
    schedule: str | None = None
    contacts: tuple[str, ...] = ()
    priority: int = 0
    resolve: int = RESOLVE_DEFAULT
    alias: str | None = None
    age_limit_us: int | None = None  # spec: DL-3
    warning_limit_bytes: int | None = None  # spec: AD-2
    post_limit_bytes: int | None = None
    item_limit_bytes: int | None = None
    description: str = ""
    created: ChangeNumber = field(default=ChangeNumber(bytes(16), 1))

    @property
    def shows_conflicts(self) -> bool:
        """Whether readers see that a message is in conflict. They do not if the last writer wins (spec: CF-4)."""
        return self.resolve != RESOLVE_LAST_WRITER_WINS

    @property
    def notifies_conflicts(self) -> bool:
        """Whether contacts get notices of conflicts. Only conflicts that are shown cause notices (spec: CF-4)."""
        return self.shows_conflicts and self.resolve != RESOLVE_NO_NOTIFICATION

    def with_replicas(self, stores: Sequence[str], now: LabTime) -> FolderProperties:
        """Return the properties with another replica list. A store that is on both lists keeps the time when it was added."""
        times = dict(zip(self.replicas, self.added_at, strict=True))
        return replace(self, replicas=tuple(stores), added_at=tuple(times.get(store, now) for store in stores))


def _object_id(object_id: bytes) -> bytes:
    if len(object_id) != len(ROOT):
        raise CodecError("the item's source key is not an object id of 22 bytes")
    ChangeNumber.from_xid(object_id)
    return object_id


NUMBER: Final = Property(bytes, ChangeNumber.from_xid, ChangeNumber.to_xid)
PREDECESSORS: Final = Property(bytes, Pcl.decode, Pcl.encode)

_IDENTITY: Properties = {
    PR_SOURCE_KEY: Property(bytes, _object_id),
    PR_CHANGE_KEY: NUMBER,
    PR_PREDECESSOR_CHANGE_LIST: PREDECESSORS,
    PR_LAST_MODIFICATION_TIME: Property(int, labtime, filetime),
}
_VERSION: Properties = {
    **_IDENTITY,
    PR_MESSAGE_FLAGS: Property(int, default=0),
    PR_SUBJECT: Property(str, default=""),
    PR_INTERNET_MESSAGE_ID: Property(str, default=""),
}
"""What a version's columns say of its item."""


def _identity(version_of: bytes, number: ChangeNumber, pcl: Pcl, modified_at: LabTime) -> Bag:
    values = {
        PR_SOURCE_KEY: version_of,
        PR_CHANGE_KEY: number,
        PR_PREDECESSOR_CHANGE_LIST: pcl,
        PR_LAST_MODIFICATION_TIME: modified_at,
    }
    return write_values(values, _IDENTITY)


def encode_message(
    version_of: bytes,
    number: ChangeNumber,
    pcl: Pcl,
    modified_at: LabTime,
    *,
    folder: bytes,
    subject: str,
    body: str,
    sender: str,
    attachments: Sequence[tuple[str, bytes]] = (),
    fai: bool = False,
) -> bytes:
    """Return the item of a new post."""
    flags = MSGFLAG_ASSOCIATED if fai else 0
    if not attachments and pcl.is_only(number):
        ticks = filetime(modified_at)
        item = encode_post(
            version_of, number.to_xid(), ticks, folder=folder, subject=subject, body=body, sender=sender, flags=flags
        )
        if item is not None:
            return item
    props = _identity(version_of, number, pcl, modified_at)
    props[PR_PARENT_SOURCE_KEY] = folder
    props[PR_MESSAGE_CLASS] = CLASS_POST
    props[PR_SUBJECT] = subject
    props[PR_SENDER_NAME] = sender
    props[PR_SENDER_EMAIL_ADDRESS] = sender
    props[PR_CREATION_TIME] = filetime(modified_at)
    props[PR_MESSAGE_FLAGS] = flags
    put_body(props, body)
    return encode_item(Item(props, (), tuple(file_attachment(name, data) for name, data in attachments)))


def encode_mail(
    version_of: bytes,
    number: ChangeNumber,
    pcl: Pcl,
    modified_at: LabTime,
    *,
    folder: bytes,
    mail: MailPost,
) -> bytes:
    """Return the item of a mail that becomes a post (spec: ML-5)."""
    props = _identity(version_of, number, pcl, modified_at)
    props[PR_PARENT_SOURCE_KEY] = folder
    props.update(mail.props)
    props[PR_CREATION_TIME] = props[PR_MESSAGE_DELIVERY_TIME] = filetime(modified_at)
    props[PR_MESSAGE_FLAGS] = 0
    return encode_item(Item(props, mail.recipients, mail.attachments))


def export_mail(stream: bytes, *, message_id: str, sender: str) -> bytes:
    """Return an item as a mail: the mail that it was made from, or a new mail (spec: ML-5)."""
    return mail_of_item(decode_item(stream), message_id=message_id, sender=sender)


def encode_edit(
    old: bytes,
    number: ChangeNumber,
    pcl: Pcl,
    modified_at: LabTime,
    *,
    version_of: bytes,
    subject: str | None = None,
    body: str | None = None,
    folder: bytes | None = None,
) -> bytes:
    """Return the item of a new version made from an older item. Its other properties are kept, even unknown ones.

    folder: the folder of the new version, if it is another one.
    """
    item = decode_item(old)
    props = dict(item.props)
    props.update(_identity(version_of, number, pcl, modified_at))
    if folder is not None:
        props[PR_PARENT_SOURCE_KEY] = folder
    edit_mail(props, subject=subject, body=body)
    if subject is not None:
        props[PR_SUBJECT] = subject
    if body is not None:
        put_body(props, body)
    return encode_item(replace(item, props=props))


def encode_folder(
    version_of: bytes, number: ChangeNumber, pcl: Pcl, modified_at: LabTime, folder: FolderProperties, old: bytes | None
) -> bytes:
    """Return a folder's item. It keeps the unknown properties of `old`, the item that it was made from."""
    props = dict(decode_item(old).props) if old is not None else {}
    props.update(_identity(version_of, number, pcl, modified_at))
    props[PR_PARENT_SOURCE_KEY] = folder.parent
    props[PR_DISPLAY_NAME] = folder.name
    # A multi-valued property has at least one value, so a folder without holders or contacts has no such property.
    for tag in (PR_PFLAB_REPLICAS, PR_PFLAB_REPLICAS_ADDED):
        props.pop(tag, None)
    if folder.replicas:
        props[PR_PFLAB_REPLICAS] = folder.replicas
        props[PR_PFLAB_REPLICAS_ADDED] = folder.added_at
    props.pop(PR_PFLAB_CONTACTS, None)
    if folder.contacts:
        props[PR_PFLAB_CONTACTS] = folder.contacts
    props.pop(PR_PFLAB_ALIAS, None)
    if folder.alias is not None:
        props[PR_PFLAB_ALIAS] = folder.alias
    props.pop(PR_COMMENT, None)
    if folder.description:
        props[PR_COMMENT] = folder.description
    props.pop(PR_OVERALL_AGE_LIMIT, None)
    if folder.age_limit_us is not None:
        props[PR_OVERALL_AGE_LIMIT] = folder.age_limit_us // SECOND_US
    limits = (folder.warning_limit_bytes, folder.post_limit_bytes, folder.item_limit_bytes)
    for tag, limit in zip(_LIMIT_TAGS, limits, strict=True):
        props.pop(tag, None)
        if limit is not None:
            props[tag] = limit // KILOBYTE
    props[PR_PFLAB_SCHEDULE] = folder.schedule or ""
    props[PR_REPLICATION_MESSAGE_PRIORITY] = folder.priority
    props[PR_RESOLVE_METHOD] = folder.resolve
    props[PR_PFLAB_CREATED] = folder.created.to_xid()
    return encode_item(Item(props))


def read_version(stream: bytes) -> Version:
    """Return the version in an item. Raise CodecError if it is not valid."""
    post = read_post(stream)
    if post is not None:
        object_id, change_key, ticks, flags, subject = post
        number = ChangeNumber(change_key[:GUID_SIZE], int.from_bytes(change_key[GUID_SIZE:], "big"))
        fai = flags & MSGFLAG_ASSOCIATED != 0
        return Version(object_id, number, Pcl.only(number), labtime(ticks), stream, subject, fai)
    props = item_bag(stream)
    try:
        identity = read_values(props, _VERSION)
    except (NumberError, PclError) as error:
        raise CodecError(f"the item's identity is not valid: {error}") from None
    number, pcl = identity[PR_CHANGE_KEY], identity[PR_PREDECESSOR_CHANGE_LIST]
    if not pcl.includes(number):
        raise CodecError("the item's predecessor change list lacks the item's own change number")  # spec: CN-3
    return Version(
        identity[PR_SOURCE_KEY],
        number,
        pcl,
        identity[PR_LAST_MODIFICATION_TIME],
        stream,
        identity[PR_SUBJECT],
        bool(identity[PR_MESSAGE_FLAGS] & MSGFLAG_ASSOCIATED),
        identity[PR_INTERNET_MESSAGE_ID],
    )


def _in_bytes(limit_kb: object) -> int | None:
    return limit_kb * KILOBYTE if isinstance(limit_kb, int) else None


def read_folder(stream: bytes) -> FolderProperties:
    """Return the properties in a folder's item. Raise CodecError if they are not valid."""
    props = item_bag(stream)
    try:
        parent, name = props[PR_PARENT_SOURCE_KEY], props[PR_DISPLAY_NAME]
        replicas, added = props.get(PR_PFLAB_REPLICAS, ()), props.get(PR_PFLAB_REPLICAS_ADDED, ())
        alias, age_limit_s = props.get(PR_PFLAB_ALIAS), props.get(PR_OVERALL_AGE_LIMIT)
        contacts, schedule = props.get(PR_PFLAB_CONTACTS, ()), props[PR_PFLAB_SCHEDULE]
        priority, resolve = props[PR_REPLICATION_MESSAGE_PRIORITY], props[PR_RESOLVE_METHOD]
        limits_kb = [props.get(tag) for tag in _LIMIT_TAGS]
        description = props.get(PR_COMMENT, "")
        created = ChangeNumber.from_xid(props[PR_PFLAB_CREATED])  # type: ignore[arg-type]
    except KeyError as error:
        raise CodecError(f"the folder lacks property {error.args[0]:#010x}, which is required") from None
    except (NumberError, TypeError) as error:
        raise CodecError(f"the folder's creation number is not valid: {error}") from None
    sound = (
        isinstance(parent, bytes)
        and len(parent) == len(ROOT)
        and isinstance(name, str)
        and 0 < len(name) <= MAX_NAME_LENGTH
        and "/" not in name
        and isinstance(replicas, tuple)
        and isinstance(added, tuple)
        and len(replicas) == len(added)
        and isinstance(contacts, tuple)
        and (alias is None or isinstance(alias, str))
        and isinstance(description, str)
        and all(limit is None or (isinstance(limit, int) and limit >= 0) for limit in (age_limit_s, *limits_kb))
        and isinstance(schedule, str)
        and isinstance(priority, int)
        and priority in {-1, 0, 1}
        and isinstance(resolve, int)
    )
    if not sound:
        raise CodecError("the folder has a property with a value that is not valid")
    try:
        parse_schedule(schedule or "always")  # type: ignore[arg-type]
    except ValueError as error:
        raise CodecError(f"the folder's schedule is not valid: {error}") from None
    return FolderProperties(
        parent,  # type: ignore[arg-type]
        name,  # type: ignore[arg-type]
        replicas,  # type: ignore[arg-type]
        added,  # type: ignore[arg-type]
        schedule or None,  # type: ignore[arg-type]
        contacts,  # type: ignore[arg-type]
        priority,  # type: ignore[arg-type]
        resolve,  # type: ignore[arg-type]
        alias,  # type: ignore[arg-type]
        age_limit_s * SECOND_US if isinstance(age_limit_s, int) else None,
        warning_limit_bytes=_in_bytes(limits_kb[0]),
        post_limit_bytes=_in_bytes(limits_kb[1]),
        item_limit_bytes=_in_bytes(limits_kb[2]),
        description=description,  # type: ignore[arg-type]
        created=created,
    )


MAX_NAME_LENGTH = 255


def body_of(stream: bytes) -> str:
    return body_text(item_bag(stream)) or ""


def attachments_of(stream: bytes) -> list[tuple[str, bytes]]:
    """Return name and data of an item's attached files, in order."""
    files = []
    for bag in decode_item(stream).attachments:
        name, data = bag.get(PR_ATTACH_LONG_FILENAME), bag.get(PR_ATTACH_DATA_BIN)
        if isinstance(data, bytes):
            files.append((name if isinstance(name, str) else "", data))
    return files


def sender_of(stream: bytes) -> str:
    sender = item_bag(stream).get(PR_SENDER_NAME, "")
    return sender if isinstance(sender, str) else ""


def object_text(object_id: bytes) -> str:
    """Return an object id as traces write it: hex digits of the GUID, and the counter; 1-1 for the hierarchy."""
    return ROOT_TEXT if object_id == ROOT else f"{object_id[:16].hex()}:{int.from_bytes(object_id[16:], 'big')}"


def object_from_text(text: str) -> bytes:
    """Return the object id in a text. Raise ValueError if the text is not an object id."""
    return ChangeNumber.parse(text).to_xid()


ROOT_TEXT = "1-1"


# -- plain posts


PostFields = tuple[bytes, bytes, int, int, str]
"""Object id and change key as XIDs, FILETIME of the last modification, message flags, subject."""

_PROPERTIES: Final = 12
_SIZED: Final = struct.Struct("<III")  # tag, number of values (1), length of the value
_PADS: Final = (b"", b"\0\0\0", b"\0\0", b"\0")  # by length modulo 4
_ENDS: Final = tuple(
    b"\0\0" + _PADS[size + 2 & 3] for size in range(4)
)  # what ends a text: NUL and padding, by length modulo 4


def _xid_after(before: bytes, tag: int) -> bytes:
    return before + _SIZED.pack(tag, 1, XID_SIZE)


_CLASS: Final = (CLASS_POST + "\0").encode("utf-16-le")
_XID_PAD: Final = _PADS[XID_SIZE & 3]
_LIST_SIZE: Final = 1 + XID_SIZE
# Each constant is followed by one variable: length of attMsgProps, object, change key, PCL, time, folder, length of subject.
_CONSTANTS: Final = (
    ts.PREFIX + ts.class_attribute(CLASS_POST) + struct.pack("<BI", ts.LEVEL_MESSAGE, ts.ATT_MSG_PROPS),
    _xid_after(struct.pack("<I", _PROPERTIES), PR_SOURCE_KEY),
    _xid_after(_XID_PAD, PR_CHANGE_KEY),
    _XID_PAD + _SIZED.pack(PR_PREDECESSOR_CHANGE_LIST, 1, _LIST_SIZE) + bytes((XID_SIZE,)),
    _PADS[_LIST_SIZE & 3] + struct.pack("<I", PR_LAST_MODIFICATION_TIME),
    _xid_after(b"", PR_PARENT_SOURCE_KEY),
    _XID_PAD
    + _SIZED.pack(PR_MESSAGE_CLASS, 1, len(_CLASS))
    + _CLASS
    + _PADS[len(_CLASS) & 3]
    + struct.pack("<II", PR_SUBJECT, 1),
)
_VARIABLES: Final = ("I", "22s", "22s", "22s", "Q", "22s", "I")
_HEAD: Final = struct.Struct(
    "<" + "".join(f"{len(constant)}s{variable}" for constant, variable in zip(_CONSTANTS, _VARIABLES, strict=True))
)
_TEXT_HEAD: Final = struct.Struct("<8sI")  # tag and number of values (1), length of the value
_NAME: Final = struct.pack("<II", PR_SENDER_NAME, 1)
_ADDRESS: Final = struct.pack("<II", PR_SENDER_EMAIL_ADDRESS, 1)
_LAST: Final = struct.Struct("<IQIi8sI")  # creation time and flags, each after its tag; then the head of the body
_BODY: Final = struct.pack("<II", PR_BODY, 1)
_BODY_A: Final = struct.pack("<II", PR_BODY_A, 1)
_DATA_AT: Final = len(_CONSTANTS[0]) + 4
_ZERO: Final = bytes(COUNTER_SIZE)  # counters begin at 1
_TAGS: Final = (_NAME, _ADDRESS, PR_CREATION_TIME, PR_MESSAGE_FLAGS)
_BEHIND: Final = (b"", ts.end_guard(ts.LEVEL_MESSAGE, b"\0"))


def encode_post(
    object_id: bytes, change_key: bytes, ticks: int, *, folder: bytes, subject: str, body: str, sender: str, flags: int
) -> bytes | None:
    """Return the item of a new post, or None if the codec must encode it.

    `ticks`: the FILETIME of the post.
    """
    if not len(object_id) == len(change_key) == len(folder) == XID_SIZE:
        return None
    try:
        title, name = utf_16_le_encode(subject)[0], utf_16_le_encode(sender)[0]
        if body.isascii():
            body_head, text = _BODY_A, ascii_encode(body)[0] + b"\0"
        else:
            body_head, text = _BODY, utf_16_le_encode(body)[0] + b"\0\0"
        tail = (
            _ended(title),
            _TEXT_HEAD.pack(_NAME, len(name) + 2),
            _ended(name),
            _TEXT_HEAD.pack(_ADDRESS, len(name) + 2),
            _ended(name),
            _LAST.pack(PR_CREATION_TIME, ticks, PR_MESSAGE_FLAGS, flags, body_head, len(text)),
            text,
            _PADS[len(text) & 3],
        )
        c = _CONSTANTS
        size = _HEAD.size - _DATA_AT + sum(map(len, tail))
        head = _HEAD.pack(
            c[0], size, c[1], object_id, c[2], change_key, c[3], change_key, c[4], ticks, c[5], folder, c[6],
            len(title) + 2,
        )  # fmt: skip
    except (struct.error, TypeError, ValueError):
        return None
    data = b"".join((head, *tail))
    check = ts.byte_sum(data[_DATA_AT:]).to_bytes(2, "little")
    return b"".join((data, check, ts.end_guard(ts.LEVEL_MESSAGE, check)))


def _ended(text: bytes) -> bytes:
    return text + _ENDS[len(text) & 3]


def read_post(stream: bytes) -> PostFields | None:
    """Return the fields of an item that `encode_post` wrote, or None for any other bytes."""
    try:
        c0, size, c1, object_id, c2, change_key, c3, listed_key, c4, ticks, c5, _, c6, long = _HEAD.unpack_from(stream)
        end = _DATA_AT + size
        subject = utf_16_le_decode(stream[_HEAD.size : _HEAD.size + long], "strict", True)[0]
        at = _after_text(stream, _HEAD.size, long)
        name_head, long = _TEXT_HEAD.unpack_from(stream, at)
        at = _after_text(stream, at + _TEXT_HEAD.size, long)
        address_head, long = _TEXT_HEAD.unpack_from(stream, at)
        at = _after_text(stream, at + _TEXT_HEAD.size, long)
        created, _, flagged, flags, body_head, long = _LAST.unpack_from(stream, at)
        at = (_after_ascii if body_head == _BODY_A else _after_text)(stream, at + _LAST.size, long)
    except (struct.error, ValueError):
        return None
    as_written = (
        (c0, c1, c2, c3, c4, c5, c6) == _CONSTANTS
        and listed_key == change_key
        and not (object_id.endswith(_ZERO) or change_key.endswith(_ZERO))
        and (name_head, address_head, created, flagged) == _TAGS
        and body_head in {_BODY, _BODY_A}
        and at == end
        and stream[end + 2 :] in _BEHIND
        and stream[end : end + 2] == ts.byte_sum(stream[_DATA_AT:end]).to_bytes(2, "little")
    )
    return (object_id, change_key, ticks, flags, subject[:-1]) if as_written else None


def _after_ascii(stream: bytes, at: int, size: int) -> int:
    """Return where the property after a text in ASCII begins, as `_after_text` does."""
    text = stream[at : at + size]
    if not text.isascii() or text[-1:] != b"\0":
        raise ValueError("not a text that encode_post wrote")
    return at + (size + 3 & -4)


def _after_text(stream: bytes, at: int, size: int) -> int:
    """Return where the property after a text begins; `size` includes the NUL. Raise ValueError if the text is not valid."""
    if utf_16_le_decode(stream[at : at + size], "strict", True)[0][-1:] != "\0":
        raise ValueError("not a text that encode_post wrote")
    return at + (size + 3 & -4)
