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
from typing import Any, Final

from node.codec.items import NUMBER, PREDECESSORS, ROOT, Version, read_version
from node.codec.signing import Identity, LabAuthority, Verifier
from node.errors import BadMail
from node.tracking.change_number import XID_SIZE, ChangeNumber, NumberError
from node.tracking.cnset import CNSet
from node.tracking.idset import IdsetError, decode_idset, encode_idset
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import PclError
from traces.labtime import LabTime, parse_instant
from transport.errors import CodecError
from transport.mapi.properties import (
    Bag,
    Properties,
    Property,
    Values,
    decode_bag,
    encode_bag,
    read_values,
    write_values,
)
from transport.mapi.system_message import Part, SystemMessage


class MessageType(IntEnum):
    """The types of replication mail, with the numbers that event texts print [S2]."""

    HIERARCHY = 0x2
    CONTENT = 0x4
    BACKFILL_REQUEST = 0x8
    STATUS = 0x10
    STATUS_REQUEST = 0x20
    HIERARCHY_RESPONSE = 0x80000002
    CONTENT_RESPONSE = 0x80000004

    @property
    def words(self) -> str:
        return self.name.lower().replace("_", " ")


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

ORDINARY: Final = "ordinary mail"
"""The type of a mail that no store has written."""

_TYPES: Final = {subject: kind.words for kind, subject in SUBJECTS.items()}


def mail_type(subject: str, *, system: bool) -> str:
    """Return the name of a mail's type. A bridgehead that only hands a mail on reads no more of it than its subject.

    system: the mail is a replication mail (spec: OUT-7).
    """
    return _TYPES.get(subject, ORDINARY) if system else ORDINARY


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
    older = [NumberSets.of_kind(update.stands_for, update.version.fai) for update in updates if update.stands_for]
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


# -- the control properties of each list


def _known_version(version: int) -> int:
    if version != MAIL_VERSION:
        raise BadMail(f"the replication mail has version {version}; this store reads version {MAIL_VERSION}")
    return version


def _instant(at: int) -> LabTime:
    if not 0 <= at <= LAST_INSTANT:
        raise BadMail(f"{at} is not an instant of lab time")
    return at


def _folder(folder: bytes) -> bytes:
    if len(folder) != len(ROOT):
        raise BadMail("a section's folder id does not have 22 bytes")
    return folder


def _object(object_id: bytes) -> bytes:
    if len(object_id) != len(ROOT) or object_id == ROOT:
        raise BadMail("a deletion names no object")
    return object_id


def _sections(sections: tuple[Any, ...]) -> tuple[Any, ...]:
    if not 0 < len(sections) <= MAX_SECTIONS:
        raise BadMail(f"the mail is about {len(sections)} folders; 1 to {MAX_SECTIONS} are allowed")
    return sections


def _deletions(deletions: tuple[Any, ...]) -> tuple[bytes, ...]:
    if len(deletions) > MAX_DELETIONS:
        raise BadMail(f"a section has more than {MAX_DELETIONS} deletions")
    return tuple(deletion for deletion in deletions if isinstance(deletion, bytes))


def _names(names: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if isinstance(name, str))


def _stands_for(data: bytes) -> CNSet:
    numbers = decode_idset(data)
    if numbers.count() > MAX_STANDS_FOR:
        raise BadMail(f"an update covers {numbers.count()} numbers; at most {MAX_STANDS_FOR} are allowed")
    return numbers


_SET = Property(bytes, decode_idset, encode_idset)
_INSTANT = Property(int, _instant)

_SIGNED: Properties = {
    P_VERSION: Property(int, _known_version),
    P_TYPE: Property(
        int, lambda value: MessageType(value % 2**32), lambda kind: kind - 2**32 if kind >= 2**31 else int(kind)
    ),
    P_STORE: Property(str),
    P_REPLICA_GUID: Property(bytes),
    P_SENT_AT: _INSTANT,
    P_MAIL_NUMBER: Property(int),
    P_LAMPORT: Property(int),
    P_MESSAGE_ID: Property(str),
    P_IN_REPLY_TO: Property(str),
    P_SECTIONS: Property(tuple, _sections),
    P_CERTIFICATE: Property(bytes),
}
"""The properties of a mail that its store signs."""

_MAIL: Properties = {**_SIGNED, P_SIGNATURE: Property(bytes)}

