"""The names of mailboxes on the wire. Before log-in, a client can send any name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

names = pytest.importorskip("node.imap.names")
exceptions = pytest.importorskip("pymap.parsing.exceptions")
modutf7 = pytest.importorskip("pymap.parsing.modutf7")


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
