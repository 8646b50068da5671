"""Predecessor change lists (PCL): which changes a version includes (spec: CN-3, CN-4)."""

from __future__ import annotations

from typing import ClassVar

from node.tracking.change_number import COUNTER_SIZE, GUID_SIZE, MAX_COUNTER, XID_SIZE, ChangeNumber, Guid

_ENTRY_SIZE = 1 + XID_SIZE
_XID_SIZE_BYTE = bytes((XID_SIZE,))


class PclError(ValueError):
    """Bytes or numbers are not a predecessor change list."""


class Pcl:
    """An immutable, hashable list of the highest counter of each store that a version includes (spec: CN-3)."""

    __slots__ = ("_counters", "_hash")

    EMPTY: ClassVar[Pcl]

    _counters: dict[Guid, int]  # in ascending order of GUIDs, which is the order on the wire
    _hash: int

    def __init__(self) -> None:
        self._counters = {}
        self._hash = -1

    @classmethod
    def of(cls, *numbers: ChangeNumber) -> Pcl:
        """Return the list that includes these numbers. Raise PclError if one is not valid."""
        counters: dict[Guid, int] = {}
        for guid, counter in numbers:
            if len(guid) != GUID_SIZE:
                raise PclError(f"a GUID has {GUID_SIZE} bytes, not {len(guid)}: {guid[:20].hex()}")
            if _sound(counter) > counters.get(guid, 0):
                counters[guid] = counter
        return _made(counters if len(counters) < 2 else dict(sorted(counters.items())))

    @classmethod
    def only(cls, number: ChangeNumber) -> Pcl:
        """Return the list of a first version, which has only the version's own number. The number is not checked."""
        return _made({number[0]: number[1]})

    def is_only(self, number: ChangeNumber) -> bool:
        """Return whether this is the list of a first version with this number."""
        return len(self._counters) == 1 and self._counters.get(number[0]) == number[1]

    def includes(self, number: ChangeNumber) -> bool:
        """Return whether the list covers a number: its store's counter here is equal or higher (spec: CN-4)."""
        return self._counters.get(number[0], 0) >= number[1]

    def covers(self, other: Pcl) -> bool:
        """Return whether this list includes everything that `other` includes."""
        counters = self._counters
        return all(counters.get(guid, 0) >= counter for guid, counter in other._counters.items())

    def merge(self, other: Pcl) -> Pcl:
        """Return the list with the higher counter of each store: the list of a version made from both."""
        if self.covers(other):
            return self
        if other.covers(self):
            return other
        counters = dict(self._counters)
        for guid, counter in other._counters.items():
            if counter > counters.get(guid, 0):
                counters[guid] = counter
        return _made(dict(sorted(counters.items())))

    __or__ = merge

    def numbers(self) -> tuple[ChangeNumber, ...]:
        """Return the highest number of each store, ascending."""
        return tuple([ChangeNumber(guid, counter) for guid, counter in self._counters.items()])

    def encode(self) -> bytes:
        """Return SizedXids of 22 bytes, ascending by raw GUID: the value of PidTagPredecessorChangeList."""
        if len(self._counters) == 1:  # most versions have one author
            ((guid, counter),) = self._counters.items()
            return _XID_SIZE_BYTE + guid + counter.to_bytes(COUNTER_SIZE, "big")
        return b"".join(
            [_XID_SIZE_BYTE + guid + counter.to_bytes(COUNTER_SIZE, "big") for guid, counter in self._counters.items()]
        )

    @classmethod
    def decode(cls, data: bytes) -> Pcl:
        """Return the list in bytes of `encode`. Raise PclError for anything else.

        XIDs of other lengths are changes of clients; no store makes them. GUIDs must ascend without repetition, because a list
        has one entry for each store.
        """
        if len(data) == _ENTRY_SIZE and data[0] == XID_SIZE:  # most versions have one author
            if counter := int.from_bytes(data[1 + GUID_SIZE :], "big"):
                return _made({data[1 : 1 + GUID_SIZE]: counter})
        elif len(data) % _ENTRY_SIZE:
            raise PclError(f"the length of a PCL is a multiple of {_ENTRY_SIZE} bytes, not {len(data)}")
        counters: dict[Guid, int] = {}
        before = b""
        for at in range(0, len(data), _ENTRY_SIZE):
            guid = data[at + 1 : at + 1 + GUID_SIZE]
            counter = int.from_bytes(data[at + 1 + GUID_SIZE : at + _ENTRY_SIZE], "big")
            if data[at] != XID_SIZE or not counter or guid <= before:
                raise _bad_entry(data[at], guid, counter, at)
            counters[guid] = counter
            before = guid
        return _made(counters)

    def __eq__(self, other: object) -> bool:
        return self._counters == other._counters if isinstance(other, Pcl) else NotImplemented

    def __hash__(self) -> int:
        if self._hash == -1:
            self._hash = hash(tuple(self._counters.items()))
        return self._hash

    def __len__(self) -> int:
        """Return how many stores the list has."""
        return len(self._counters)

    def __repr__(self) -> str:
        return f"Pcl({', '.join(number.text for number in self.numbers())})"


def _made(counters: dict[Guid, int]) -> Pcl:
    """Return a list with these counters, in ascending order of GUIDs, without checking them."""
    pcl = Pcl.__new__(Pcl)
    pcl._counters = counters
    pcl._hash = -1
    return pcl


Pcl.EMPTY = Pcl()


def _sound(counter: int) -> int:
    if 1 <= counter <= MAX_COUNTER:
        return counter
    raise PclError(f"counter {counter} is out of range; counters are from 1 to {MAX_COUNTER}")


def _bad_entry(size: int, guid: Guid, counter: int, at: int) -> PclError:
    if size != XID_SIZE:
        return PclError(f"the XID at byte {at} has {size} bytes; it must have {XID_SIZE}")
    if not counter:
        return PclError(f"the counter at byte {at} is 0; counters begin at 1")
    return PclError(f"GUID {guid.hex()} at byte {at} is not greater than the one before it")
