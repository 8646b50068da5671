"""The base64 of bodies: as binascii has it, whatever codec does it."""

from __future__ import annotations

from binascii import Error, a2b_base64, b2a_base64

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transport.mime.message import LINE_COLUMNS, decoded, encoded_lines

CHARACTERS = b'ABCxyz019+/==-_ \t\r\n\\"u\x7f\xe9'


def by_binascii(text: bytes) -> bytes | None:
    try:
        return a2b_base64(text)
    except Error:
        return None


def by_us(text: bytes) -> bytes | None:
    try:
        return decoded(text, 0, len(text))
    except Error:
        return None


@pytest.mark.parametrize("size", [0, 1, 2, 3, 746, 747, 748, 1494, 1495, 300_000])
@pytest.mark.parametrize("end", [b"", b"\r\n"])
def test_lines_are_binasciis_and_come_back(size: int, end: bytes) -> None:
    """Lines of 996 columns hold what binascii would write, and are read back from within a mail. (spec: ML-2)"""
    body = bytes(n * 7 & 0xFF for n in range(size))
    lines = [bytes(line) for line in encoded_lines(body)]
    assert b"".join(lines) == b2a_base64(body, newline=False)
    assert all(len(line) == LINE_COLUMNS for line in lines[:-1])
    content = b"Subject: x\r\n\r\n" + b"\r\n".join(lines) + end
    assert decoded(content, 14, len(content)) == body


@given(st.lists(st.sampled_from([bytes((char,)) for char in CHARACTERS]), max_size=24).map(b"".join))
@example(b"QQ==\r\n")
@example(b"Q\\u0051==")
@example(b"QUI=QUI=")
def test_any_base64_is_read_as_binascii_reads_it(text: bytes) -> None:
    """Foreign characters, JSON escapes and wrong padding are read, or refused, as binascii does. (spec: ML-2)"""
    assert by_us(text) == by_binascii(text)


@given(st.binary(min_size=1, max_size=3000), st.integers(0, 4100), st.sampled_from([b"\r\n", b"\n", b" ", b"\\", b"="]))
def test_a_body_with_other_line_lengths_is_read(body: bytes, at: int, between: bytes) -> None:
    """Other or more line ends, as relays make them, do not change the result. (spec: ML-2)"""
    text = b"\r\n".join(encoded_lines(body))
    text = text[:at] + between + text[at:]
    assert by_us(text) == by_binascii(text)
