"""The meaning of the properties of replication mails and items, for `pflab decode` (spec: OUT-4, CN-5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from node.codec import replication_message as r
from node.codec.items import PR_PFLAB_CREATED, object_text
from node.tracking.change_number import ChangeNumber
from node.tracking.idset import decode_idset
from node.tracking.pcl import Pcl
from traces.labtime import format_instant
from transport.mapi.properties import Value, decode_bag
from transport.mapi.property_tags import PR_CHANGE_KEY, PR_PARENT_SOURCE_KEY, PR_PREDECESSOR_CHANGE_LIST, PR_SOURCE_KEY
from transport.mime.describe import Branch, Meaning, describe_bag


def _bytes(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("not a binary value")  # noqa: TRY004 - the value in a mail is wrong
    return value


def _set(value: Value) -> Meaning:
    text = decode_idset(_bytes(value)).text()
    return (tuple(Branch(part) for part in text.split(";"))) if text else "no numbers"


def _number(value: Value) -> Meaning:
    return ChangeNumber.from_xid(_bytes(value)).text


def _object(value: Value) -> Meaning:
    return object_text(_bytes(value))


def _list(value: Value) -> Meaning:
    pcl = Pcl.decode(_bytes(value))
    numbers = ", ".join(number.text for number in pcl.numbers())
    return f"{numbers} without {', '.join(number.text for number in pcl.rivals)}" if pcl.rivals else numbers


def _type(value: Value) -> Meaning:
    assert isinstance(value, int)
    kind = r.MessageType(value % 2**32)
    return f"{int(kind):#x} {kind.words}"


def _instant(value: Value) -> Meaning:
    assert isinstance(value, int)
    return format_instant(value)


def _marks(value: Value) -> Meaning:
    assert isinstance(value, int)
    marks = r.Mark(value)
    names = [mark.name.lower().replace("_", " ") for mark in r.Mark if mark and mark in marks and mark.name]
    return ", ".join(names) or "none"


def _bags(label: str) -> Callable[[Value], Meaning]:
    def meaning(value: Value) -> Meaning:
        assert isinstance(value, tuple)
        return tuple(
            Branch(f"{label} {index}", "", describe_bag(decode_bag(_bytes(bag)), INTERPRETERS))
            for index, bag in enumerate(value, start=1)
        )

    return meaning


def _guid(value: Value) -> Meaning:
    return _bytes(value).hex()


NAMES: Mapping[int, str] = {
    value: f"PFLAB_{name[2:]}" for name, value in vars(r).items() if name.startswith("P_") and isinstance(value, int)
}
"""Names of the control properties that pflab defines."""

INTERPRETERS: Mapping[int, Callable[[Value], Meaning]] = {
    r.P_TYPE: _type,
    r.P_REPLICA_GUID: _guid,
    r.P_SENT_AT: _instant,
    r.P_MODIFIED_AT: _instant,
    r.P_SECTIONS: _bags("folder"),
    r.P_DELETIONS: _bags("deletion"),
    r.P_FOLDER: _object,
    r.P_CNSET: _set,
    r.P_CNSET_FAI: _set,
    r.P_ROW: _set,
    r.P_ROW_FAI: _set,
    r.P_MARKS: _marks,
    r.P_STANDS_FOR: _set,
    r.P_OBJECT: _object,
    r.P_NUMBER: _number,
    r.P_PCL: _list,
    PR_SOURCE_KEY: _object,
    PR_PARENT_SOURCE_KEY: _object,
    PR_CHANGE_KEY: _number,
    PR_PREDECESSOR_CHANGE_LIST: _list,
    PR_PFLAB_CREATED: _number,
}
"""By tag, the function that returns the meaning of a value: a text, or branches below the property."""
