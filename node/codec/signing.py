"""The lab's authority and the keys of its stores (spec: ML-6).

The authority signs a certificate for each store: the store's name and public key. A replication mail has the certificate and a
signature over everything else in it. So a receiver needs only the authority's public key, and need not trust the servers on
the way. Keys and signatures are Ed25519, which is deterministic: the same seed makes the same mail.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from node.codec import ed25519
from node.codec.ed25519 import KEY_LENGTH, SEED_LENGTH, SIGNATURE_LENGTH

CERTIFICATE_LENGTH = KEY_LENGTH + SIGNATURE_LENGTH


def derived_seed(secret: int | str, purpose: str) -> bytes:
    """Return 32 bytes derived from a lab's seed or secret for one purpose. Bytes for different purposes are
    independent.
    """
    return hashlib.blake2b(f"pflab {secret} {purpose}".encode(), digest_size=SEED_LENGTH).digest()


def derived_key(seed: bytes, purpose: str) -> bytes:
    """Return the private key derived from a seed for one purpose."""
    return hashlib.blake2b(purpose.encode(), key=seed[:64], digest_size=SEED_LENGTH).digest()


SIGNATURES_REMEMBERED = 4096
"""How many signatures a process remembers, about 300 bytes each: those that it made and those that it checked. So the stores of
one process check no mail of each other, and check a mail from another process once."""

_remembered: dict[tuple[bytes, bytes, bytes], bool] = {}
"""For the newest signatures: whether the key signed the data. The key of an entry is public key, signature and data."""


def _statement(store: str, public_key: bytes) -> bytes:
    return b"pflab store certificate 1\0" + store.encode() + b"\0" + public_key


@dataclass(frozen=True, slots=True)
class Identity:
    """The keys of one store: its private key, its certificate (public key and authority's signature), the authority's key."""

    store: str
    private_key: bytes = field(repr=False)
    certificate: bytes
    authority_key: bytes
    _public_key: bytes = field(init=False, repr=False)
    """Computed from the private key, so it is the key of the signatures whatever the certificate says."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_public_key", ed25519.public_key(self.private_key))

    def sign(self, data: bytes) -> bytes:
        signature = ed25519.sign(self.private_key, data)
        _remember(self._public_key, signature, data, signed=True)
        return signature


class LabAuthority:
    """Issues the identities of a lab's stores.

    `seed`: 16 to 64 bytes; the same seed issues the same keys.
    """

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._key = derived_key(seed, "authority")

    def identity(self, store: str) -> Identity:
        private = derived_key(self._seed, f"store {store}")
        public = ed25519.public_key(private)
        return Identity(
            store=store,
            private_key=private,
            certificate=public + ed25519.sign(self._key, _statement(store, public)),
            authority_key=ed25519.public_key(self._key),
        )


def _is_signed(public_key: bytes, signature: bytes, data: bytes) -> bool:
    """Return whether the key signed the data. The data is short: digests, not contents."""
    result = _remembered.get((public_key, signature, data))
    if result is not None:
        return result
    return _remember(public_key, signature, data, signed=ed25519.verify(public_key, signature, data))


def _remember(public_key: bytes, signature: bytes, data: bytes, *, signed: bool) -> bool:
    """Remember whether the key signed the data, and return it."""
    if len(_remembered) >= SIGNATURES_REMEMBERED:
        del _remembered[next(iter(_remembered))]
    _remembered[public_key, signature, data] = signed
    return signed


@dataclass(frozen=True, slots=True)
class Verifier:
    """Checks certificates and signatures against one authority."""

    authority_key: bytes

    def verify(self, store: str, certificate: bytes, signature: bytes, data: bytes) -> bool:
        """Return whether the authority certified the key of `store`, and this key signed `data`."""
        if len(certificate) != CERTIFICATE_LENGTH or len(signature) != SIGNATURE_LENGTH:
            return False
        public_key, vouched = certificate[:KEY_LENGTH], certificate[KEY_LENGTH:]
        return _is_signed(self.authority_key, vouched, _statement(store, public_key)) and _is_signed(
            public_key, signature, data
        )
