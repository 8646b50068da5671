"""The names of mailboxes on the wire. Before log-in, a client can send any name."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

names = pytest.importorskip("node.imap.names")
exceptions = pytest.importorskip("pymap.parsing.exceptions")
modutf7 = pytest.importorskip("pymap.parsing.modutf7")
errors = pytest.importorskip("pymap.exceptions")


@given(st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs"], exclude_characters="&\x7f")))
def test_a_name_is_read_as_it_was_written(name: str) -> None:
    assert names.decoded(modutf7.modutf7_encode(name)) == name


@pytest.mark.parametrize(
    ("sent", "name"), [(b"R&-D", "R&D"), (b"Caf&AOk-", "Café"), (b"&ZeVnLIqe-/&AOk-&-x", "日本語/é&x")]
)
def test_names_in_modified_utf_7(sent: bytes, name: str) -> None:
    assert names.decoded(sent) == name


@pytest.mark.parametrize("sent", [b"R&D", b"&", b"&bad", b"&!-", b"&2AA-", b"&A-", b"caf\xe9"])
def test_other_names_are_refused(sent: bytes) -> None:
    """The decoder of pymap never ends for some of them."""
    with pytest.raises(exceptions.NotParseable):
        names.decoded(sent)


@given(st.text("ab/*%", max_size=12), st.text("ab/", max_size=14))
def test_wildcards(query: str, name: str) -> None:
    """`*` is anything, `%` is anything within one level (RFC 3501, 6.3.8)."""
    simple = re.escape(query).replace(r"\*", ".*").replace("%", "[^/]*")
    found = names.wildcard_pattern(query, "/").fullmatch(name)
    assert (found is None) == (re.fullmatch(simple, name) is None)


def test_wildcards_take_little_time() -> None:
    """A name of this length would need more than the age of the universe if each wildcard tried each place."""
    assert names.wildcard_pattern("*a" * 50 + "*b", "/").fullmatch("a" * 500) is None
    assert names.wildcard_pattern("%a" * 50 + "%b", "/").fullmatch("a" * 500) is None
    with pytest.raises(errors.NotSupportedError, match="at most 100"):
        names.wildcard_pattern("*a" * 101, "/")
