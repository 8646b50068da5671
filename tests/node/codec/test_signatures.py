"""Signatures of replication mail, in the process that made them and in others (ML-6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from node.codec import signing
from node.codec.signing import SIGNATURES_REMEMBERED, Identity, LabAuthority, Verifier

DATA = b"digests of a mail"


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin as a process that has made and checked no signature."""
    monkeypatch.setattr(signing, "_remembered", {})


@pytest.fixture
def authority() -> LabAuthority:
    return LabAuthority(bytes(32))


@pytest.fixture
def a(authority: LabAuthority) -> Identity:
    return authority.identity("A")


def accepts(identity: Identity, signature: bytes, data: bytes = DATA, store: str = "A") -> bool:
    return Verifier(identity.authority_key).verify(store, identity.certificate, signature, data)


@pytest.mark.parametrize("made_here", [True, False])
def test_a_genuine_signature_counts(a: Identity, made_here: bool) -> None:
    """ML-6: a store accepts what another store has signed, in its own process or in another one."""
    signature = a.sign(DATA)
    if not made_here:
        signing._remembered.clear()
    assert accepts(a, signature)
    assert accepts(a, signature)


@pytest.mark.parametrize("made_here", [True, False])
def test_a_signature_counts_for_nothing_else(authority: LabAuthority, a: Identity, made_here: bool) -> None:
    """ML-6: a signature counts for no other data, store, key or authority."""
    b, stranger = authority.identity("B"), LabAuthority(bytes(31) + b"\1").identity("A")
    signature, foreign = a.sign(DATA), stranger.sign(DATA)
    if not made_here:
        signing._remembered.clear()
    assert not accepts(a, signature, b"digests of another mail")
    assert not accepts(a, signature, store="B")
    assert not accepts(b, signature, store="B")
    assert not accepts(a, bytes(64))
    assert not accepts(a, foreign)
    assert not Verifier(a.authority_key).verify("A", stranger.certificate, foreign, DATA)


def test_a_key_does_not_sign_for_the_certificate_of_another_store(authority: LabAuthority, a: Identity) -> None:
    """ML-6: a store with the certificate of another store, but without its key, makes no signature that counts."""
    thief = replace(a, private_key=authority.identity("B").private_key)
    assert not accepts(a, thief.sign(DATA))


def test_a_forgotten_signature_is_checked_again(a: Identity) -> None:
    """ML-6: a process remembers a limited number of signatures, and checks older ones again."""
    first = a.sign(DATA)
    for number in range(SIGNATURES_REMEMBERED):
        a.sign(b"%d" % number)
    assert len(signing._remembered) == SIGNATURES_REMEMBERED
    assert accepts(a, first)
    assert len(signing._remembered) == SIGNATURES_REMEMBERED
