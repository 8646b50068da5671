"""Change numbers: which store made a change, and which of its changes it was (spec: CN-1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

Guid = bytes
"""A replica GUID: its 16 raw bytes, compared as bytes."""

GUID_SIZE = 16
COUNTER_SIZE = 6  # GLOBCNT, {MS-OXCFXICS}: six bytes, high-order byte first
XID_SIZE = GUID_SIZE + COUNTER_SIZE
MAX_COUNTER = 2**48 - 1

_GUID_TEXT = re.compile(r"[0-9a-f]{32}")
_COUNTER_TEXT = re.compile(r"[1-9][0-9]{0,14}")
_UNKNOWN_NAME_DIGITS = 8


class NumberError(ValueError):
    """A change number, counter, GUID or their text is not valid."""


class ChangeNumber(NamedTuple):
    """One change of one store. Natural order: raw GUID bytes, then counter (spec: CN-1, CN-8).

    The constructor checks nothing, because it runs for every change of every mail. Input from outside is read with `parse` or
    `from_xid`, which check it.
    """

    guid: Guid
    counter: int

    @property
    def text(self) -> str:
        """The number as traces write it: 32 hex digits, a colon, the counter in decimal."""
        return f"{self.guid.hex()}:{self.counter}"

    @classmethod
    def parse(cls, text: str) -> ChangeNumber:
        """Return the number in a text. Raise NumberError if it is not exactly in the form of the property `text`."""
        guid, colon, counter = text.partition(":")
        if not colon:
            raise NumberError(
                f"not a change number: {text[:80]!r}; write a GUID of 32 hex digits, a colon and a counter"
            )
        return cls(parsed_guid(guid), checked_counter(parsed_counter(counter)))

    def to_xid(self) -> bytes:
        """Return the 22 bytes of an XID: the GUID and the counter as a big-endian GLOBCNT."""
        checked_guid(self.guid)
        return self.guid + checked_counter(self.counter).to_bytes(COUNTER_SIZE, "big")

    @classmethod
    def from_xid(cls, xid: bytes) -> ChangeNumber:
        """Return the number in an XID. Raise NumberError if it does not have 22 bytes, or its counter is 0."""
        if len(xid) != XID_SIZE:
            raise NumberError(f"an XID has {XID_SIZE} bytes, not {len(xid)}")
        return cls(xid[:GUID_SIZE], checked_counter(int.from_bytes(xid[GUID_SIZE:], "big")))


def checked_counter(counter: int) -> int:
    """Return `counter`. Raise NumberError if it is not in 1..MAX_COUNTER."""
    if 1 <= counter <= MAX_COUNTER:
        return counter
    raise NumberError(f"counter {counter} is out of range; counters are from 1 to {MAX_COUNTER}")


def checked_guid(guid: Guid) -> Guid:
    """Return `guid`. Raise NumberError if it does not have 16 bytes."""
    if len(guid) == GUID_SIZE:
        return guid
    raise NumberError(f"a GUID has {GUID_SIZE} bytes, not {len(guid)}: {guid[:20].hex()}")


def parsed_guid(text: str) -> Guid:
    """Return the GUID in 32 hex digits. Raise NumberError if the text is anything else."""
    if _GUID_TEXT.fullmatch(text) is None:
        raise NumberError(f"not a GUID: {text[:40]!r}; write 32 lower-case hex digits")
    return bytes.fromhex(text)


def parsed_counter(text: str) -> int:
    """Return the counter in at most 15 decimal digits, or raise NumberError. Bounds are not checked."""
    if _COUNTER_TEXT.fullmatch(text) is None:
        raise NumberError(f"not a counter: {text[:40]!r}; write 1 to {MAX_COUNTER} in decimal")
    return int(text)


def store_name(guid: Guid, names: Mapping[Guid, str]) -> str:
    """Return a store's name for people; for an unknown store, the first 8 hex digits of its GUID."""
    return names.get(guid) or guid.hex()[:_UNKNOWN_NAME_DIGITS]


def named(number: ChangeNumber, names: Mapping[Guid, str]) -> str:
    """Return a number as people read it, as in S2's tables: `A-100` (spec: CN-1)."""
    return f"{store_name(number.guid, names)}-{number.counter}"
