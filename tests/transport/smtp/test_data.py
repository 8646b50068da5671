"""The content of DATA: dots, the end, and what is refused inside."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.envelope import RefusalError
from transport.smtp.data import LINE_LIMIT_BYTES, DataReader, check_lines, stuff, unstuff

LINES = st.lists(
    st.one_of(st.binary(max_size=30), st.sampled_from([b"", b".", b"..", b"...", b".x", b"x."])).map(
        lambda line: line.replace(b"\r", b"r").replace(b"\n", b"n")
    ),
    max_size=80,
)


def read(sent: bytes, size: int, limit_bytes: int = 10_000) -> DataReader:
    """A reader that has been fed `sent` in chunks of `size`, up to its end."""
    reader = DataReader(limit_bytes)
    for at in range(0, len(sent), size):
        if reader.feed(sent[at : at + size]):
            assert at + size >= len(sent)
            return reader
    raise AssertionError("the end of the content was not seen")


@given(lines=LINES, size=st.integers(1, 40))
def test_every_content_is_read_as_it_was_sent(lines: list[bytes], size: int) -> None:
    """Dot stuffing and its removal give back every content, for blocks of any size."""
    content = b"".join(line + b"\r\n" for line in lines)
    assert read(stuff(b"", content), size).content() == content


@given(lines=LINES)
def test_dots_are_stuffed_as_a_loop_over_lines_would(lines: list[bytes]) -> None:
    """RFC 5321 4.5.2, applied line by line, is the reference."""
    slow = b"".join((b"." + line if line.startswith(b".") else line) + b"\r\n" for line in lines)
    content = b"".join(line + b"\r\n" for line in lines)
    assert stuff(b"Head: 1\r\n", content) == b"Head: 1\r\n" + slow + b".\r\n"
    assert unstuff(slow) == content


def test_many_dots_do_not_hide_the_end() -> None:
    """The end of a content full of dots is found."""
    content = b"a.b.c.d " * 100 + b"\r\n" + b"....\r\n" * 200
    assert read(stuff(b"", content), 4096).content() == content


def test_a_content_without_a_last_line_end_gets_one() -> None:
    """The end of data is a line of its own."""
    assert read(stuff(b"", b"a"), 3).content() == b"a\r\n"


def test_a_first_dot_that_was_not_doubled_is_removed() -> None:
    """RFC 5321 4.5.2: a line that begins with one dot and has more characters loses the dot."""
    assert read(b".a\r\n.\r\n", 100).content() == b"a\r\n"


def test_an_empty_content_ends_at_once() -> None:
    """A dot as the first line is the end."""
    assert read(b".\r\n", 1).content() == b""


@pytest.mark.parametrize(
    "inside",
    [
        b"\n",
        b"\r",
        b"a\nb",
        b"a\rb",
        b"a\n.\nb",
        b"a\n.\r\nb",
        b"a\r\n.\nb",
        b"a\r\n.\rb",
        b"a\r.\r\nb",
        b"a\r\r\nb",
        b"a\n\r\nb",
        b"\n\r",
    ],
)
def test_a_lone_cr_or_lf_is_refused(inside: bytes) -> None:
    """ML-7: a CR or LF alone is refused anywhere, because servers disagree on whether it ends a line."""
    for sent in (inside + b"\r\n", b"x" * 100 + b"\r\n" + inside + b"\r\ny\r\n"):
        reader = DataReader()
        assert reader.feed(sent + b".\r\n")
        with pytest.raises(RefusalError, match="lone CR or LF") as refusal:
            reader.content()
        assert refusal.value.code == 550


@given(raw=st.text("a.\r\n", max_size=30).map(str.encode))
def test_exactly_the_contents_with_a_lone_cr_or_lf_are_refused(raw: bytes) -> None:
    """The fast check gives the result of a check of each byte."""
    raw += b"\r\n"
    bare = raw.replace(b"\r\n", b"")
    if b"\r" in bare or b"\n" in bare:
        with pytest.raises(RefusalError):
            check_lines(raw)
    else:
        check_lines(raw)


def test_the_end_is_only_crlf_dot_crlf() -> None:
    """ML-7: no other sequence ends a content, such as those that deceived other servers."""
    for end in (b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r\n.\r", b"\r\n\x00.\r\n"):
        assert not DataReader().feed(b"a" + end + b"b")


def test_a_content_is_limited_and_read_to_its_end_all_the_same() -> None:
    """One byte over the limit gets 552, for blocks of any size; a content of exactly the limit is accepted."""
    fits, over = b"x" * 98 + b"\r\n", b"x" * 99 + b"\r\n"
    for size in (1, 7, 50, 1000):
        assert read(stuff(b"", fits), size, limit_bytes=100).content() == fits
        for much in (over, b"x" * 5000 + b"\r\n"):
            with pytest.raises(RefusalError, match="larger than 100 bytes") as refusal:
                read(stuff(b"", much), size, limit_bytes=100).content()
            assert refusal.value.code == 552


def test_a_content_that_is_too_large_is_discarded() -> None:
    """Memory stays near the limit while the rest of the content arrives."""
    reader = DataReader(1000)
    for _ in range(1000):
        reader.feed(b"x" * 1000)
    assert len(reader._buffer) <= 2010


def test_what_is_left_of_a_content_that_is_too_large_is_not_its_beginning() -> None:
    """A dot at the start of the kept rest does not end the content."""
    reader = DataReader(10)
    assert not reader.feed(b"x" * 20 + b".\r\nab")
    assert not reader.feed(b"c")
    assert reader.feed(b"\r\n.\r\n")


def test_a_line_is_limited() -> None:
    """A line of exactly the limit is accepted; one byte more is refused."""
    check_lines(b"a\r\n" + b"x" * (LINE_LIMIT_BYTES - 2) + b"\r\nb\r\n")
    with pytest.raises(RefusalError, match="a line of more than"):
        check_lines(b"a\r\n" + b"x" * (LINE_LIMIT_BYTES - 1) + b"\r\nb\r\n")


def test_bytes_after_the_end_are_returned_separately() -> None:
    """Bytes after the end are not part of the content."""
    reader = DataReader()
    assert reader.feed(b"a\r\n.\r\nQUIT\r\n")
    assert reader.rest == b"QUIT\r\n"
    assert reader.content() == b"a\r\n"


def test_a_mail_of_empty_lines_costs_no_more_than_its_size() -> None:
    """Limits on sizes bound memory too: 64 MB of empty lines must not take 1.4 GB (spec: ML-7)."""
    raw = b"\r\n" * 500_000
    tracemalloc.start()
    try:
        check_lines(raw)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(raw)
    finally:
        tracemalloc.stop()
