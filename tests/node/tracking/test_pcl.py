"""Predecessor change lists (CN-3, CN-4): what they include, merging, and the wire form."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.tracking.change_number import MAX_COUNTER, ChangeNumber
from node.tracking.pcl import Pcl, PclError

A, B, C = bytes(15) + b"\x01", b"\x7f" * 16, b"\xff" * 16

numbers = st.builds(ChangeNumber, st.sampled_from([A, B, C]), st.integers(1, 9))
number_lists = st.lists(numbers, max_size=6)
any_numbers = st.builds(ChangeNumber, st.binary(min_size=16, max_size=16), st.integers(1, MAX_COUNTER))

# [X] section 6.6: vectors of OpenChange's testsuite/libmapi/mapi_property.c.
ONE_XID = bytes.fromhex("14" + "BB1C158239319341BF515252D12AE8AA" + "0000080D")
TWO_XIDS = bytes.fromhex(
    "16" + "A8C11403078DC3479D9E5E84FD4AAD99" + "000000000092" + "14" + "BB1C15B239319341BF515252D12AE8AA" + "0000080C"
)


def incorporated(given_numbers: list[ChangeNumber]) -> set[ChangeNumber]:
    """The model: all included numbers up to counter 10."""
    return {ChangeNumber(n.guid, counter) for n in given_numbers for counter in range(1, n.counter + 1)}


@given(number_lists)
def test_includes(given_numbers: list[ChangeNumber]) -> None:
    """A number is in a PCL exactly if the PCL's counter for its store is equal or higher (CN-4)."""
    pcl = Pcl.of(*given_numbers)
    model = incorporated(given_numbers)
    for guid in (A, B, C):
        for counter in range(1, 11):
            assert pcl.includes(ChangeNumber(guid, counter)) == (ChangeNumber(guid, counter) in model)


@given(number_lists)
def test_numbers(given_numbers: list[ChangeNumber]) -> None:
    """A PCL keeps one number per store, the highest, in ascending order."""
    pcl = Pcl.of(*given_numbers)
    highest = {guid: max(n.counter for n in given_numbers if n.guid == guid) for guid, _ in given_numbers}
    assert pcl.numbers() == tuple(ChangeNumber(guid, highest[guid]) for guid in sorted(highest))
    assert bool(pcl) == bool(given_numbers)
    assert Pcl.of(*pcl.numbers()) == pcl


@given(number_lists, number_lists)
def test_merge_and_cover(one: list[ChangeNumber], other: list[ChangeNumber]) -> None:
    """A merged PCL incorporates what either did; a PCL covers another that incorporates nothing more."""
    first, second = Pcl.of(*one), Pcl.of(*other)
    assert first | second == first.merge(second) == Pcl.of(*one, *other)
    assert first.covers(second) == (incorporated(other) <= incorporated(one))
    assert (first | second).covers(first)
    assert first.covers(first)
    assert first.covers(Pcl.EMPTY)


@given(st.lists(number_lists, max_size=5), st.randoms(use_true_random=False))
def test_merges_in_any_order(parts: list[list[ChangeNumber]], random: Random) -> None:
    """PCLs merged in any order are equal, have one hash and the same bytes."""
    expected = Pcl.of(*(number for part in parts for number in part))
    random.shuffle(parts)
    merged = Pcl.EMPTY
    for part in parts:
        merged |= Pcl.of(*part)
    assert merged == expected
    assert hash(merged) == hash(expected)
    assert merged.encode() == expected.encode()


@given(st.lists(any_numbers, max_size=8))
def test_round_trip(given_numbers: list[ChangeNumber]) -> None:
    """Every PCL is read back from its bytes, and its bytes are sized XIDs sorted by raw GUID."""
    pcl = Pcl.of(*given_numbers)
    wire = pcl.encode()
    assert Pcl.decode(wire) == pcl
    assert wire == b"".join(b"\x16" + number.to_xid() for number in pcl.numbers())


def test_form() -> None:
    """A store's change is an XID of 22 bytes, so its size byte is 0x16."""
    assert Pcl.of(ChangeNumber(A, 0x92)).encode() == b"\x16" + A + bytes.fromhex("000000000092")
    assert Pcl.EMPTY.encode() == b""
    assert Pcl.decode(b"") == Pcl.EMPTY


