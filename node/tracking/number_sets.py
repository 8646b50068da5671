"""Two sets of change numbers as one value: those of contents and those of associated messages (spec: CN-9).

An associated message (FAI) is an item that belongs to the folder itself, such as a view or a form. A store counts both kinds
of item with one counter, and keeps one set for each kind. In the set of one kind, a number of the other kind is a hole. The
store that owns the counter closes this hole like a hole that belongs to another folder (spec: CN-6).

The hierarchy has numbers of contents only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.idset import decode_idset, encode_idset


@dataclass(frozen=True, slots=True)
class NumberSets:
    """The numbers of contents and of associated messages. Each operator works on each kind separately.

    An operator that changes nothing returns its left operand itself, so the wire form that a set keeps is not lost.
    """

    contents: CNSet = CNSet.EMPTY
    associated: CNSet = CNSet.EMPTY

    EMPTY: ClassVar[NumberSets]

    # --- building

    @classmethod
    def of_kind(cls, numbers: CNSet, associated: bool) -> NumberSets:
        """Return the numbers as those of one kind; the set of the other kind is empty."""
        return cls(CNSet.EMPTY, numbers) if associated else cls(numbers)

    @classmethod
    def from_numbers(cls, numbers: Iterable[tuple[ChangeNumber, bool]]) -> NumberSets:
        """Return the sets of any numbers. The flag of a number says whether it belongs to an associated message."""
        contents: list[ChangeNumber] = []
        associated: list[ChangeNumber] = []
        for number, is_associated in numbers:
            (associated if is_associated else contents).append(number)
        return cls(CNSet.from_numbers(contents), CNSet.from_numbers(associated) if associated else CNSet.EMPTY)

    @classmethod
    def union_all(cls, sets: Iterable[NumberSets]) -> NumberSets:
        """Return the union of any number of values."""
        operands = list(sets)
        return cls(
            CNSet.union_all([operand.contents for operand in operands]),
            CNSet.union_all([operand.associated for operand in operands]),
        )

    @classmethod
    def decode(cls, contents: bytes, associated: bytes) -> NumberSets:
        """Return the sets in two IDSETs. Raise IdsetError if one of them is not valid."""
        return cls(decode_idset(contents), decode_idset(associated))

    # --- algebra

    def __or__(self, other: NumberSets) -> NumberSets:
        return self._become(self.contents | other.contents, self.associated | other.associated)

    def __sub__(self, other: NumberSets) -> NumberSets:
        return self._become(self.contents - other.contents, self.associated - other.associated)

    def _become(self, contents: CNSet, associated: CNSet) -> NumberSets:
        same = contents is self.contents and associated is self.associated
        return self if same else NumberSets(contents, associated)

    def __and__(self, other: NumberSets) -> NumberSets:
        return NumberSets(self.contents & other.contents, self.associated & other.associated)

    def __le__(self, other: NumberSets) -> bool:
        return self.contents <= other.contents and self.associated <= other.associated

    def __bool__(self) -> bool:
        return bool(self.contents or self.associated)

    def without(self, numbers: CNSet) -> NumberSets:
        """Return the sets of both kinds without these numbers."""
        return self - NumberSets(numbers, numbers)

    # --- reading

    def kind(self, associated: bool) -> CNSet:
        """Return the numbers of one kind."""
        return self.associated if associated else self.contents

    def merged(self) -> CNSet:
        """Return the numbers of both kinds as one set."""
        return self.contents | self.associated

    def count(self) -> int:
        """Return how many numbers there are; a number that is in both sets counts twice."""
        return self.contents.count() + self.associated.count()

    # --- writing

    def encode(self) -> tuple[bytes, bytes]:
        """Return the IDSETs of both kinds, as tables keep them."""
        return encode_idset(self.contents), encode_idset(self.associated)

    def texts(self, name: str = "cnset") -> dict[str, str]:
        """Return the trace forms as two fields of an event: `name`, and `name_fai` for associated messages."""
        return {name: self.contents.text(), f"{name}_fai": self.associated.text()}


NumberSets.EMPTY = NumberSets()
