"""Replication mail: its types, its control properties, its signature (spec: OUT-2, OUT-4, OUT-6, RST-4, ML-6).

A mail is a system message of the transport: a list of control properties with one section for each folder that it names, and
one part for each item. The sending store signs everything except the signature.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Final, TypeVar

from node.codec.items import ROOT, Version, read_version
from node.codec.signing import Identity, Verifier
from node.errors import BadMail
from node.tracking.change_number import XID_SIZE, ChangeNumber, NumberError
from node.tracking.cnset import CNSet
from node.tracking.idset import IdsetError, decode_idset, encode_idset
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl, PclError
from traces.labtime import LabTime, parse_instant
from transport.errors import CodecError
from transport.mapi.properties import Bag, decode_bag, encode_bag
from transport.mapi.system_message import Part, SystemMessage

T = TypeVar("T")


class MessageType(IntEnum):
    """The types of replication mail, with the numbers that event texts print [S2]."""

    HIERARCHY = 0x2
    CONTENT = 0x4
    BACKFILL_REQUEST = 0x8
    STATUS = 0x10
    STATUS_REQUEST = 0x20
    HIERARCHY_RESPONSE = 0x80000002
    CONTENT_RESPONSE = 0x80000004


SUBJECTS: Final = {
    MessageType.HIERARCHY: "Folder Hierarchy",
    MessageType.CONTENT: "Folder Content",
    MessageType.BACKFILL_REQUEST: "Folder Backfill Request",
    MessageType.STATUS: "Folder Status",
    MessageType.STATUS_REQUEST: "Folder Status Request",
    MessageType.HIERARCHY_RESPONSE: "Folder Hierarchy Backfill Response",
    MessageType.CONTENT_RESPONSE: "Folder Content Backfill Response",
}
"""Subjects in the style of the only published subject, `Folder Content Backfill Response` [X, section 3]."""

UPDATES: Final = frozenset(
    {MessageType.HIERARCHY, MessageType.CONTENT, MessageType.HIERARCHY_RESPONSE, MessageType.CONTENT_RESPONSE}
)
HIERARCHIES: Final = frozenset({MessageType.HIERARCHY, MessageType.HIERARCHY_RESPONSE})
RESPONSES: Final = frozenset({MessageType.HIERARCHY_RESPONSE, MessageType.CONTENT_RESPONSE})


class Mark(IntFlag):
    """A flag of a section: what the section says in addition to the type of its mail."""

    NONE = 0
    REPEAT = 1  # spec: ST-7
    NO_REPLICA = 2  # spec: RP-2
    DELETE_PENDING = 4  # spec: RP-2
    ALL_RESPOND = 8  # spec: ST-3 every holder is a required responder
    RETAINED = 16  # spec: RP-2 the answer to a delete-pending request
    RESENT = 32  # spec: AD-1 sent again by an administrator's order, to chosen stores


# Control properties of pflab, in the provider-internal range; docs/reference/wire-format.md has every byte. The sets of a
# section use the tags that {MS-OXCFXICS} has for the same sets.
P_VERSION = 0x67100003
P_TYPE = 0x67110003
P_STORE = 0x6712001F
P_REPLICA_GUID = 0x67130048
P_SENT_AT = 0x67140014
P_MAIL_NUMBER = 0x67150014
P_LAMPORT = 0x67160014
P_MESSAGE_ID = 0x6717001F
P_IN_REPLY_TO = 0x6718001F
P_SECTIONS = 0x67191102
P_CERTIFICATE = 0x671A0102
P_SIGNATURE = 0x671B0102

P_FOLDER = 0x67200102
P_CNSET = 0x67210102
P_CNSET_FAI = 0x67220102
P_ROW = 0x67960102  # MetaTagCnsetSeen
P_ROW_FAI = 0x67DA0102  # MetaTagCnsetSeenFAI
P_MARKS = 0x67230003
P_RESPONDERS = 0x6724101F
P_DELETIONS = 0x67251102
P_EXPIRED = 0x67260102
P_EXPIRED_FAI = 0x67270102

P_STANDS_FOR = 0x67300102  # next to a part, or in a deletion
P_OBJECT = 0x67310102
P_NUMBER = 0x67320102
P_PCL = 0x67330102
P_MODIFIED_AT = 0x67340014
P_ASSOCIATED = 0x6735000B

MAIL_VERSION = 2
LAST_INSTANT = parse_instant("9999-12-31T00:00Z")
MAX_SECTIONS = 4096
MAX_DELETIONS = 60_000  # a mail has at most 50,000; a property list holds 65,536 values
MAX_STANDS_FOR = 100_000  # the most superseded numbers of one update: they are edits of one object


@dataclass(slots=True, unsafe_hash=True)  # never changed, like `Version`
class Update:
    """A version or a deletion in a mail, with the numbers that it stands for in addition to its own (spec: CN-7)."""

    version: Version
    stands_for: CNSet = CNSet.EMPTY

    @property
    def names(self) -> CNSet:
        return self.stands_for | CNSet.of(self.version.number)


def names_of(updates: Sequence[Update]) -> NumberSets:
    """Return the own numbers of updates and the numbers that they stand for."""
    own = NumberSets.from_numbers((update.version.number, update.version.fai) for update in updates)
    older = [NumberSets.of_kind(each.stands_for, each.version.fai) for each in updates if each.stands_for]
    return NumberSets.union_all([own, *older]) if older else own


@dataclass(frozen=True, slots=True)
class Section:
    """What a mail says about one folder.

    `numbers`: the numbers that the mail claims or, in a request, requests.
    """

    folder: bytes
    row: NumberSets
    numbers: NumberSets = NumberSets.EMPTY
    marks: Mark = Mark.NONE
    responders: tuple[str, ...] = ()
    expired: NumberSets = NumberSets.EMPTY
    """In a response: requested numbers whose items have expired at the source (spec: DL-3)."""


@dataclass(frozen=True, slots=True)
class ReplicationMail:
    """One decoded replication mail.

    `failed`: numbers of items that could not be decoded; `failures`: why (spec: IN-5).
    """

    type: MessageType
    store: str
    replica_guid: bytes
    sent_at: LabTime
    number: int
    lamport: int
    message_id: str
    sections: tuple[Section, ...]
    updates: tuple[Update, ...] = ()
    in_reply_to: str = ""
    failed: CNSet = CNSet.EMPTY
    failures: tuple[str, ...] = ()


# -- encoding


def _section_bag(section: Section, deletions: tuple[bytes, ...]) -> Bag:
    bag: Bag = {
        P_FOLDER: section.folder,
        P_CNSET: encode_idset(section.numbers.contents),
        P_CNSET_FAI: encode_idset(section.numbers.associated),
        P_ROW: encode_idset(section.row.contents),
        P_ROW_FAI: encode_idset(section.row.associated),
        P_MARKS: int(section.marks),
    }
    if section.responders:
        bag[P_RESPONDERS] = section.responders
    if deletions:
        bag[P_DELETIONS] = deletions
    for tag, numbers in ((P_EXPIRED, section.expired.contents), (P_EXPIRED_FAI, section.expired.associated)):
        if numbers:
            bag[tag] = encode_idset(numbers)
    return bag


def _deletion(update: Update) -> bytes:
    version = update.version
    return encode_bag(
        {
            P_OBJECT: version.object,
            P_NUMBER: version.number.to_xid(),
            P_PCL: version.pcl.encode(),
            P_MODIFIED_AT: version.modified_at,
            P_ASSOCIATED: version.fai,
            P_STANDS_FOR: encode_idset(update.stands_for),
        }
    )


def _beside(update: Update) -> Bag:
    # The number is also next to the item, so that it is known even if the item cannot be decoded (spec: CN-7).
    bag: Bag = {P_NUMBER: update.version.number.to_xid()}
    if update.stands_for:
        bag[P_STANDS_FOR] = encode_idset(update.stands_for)
    return bag


def _beside_bytes(props: Bag) -> bytes:
    """Return the properties next to a part as `encode_bag` writes them. A single number, the usual case, has a fast path."""
    number = props.get(P_NUMBER)
    if len(props) == 1 and isinstance(number, bytes) and len(number) == XID_SIZE:
        return _NUMBER_HEAD + number + _NUMBER_PAD
    return encode_bag(props)


_NUMBER_HEAD: Final = struct.pack("<IIII", 1, P_NUMBER, 1, XID_SIZE)
_NUMBER_PAD: Final = bytes(-XID_SIZE & 3)


def _signed_bytes(props: Bag, parts: Iterable[Part], digests: Iterable[str]) -> bytes:
    """Return the bytes of a mail that its store signs. `digests` are the digests of the items in the parts."""
    pieces = [encode_bag({tag: props[tag] for tag in _SIGNED if tag in props})]
    for part, digest in zip(parts, digests, strict=True):
        beside = _beside_bytes(part.props)
        pieces.append(b"%d\0%b%b" % (len(beside), beside, bytes.fromhex(digest)))
    return b"pflab replication mail 2\0" + hashlib.sha256(b"".join(pieces)).digest()


_SIGNED = (
    P_VERSION,
    P_TYPE,
    P_STORE,
    P_REPLICA_GUID,
    P_SENT_AT,
    P_MAIL_NUMBER,
    P_LAMPORT,
    P_MESSAGE_ID,
    P_IN_REPLY_TO,
    P_SECTIONS,
    P_CERTIFICATE,
)


def encode(mail: ReplicationMail, identity: Identity) -> SystemMessage:
    """Return the signed system message of a mail. Only a mail with one section may have updates (spec: OUT-2)."""
    assert len(mail.sections) == 1 or not mail.updates, "updates belong to the one folder that the mail is about"
    deletions = tuple(_deletion(update) for update in mail.updates if update.version.item is None)
    parts = tuple(Part(item, _beside(update)) for update in mail.updates if (item := update.version.item) is not None)
    digests = [update.version.digest for update in mail.updates if update.version.item is not None]
    props: Bag = {
        P_VERSION: MAIL_VERSION,
        P_TYPE: mail.type - 2**32 if mail.type >= 2**31 else int(mail.type),  # PtypInteger32 is signed
        P_STORE: mail.store,
        P_REPLICA_GUID: mail.replica_guid,
        P_SENT_AT: mail.sent_at,
        P_MAIL_NUMBER: mail.number,
        P_LAMPORT: mail.lamport,
        P_MESSAGE_ID: mail.message_id,
        P_IN_REPLY_TO: mail.in_reply_to,
        P_SECTIONS: tuple(encode_bag(_section_bag(section, deletions)) for section in mail.sections),
        P_CERTIFICATE: identity.certificate,
    }
    props[P_SIGNATURE] = identity.sign(_signed_bytes(props, parts, digests))
    return SystemMessage(props, parts)


# -- decoding


def _typed(props: Bag, tag: int, kind: type[T]) -> T:
    value = props.get(tag)
    if not isinstance(value, kind):
        raise BadMail(f"control property {tag:#010x} is missing or has the wrong type")
    return value


def _instant(props: Bag, tag: int) -> LabTime:
    at = _typed(props, tag, int)
    if not 0 <= at <= LAST_INSTANT:
        raise BadMail(f"control property {tag:#010x} is not an instant of lab time")
    return at


def _read_section(data: bytes) -> tuple[Section, tuple[bytes, ...]]:
    bag = decode_bag(data)
    folder = _typed(bag, P_FOLDER, bytes)
    if len(folder) != len(ROOT):
        raise BadMail("a section's folder id does not have 22 bytes")
    responders = bag.get(P_RESPONDERS, ())
    deletions = bag.get(P_DELETIONS, ())
    if not isinstance(responders, tuple) or not isinstance(deletions, tuple):
        raise BadMail("a section's responders and deletions must be lists")
    if len(deletions) > MAX_DELETIONS:
        raise BadMail(f"a section has more than {MAX_DELETIONS} deletions")
    section = Section(
        folder=folder,
        row=NumberSets.decode(_typed(bag, P_ROW, bytes), _typed(bag, P_ROW_FAI, bytes)),
        numbers=NumberSets.decode(_typed(bag, P_CNSET, bytes), _typed(bag, P_CNSET_FAI, bytes)),
        marks=Mark(_typed(bag, P_MARKS, int)),
        responders=tuple(name for name in responders if isinstance(name, str)),
        expired=NumberSets(_read_expired(bag, P_EXPIRED), _read_expired(bag, P_EXPIRED_FAI)),
    )
    return section, tuple(entry for entry in deletions if isinstance(entry, bytes))


def _read_expired(bag: Bag, tag: int) -> CNSet:
    return decode_idset(_typed(bag, tag, bytes)) if tag in bag else CNSet.EMPTY


def _read_deletion(data: bytes) -> Update:
    bag = decode_bag(data)
    object_id = _typed(bag, P_OBJECT, bytes)
    if len(object_id) != len(ROOT) or object_id == ROOT:
        raise BadMail("a deletion names no object")
    number = ChangeNumber.from_xid(_typed(bag, P_NUMBER, bytes))
    pcl = Pcl.decode(_typed(bag, P_PCL, bytes))
    if not pcl.includes(number):
        raise BadMail("a deletion's predecessor change list lacks the deletion's own number")
    version = Version(object_id, number, pcl, _instant(bag, P_MODIFIED_AT), None, "", _typed(bag, P_ASSOCIATED, bool))
    return Update(version, _read_stands_for(_typed(bag, P_STANDS_FOR, bytes)))


def _read_stands_for(data: bytes) -> CNSet:
    numbers = decode_idset(data)
    if numbers.count() > MAX_STANDS_FOR:
        raise BadMail(f"an update covers {numbers.count()} numbers; at most {MAX_STANDS_FOR} are allowed")
    return numbers


def _read_part(part: Part, digest: str) -> tuple[Update | None, CNSet, str]:
    """Return the update in a part. If its item cannot be decoded, return None, the part's numbers and the reason."""
    number = ChangeNumber.from_xid(_typed(part.props, P_NUMBER, bytes))
    beside = part.props.get(P_STANDS_FOR)
    stands_for = _read_stands_for(beside) if isinstance(beside, bytes) else CNSet.EMPTY
    try:
        version = read_version(part.item)
    except (CodecError, NumberError) as error:
        return None, stands_for | CNSet.of(number), f"{number.text}: {error}"
    if version.number != number:
        return None, stands_for | CNSet.of(number), f"{number.text}: the item inside is {version.number.text}"
    version.known_digest = digest
    return Update(version, stands_for), CNSet.EMPTY, ""


