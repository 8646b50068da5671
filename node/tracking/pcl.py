"""Predecessor change lists (PCL): which changes a version includes (spec: CN-3, CN-4).

A list has the highest counter of each store, and so everything below it. This is exact as long as each store makes its versions
of an object one from the other. If two people save the same version in one store (spec: CF-6), the second of the two versions
has the higher counter, but does not include the first one. Its list then names the first one as a *rival*.

    A-1 {A-1}   A-2 {A-2}   A-3 {A-3 without A-2}        A-2 and A-3 are made from A-1, and are concurrent
    A-4 {A-4}                                            made from both: no rivals are left
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from node.tracking.change_number import COUNTER_SIZE, GUID_SIZE, MAX_COUNTER, XID_SIZE, ChangeNumber, Guid

_ENTRY_SIZE = 1 + XID_SIZE
_XID_SIZE_BYTE = bytes((XID_SIZE,))
_RIVALS_FOLLOW = b"\0"
"""What separates the rivals from the counters. No XID begins with it, because it would have no bytes."""


class PclError(ValueError):
    """Bytes or numbers are not a predecessor change list."""


class Pcl:
    """An immutable, hashable list of the highest counter of each store that a version includes (spec: CN-3)."""

    __slots__ = ("_counters", "_hash", "_rivals")

    EMPTY: ClassVar[Pcl]

    _counters: dict[Guid, int]  # in ascending order of GUIDs, which is the order on the wire
    _hash: int
    _rivals: frozenset[ChangeNumber]  # what the version does not include, whatever the counters are

    def __init__(self) -> None:
        self._counters = {}
        self._rivals = frozenset()
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
        return len(self._counters) == 1 and self._counters.get(number[0]) == number[1] and not self._rivals

    def includes(self, number: ChangeNumber) -> bool:
        """Return whether the list covers a number: its store's counter here is equal or higher (spec: CN-4), and it is no rival
        (spec: CF-6)."""
        return self._counters.get(number[0], 0) >= number[1] and number not in self._rivals

    def covers(self, other: Pcl) -> bool:
        """Return whether this list includes everything that `other` includes."""
        counters = self._counters
        return all(counters.get(guid, 0) >= counter for guid, counter in other._counters.items()) and not any(
            other.includes(rival) for rival in self._rivals
        )

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
        rivals = {rival for rival in self._rivals if not other.includes(rival)}
        rivals |= {rival for rival in other._rivals if not self.includes(rival)}
        return _made(dict(sorted(counters.items())), frozenset(rivals))

    __or__ = merge

    def successor(self, number: ChangeNumber, rivals: Iterable[ChangeNumber] = ()) -> Pcl:
        """Return the list of a version with this number that is made from a version with this list.

        rivals: what its store has of the object, and the version does not include (spec: CF-6).
        """
        counters = {**self._counters, number[0]: number[1]}
        return _made(dict(sorted(counters.items())), self._rivals.union(rivals))

    @property
    def rivals(self) -> tuple[ChangeNumber, ...]:
        """The versions that it does not include, although its counters may reach them (spec: CF-6), ascending."""
        return tuple(sorted(self._rivals))

    def numbers(self) -> tuple[ChangeNumber, ...]:
        """Return the highest number of each store, ascending."""
        return tuple([ChangeNumber(guid, counter) for guid, counter in self._counters.items()])

    def encode(self) -> bytes:
        """Return SizedXids of 22 bytes, ascending by raw GUID: the value of PidTagPredecessorChangeList. Its rivals follow
        a zero."""
        if len(self._counters) == 1 and not self._rivals:  # most versions have one author
            ((guid, counter),) = self._counters.items()
            return _XID_SIZE_BYTE + guid + counter.to_bytes(COUNTER_SIZE, "big")
        counters = _sized_xids(self._counters.items())
        return counters + _RIVALS_FOLLOW + _sized_xids(self.rivals) if self._rivals else counters

    @classmethod
    def decode(cls, data: bytes) -> Pcl:
        """Return the list in bytes of `encode`. Raise PclError for anything else.

        XIDs of other lengths are changes of clients; no store makes them. GUIDs must ascend without repetition, because a list
        has one entry for each store.
        """
        if (
            len(data) == _ENTRY_SIZE
            and data[0] == XID_SIZE
            and (counter := int.from_bytes(data[1 + GUID_SIZE :], "big"))
        ):
            return _made({data[1 : 1 + GUID_SIZE]: counter})  # most versions have one author
        rivals: frozenset[ChangeNumber] = frozenset()
        if len(data) % _ENTRY_SIZE == 1:
            data, rivals = _without_rivals(data)
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
        return _made(counters, rivals)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pcl):
            return NotImplemented
        return self._counters == other._counters and self._rivals == other._rivals

    def __hash__(self) -> int:
        if self._hash == -1:
            self._hash = hash((tuple(self._counters.items()), self._rivals))
        return self._hash

    def __len__(self) -> int:
        """Return how many stores the list has."""
        return len(self._counters)

    def __repr__(self) -> str:
        rivals = f" without {', '.join(number.text for number in self.rivals)}" if self._rivals else ""
        return f"Pcl({', '.join(number.text for number in self.numbers())}{rivals})"


def _made(counters: dict[Guid, int], rivals: frozenset[ChangeNumber] = frozenset()) -> Pcl:
    """Return a list with these counters, in ascending order of GUIDs, and these rivals, without checking them."""
    pcl = Pcl.__new__(Pcl)
    pcl._counters = counters
    pcl._rivals = rivals
    pcl._hash = -1
    return pcl


def _sized_xids(numbers: Iterable[tuple[Guid, int]]) -> bytes:
    return b"".join([_XID_SIZE_BYTE + guid + counter.to_bytes(COUNTER_SIZE, "big") for guid, counter in numbers])


def _without_rivals(data: bytes) -> tuple[bytes, frozenset[ChangeNumber]]:
    """Return the bytes of the counters, and the rivals, of a list that has both."""
    end = next((at for at in range(0, len(data), _ENTRY_SIZE) if data[at : at + 1] == _RIVALS_FOLLOW), None)
    if end is None or end == len(data) - 1:
        raise PclError("the length of a PCL says that it names rivals, but it names none")
    rivals: list[ChangeNumber] = []
    for at in range(end + 1, len(data), _ENTRY_SIZE):
        counter = int.from_bytes(data[at + 1 + GUID_SIZE : at + _ENTRY_SIZE], "big")
        rival = ChangeNumber(data[at + 1 : at + 1 + GUID_SIZE], counter)
        if data[at] != XID_SIZE or not counter or (rivals and rival <= rivals[-1]):
            raise _bad_entry(data[at], rival.guid, counter, at)
        rivals.append(rival)
    return data[:end], frozenset(rivals)


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