_SECTION: Properties = {
    P_FOLDER: Property(bytes, _folder),
    P_CNSET: _SET,
    P_CNSET_FAI: _SET,
    P_ROW: _SET,
    P_ROW_FAI: _SET,
    P_MARKS: Property(int, Mark, int),
    P_RESPONDERS: Property(tuple, _names, default=()),
    P_DELETIONS: Property(tuple, _deletions, default=()),
    P_EXPIRED: _SET._replace(default=CNSet.EMPTY),
    P_EXPIRED_FAI: _SET._replace(default=CNSet.EMPTY),
}

_DELETION: Properties = {
    P_OBJECT: Property(bytes, _object),
    P_NUMBER: NUMBER,
    P_PCL: PREDECESSORS,
    P_MODIFIED_AT: _INSTANT,
    P_ASSOCIATED: Property(bool),
    P_STANDS_FOR: Property(bytes, _stands_for, encode_idset),
}

_PART: Properties = {P_NUMBER: NUMBER, P_STANDS_FOR: Property(bytes, _stands_for, encode_idset, CNSet.EMPTY)}
"""The properties next to an item, with its number, so that this is known even if the item cannot be decoded (spec: CN-7)."""


# -- encoding


def _section_bytes(section: Section, deletions: tuple[bytes, ...]) -> bytes:
    values = {
        P_FOLDER: section.folder,
        P_CNSET: section.numbers.contents,
        P_CNSET_FAI: section.numbers.associated,
        P_ROW: section.row.contents,
        P_ROW_FAI: section.row.associated,
        P_MARKS: section.marks,
        P_RESPONDERS: section.responders,
        P_DELETIONS: deletions,
        P_EXPIRED: section.expired.contents,
        P_EXPIRED_FAI: section.expired.associated,
    }
    return encode_bag(write_values(values, _SECTION))


def _deletion_bytes(update: Update) -> bytes:
    version = update.version
    values = {
        P_OBJECT: version.object,
        P_NUMBER: version.number,
        P_PCL: version.pcl,
        P_MODIFIED_AT: version.modified_at,
        P_ASSOCIATED: version.fai,
        P_STANDS_FOR: update.stands_for,
    }
    return encode_bag(write_values(values, _DELETION))


def _beside(number: ChangeNumber, stands_for: CNSet) -> Bag:
    """Return the properties next to an item. A single number, the usual case, has a fast path."""
    if not stands_for:
        return {P_NUMBER: number.to_xid()}
    return write_values({P_NUMBER: number, P_STANDS_FOR: stands_for}, _PART)


def _read_beside(props: Bag) -> tuple[ChangeNumber, CNSet]:
    """Return what `_beside` has written."""
    number = props.get(P_NUMBER)
    if len(props) == 1 and isinstance(number, bytes):
        return ChangeNumber.from_xid(number), CNSet.EMPTY
    values = read_values(props, _PART)
    return values[P_NUMBER], values[P_STANDS_FOR]


def _part_bytes(props: Bag) -> bytes:
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
        beside = _part_bytes(part.props)
        pieces.append(b"%d\0%b%b" % (len(beside), beside, bytes.fromhex(digest)))
    return b"pflab replication mail 2\0" + hashlib.sha256(b"".join(pieces)).digest()


def encode(mail: ReplicationMail, identity: Identity) -> SystemMessage:
    """Return the signed system message of a mail. Only a mail with one section may have updates (spec: OUT-2)."""
    assert len(mail.sections) == 1 or not mail.updates, "updates belong to the one folder that the mail is about"
    deletions = tuple(_deletion_bytes(update) for update in mail.updates if update.version.item is None)
    parts = tuple(
        Part(item, _beside(update.version.number, update.stands_for))
        for update in mail.updates
        if (item := update.version.item) is not None
    )
    digests = [update.version.digest for update in mail.updates if update.version.item is not None]
    values = {
        P_VERSION: MAIL_VERSION,
        P_TYPE: mail.type,
        P_STORE: mail.store,
        P_REPLICA_GUID: mail.replica_guid,
        P_SENT_AT: mail.sent_at,
        P_MAIL_NUMBER: mail.number,
        P_LAMPORT: mail.lamport,
        P_MESSAGE_ID: mail.message_id,
        P_IN_REPLY_TO: mail.in_reply_to,
        P_SECTIONS: tuple(_section_bytes(section, deletions) for section in mail.sections),
        P_CERTIFICATE: identity.certificate,
    }
    props = write_values(values, _SIGNED)
    props[P_SIGNATURE] = identity.sign(_signed_bytes(props, parts, digests))
    return SystemMessage(props, parts)