def test_published_vectors() -> None:
    """The XID of a store in a published list is read as its change number; a client's shorter one is not of a store."""
    assert Pcl.decode(TWO_XIDS[:23]).numbers() == (ChangeNumber(TWO_XIDS[1:17], 0x92),)


def entry(guid: bytes, counter: int) -> bytes:
    return b"\x16" + guid + counter.to_bytes(6, "big")


@pytest.mark.parametrize(
    "data",
    [
        ONE_XID,
        TWO_XIDS,
        entry(A, 1)[:-1],
        entry(A, 1) + b"\x00",
        entry(A, 0),
        entry(A, 1) + entry(B, 0),
        entry(A, 1) + entry(A, 2),
        entry(B, 1) + entry(A, 1),
        b"\x15" + entry(A, 1)[1:],
        entry(A, 1) + b"\x17" + entry(B, 1)[1:],
        bytes(23),
    ],
)
def test_malformed(data: bytes) -> None:
    """A list with foreign, cut, zero, repeated or unsorted entries is a PclError of one line."""
    with pytest.raises(PclError) as caught:
        Pcl.decode(data)
    assert "\n" not in str(caught.value)


entries = st.builds(entry, st.sampled_from([A, B, C]), st.integers(0, 3))


@given(st.one_of(st.binary(max_size=80), st.lists(entries, max_size=4).map(b"".join)))
def test_any_bytes(data: bytes) -> None:
    """Whatever the bytes, the decoders give what is written back as the same bytes, or a PclError."""
    with suppress(PclError):
        assert Pcl.decode(data).encode() == data


@pytest.mark.parametrize(("guid", "counter"), [(A, 0), (A, MAX_COUNTER + 1), (A, -1), (A[:15], 1), (A + A, 1)])
def test_out_of_bounds(guid: bytes, counter: int) -> None:
    """A number with an impossible GUID or counter gets into no PCL."""
    with pytest.raises(PclError):
        Pcl.of(ChangeNumber(guid, counter))


def test_not_equal_to_other_things() -> None:
    """A PCL equals only PCLs, and shows its numbers."""
    pcl = Pcl.of(ChangeNumber(A, 5))
    assert pcl != pcl.numbers()
    assert repr(pcl) == f"Pcl({A.hex()}:5)"
    assert Pcl() == Pcl.EMPTY


def test_rivals_are_not_included() -> None:
    """A list does not include its rivals, although its counter is higher; a version made from both has none (CN-4, CF-6)."""
    first, kim, lee = (ChangeNumber(A, counter) for counter in (1, 2, 3))
    of_kim, of_lee = Pcl.of(kim), Pcl.of(first).successor(lee, [kim])
    assert of_lee.includes(first)
    assert of_lee.includes(lee)
    assert not of_lee.includes(kim)
    assert not of_kim.includes(lee)
    assert not of_lee.covers(of_kim)
    assert not of_lee.is_only(lee)
    assert of_kim | of_lee == of_lee | of_kim == Pcl.of(lee)


@given(number_lists, number_lists, st.sets(numbers), st.sets(numbers))
def test_merged_rivals(
    one: list[ChangeNumber], other: list[ChangeNumber], of_one: set[ChangeNumber], of_other: set[ChangeNumber]
) -> None:
    """A merged list includes what either list includes, and nothing else; its bytes are read back (CN-3, CF-6)."""
    first = Pcl.of(*one).successor(ChangeNumber(B, 20), of_one)
    second = Pcl.of(*other).successor(ChangeNumber(C, 20), of_other)
    merged = first | second
    for guid in (A, B, C):
        for counter in range(1, 22):
            number = ChangeNumber(guid, counter)
            assert merged.includes(number) == (first.includes(number) or second.includes(number))
    assert merged.covers(first)
    assert merged.covers(second)
    assert second | first == merged
    assert Pcl.decode(merged.encode()) == merged


@pytest.mark.parametrize("rivals", [b"", b"\x16" + bytes(22), b"\x15" + A + bytes(5) + b"\x01"])
def test_bytes_of_rivals_that_are_wrong(rivals: bytes) -> None:
    """A list that announces rivals and names none, or something else, is refused (CF-6)."""
    with pytest.raises(PclError):
        Pcl.decode(Pcl.of(ChangeNumber(A, 3)).encode() + b"\0" + rivals)