def decode(message: SystemMessage, verifier: Verifier) -> ReplicationMail:
    """Return the mail in a system message. Raise BadMail if it is not valid, or not signed by its store (spec: IN-5, ML-6)."""
    try:
        return _decode(message, verifier)
    except (CodecError, IdsetError, PclError, NumberError, ValueError) as error:
        raise BadMail(str(error)) from None


def _decode(message: SystemMessage, verifier: Verifier) -> ReplicationMail:
    props = message.props
    version = _typed(props, P_VERSION, int)
    if version != MAIL_VERSION:
        raise BadMail(f"the replication mail has version {version}; this store reads version {MAIL_VERSION}")
    store = _typed(props, P_STORE, str)
    certificate, signature = _typed(props, P_CERTIFICATE, bytes), _typed(props, P_SIGNATURE, bytes)
    digests = [hashlib.sha256(part.item).hexdigest() for part in message.parts]
    if not verifier.verify(store, certificate, signature, _signed_bytes(props, message.parts, digests)):
        raise BadMail(f"the signature is not that of store {store}")
    raw_sections = _typed(props, P_SECTIONS, tuple)
    if not 0 < len(raw_sections) <= MAX_SECTIONS:
        raise BadMail(f"the mail is about {len(raw_sections)} folders; 1 to {MAX_SECTIONS} are allowed")
    read = [_read_section(raw) for raw in raw_sections]
    updates: list[Update] = []
    failed, reasons = CNSet.EMPTY, []
    if len(read) == 1:
        updates.extend(_read_deletion(raw) for raw in read[0][1])
        for part, digest in zip(message.parts, digests, strict=True):
            update, lacking, reason = _read_part(part, digest)
            if update is not None:
                updates.append(update)
            else:  # spec: IN-5 only this item is put aside
                failed |= lacking
                reasons.append(reason)
    elif message.parts:
        raise BadMail("the mail has items and is about several folders; a mail with items must be about one folder")
    kind = MessageType(_typed(props, P_TYPE, int) % 2**32)
    if kind in UPDATES:
        if len(read) != 1:
            raise BadMail("a mail with updates must name exactly one folder")  # spec: OUT-2
        if (read[0][0].folder == ROOT) != (kind in HIERARCHIES):
            raise BadMail(
                "the mail's type does not fit its folder; hierarchy updates belong to 1-1, content updates to any other folder"
            )
    return ReplicationMail(
        type=kind,
        store=store,
        replica_guid=_typed(props, P_REPLICA_GUID, bytes),
        sent_at=_instant(props, P_SENT_AT),
        number=_typed(props, P_MAIL_NUMBER, int),
        lamport=_typed(props, P_LAMPORT, int),
        message_id=_typed(props, P_MESSAGE_ID, str),
        sections=tuple(section for section, _ in read),
        updates=tuple(updates),
        in_reply_to=_typed(props, P_IN_REPLY_TO, str),
        failed=failed,
        failures=tuple(reasons),
    )