def signed_again(message: SystemMessage, before: LabAuthority, after: LabAuthority) -> SystemMessage | None:
    """Return a mail with a signature of its store's key of another authority; None if it is not signed by its store.

    before: the authority that has certified the store's key.
    after: the other authority.

    Raises CodecError if it is no mail.
    """
    values = read_values(message.props, _MAIL)
    store: str = values[P_STORE]
    digests = [hashlib.sha256(part.item).hexdigest() for part in message.parts]
    signed = _signed_bytes(message.props, message.parts, digests)
    if not Verifier(before.identity("").authority_key).verify(
        store, values[P_CERTIFICATE], values[P_SIGNATURE], signed
    ):
        return None
    identity = after.identity(store)
    props = {**message.props, P_CERTIFICATE: identity.certificate}
    props[P_SIGNATURE] = identity.sign(_signed_bytes(props, message.parts, digests))
    return SystemMessage(props, message.parts)


# -- decoding


def decode(message: SystemMessage, verifier: Verifier) -> ReplicationMail:
    """Return the mail in a system message. Raise BadMail if it is not valid, or not signed by its store (spec: IN-5, ML-6)."""
    try:
        return _decode(message, verifier)
    except (CodecError, IdsetError, PclError, NumberError, ValueError) as error:
        raise BadMail(str(error)) from None


def _decode(message: SystemMessage, verifier: Verifier) -> ReplicationMail:
    digests = [hashlib.sha256(part.item).hexdigest() for part in message.parts]
    signed = _signed_bytes(message.props, message.parts, digests)
    values = read_values(message.props, _MAIL)
    if not verifier.verify(values[P_STORE], values[P_CERTIFICATE], values[P_SIGNATURE], signed):
        raise BadMail(f"the signature is not that of store {values[P_STORE]}")
    section_values = [read_values(decode_bag(section), _SECTION) for section in values[P_SECTIONS]]
    sections = tuple(map(_section_of, section_values))
    kind: MessageType = values[P_TYPE]
    _check_sections(kind, sections, message.parts)
    deletions = section_values[0][P_DELETIONS] if len(sections) == 1 else ()
    updates = [_deletion_of(read_values(decode_bag(deletion), _DELETION)) for deletion in deletions]
    failed, failures = CNSet.EMPTY, []
    for part, digest in zip(message.parts, digests, strict=True):
        number, stands_for = _read_beside(part.props)
        try:
            version = read_version(part.item)
            defect = "" if version.number == number else f"the item inside is {version.number.text}"
        except (CodecError, NumberError) as error:
            defect = str(error)
        if defect:  # spec: IN-5 only this item is put aside
            failed |= stands_for | CNSet.of(number)
            failures.append(f"{number.text}: {defect}")
            continue
        version.known_digest = digest
        updates.append(Update(version, stands_for))
    return ReplicationMail(
        type=kind,
        store=values[P_STORE],
        replica_guid=values[P_REPLICA_GUID],
        sent_at=values[P_SENT_AT],
        number=values[P_MAIL_NUMBER],
        lamport=values[P_LAMPORT],
        message_id=values[P_MESSAGE_ID],
        sections=sections,
        updates=tuple(updates),
        in_reply_to=values[P_IN_REPLY_TO],
        failed=failed,
        failures=tuple(failures),
    )


def _section_of(values: Values) -> Section:
    return Section(
        folder=values[P_FOLDER],
        row=NumberSets(values[P_ROW], values[P_ROW_FAI]),
        numbers=NumberSets(values[P_CNSET], values[P_CNSET_FAI]),
        marks=values[P_MARKS],
        responders=values[P_RESPONDERS],
        expired=NumberSets(values[P_EXPIRED], values[P_EXPIRED_FAI]),
    )


def _check_sections(kind: MessageType, sections: Sequence[Section], parts: Sequence[Part]) -> None:
    """Raise BadMail if a mail of this type must not have these sections and items (spec: OUT-2)."""
    if parts and len(sections) != 1:
        raise BadMail("the mail has items and is about several folders; a mail with items must be about one folder")
    if kind not in UPDATES:
        return
    if len(sections) != 1:
        raise BadMail("a mail with updates must name exactly one folder")
    if (sections[0].folder == ROOT) != (kind in HIERARCHIES):
        raise BadMail(
            "the mail's type does not fit its folder; hierarchy updates belong to 1-1, content updates to any other folder"
        )


def _deletion_of(values: Values) -> Update:
    number, pcl = values[P_NUMBER], values[P_PCL]
    if not pcl.includes(number):
        raise BadMail("a deletion's predecessor change list lacks the deletion's own number")
    version = Version(values[P_OBJECT], number, pcl, values[P_MODIFIED_AT], None, "", values[P_ASSOCIATED])
    return Update(version, values[P_STANDS_FOR])
