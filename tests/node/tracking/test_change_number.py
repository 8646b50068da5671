"""Change numbers (CN-1): their order and their forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.tracking.change_number import MAX_COUNTER, ChangeNumber, NumberError, named, parsed_guid

GUID = bytes(range(16))
HEX = "000102030405060708090a0b0c0d0e0f"

numbers = st.builds(ChangeNumber, st.binary(min_size=16, max_size=16), st.integers(1, MAX_COUNTER))


def test_text_form() -> None:
    """A change number in a trace is 32 lower-case hex digits, a colon and the counter in decimal."""
    assert ChangeNumber(GUID, 100).text == HEX + ":100"


@given(numbers)
def test_text_round_trip(number: ChangeNumber) -> None:
    """Every change number is read back from its text."""
    assert ChangeNumber.parse(number.text) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        HEX,
        HEX + ":",
        HEX + ":0",
        HEX + ":01",
        HEX + ":-1",
        HEX + ":+1",
        HEX + ": 1",
        HEX + ":1_0",
        HEX + ":\u0661",
        HEX + f":{MAX_COUNTER + 1}",
        HEX + ":" + "9" * 5000,
        HEX + ":1\n",
        HEX + ":1:1",
        HEX[1:] + ":1",
        HEX.upper() + ":1",
        "zz" + HEX[2:] + ":1",
        "1-1",
    ],
)
def test_bad_text(text: str) -> None:
    """Text that is not exactly the form of a change number is a NumberError, whatever it is."""
    with pytest.raises(NumberError):
        ChangeNumber.parse(text)


def test_xid_form() -> None:
    """An XID is the raw GUID and the counter as six bytes, high-order byte first."""
    assert ChangeNumber(GUID, 0x92).to_xid() == GUID + bytes.fromhex("000000000092")
    assert ChangeNumber(GUID, MAX_COUNTER).to_xid() == GUID + b"\xff" * 6


@given(numbers)
def test_xid_round_trip(number: ChangeNumber) -> None:
    """Every change number is read back from its XID."""
    assert ChangeNumber.from_xid(number.to_xid()) == number


@given(st.binary(max_size=40))
def test_bad_xid(data: bytes) -> None:
    """Bytes are an XID of a change number only if they are 22 with a counter that is not 0."""
    if len(data) == 22 and any(data[16:]):
        assert ChangeNumber.from_xid(data).to_xid() == data
    else:
        with pytest.raises(NumberError):
            ChangeNumber.from_xid(data)


@pytest.mark.parametrize(("guid", "counter"), [(GUID, 0), (GUID, MAX_COUNTER + 1), (GUID, -1), (GUID[:15], 1)])
def test_number_out_of_bounds_is_not_written(guid: bytes, counter: int) -> None:
    """A change number with an impossible GUID or counter never gets into an XID."""
    with pytest.raises(NumberError):
        ChangeNumber(guid, counter).to_xid()


@given(numbers, numbers)
def test_order(one: ChangeNumber, other: ChangeNumber) -> None:
    """Change numbers are ordered by raw GUID, then counter, which is the order of their XIDs."""
    assert (one < other) == (one.to_xid() < other.to_xid())


def test_named() -> None:
    """People see the server's name and the decimal counter, or 8 hex digits of a GUID that has no name."""
    assert named(ChangeNumber(GUID, 100), {GUID: "A"}) == "A-100"
    assert named(ChangeNumber(GUID, 100), {}) == "00010203-100"


@pytest.mark.parametrize("text", ["", HEX + "0", HEX[:-1], HEX.upper(), HEX[:-1] + "\n"])
def test_bad_guid_text(text: str) -> None:
    """A GUID in text is 32 lower-case hex digits and nothing else."""
    with pytest.raises(NumberError):
        parsed_guid(text)
