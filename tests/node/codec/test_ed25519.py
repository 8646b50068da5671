"""Ed25519 on bytes (ML-6). The vectors are those of RFC 8032, section 7.1."""

from __future__ import annotations

import pytest

from node.codec import ed25519

VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
]


@pytest.mark.parametrize("vector", VECTORS)
def test_keys_and_signatures_are_those_of_the_standard(vector: tuple[str, str, str, str]) -> None:
    """ML-6: a seed gives the public key and the signature that RFC 8032 states, and the signature counts for its data only."""
    seed, key, data, signature = map(bytes.fromhex, vector)
    assert ed25519.public_key(seed) == key
    assert ed25519.sign(seed, data) == signature
    assert ed25519.verify(key, signature, data)
    assert not ed25519.verify(key, signature, data + b"\0")
    assert not ed25519.verify(key, bytes([signature[0] ^ 1]) + signature[1:], data)


@pytest.mark.parametrize("key", [b"", bytes(31), b"\xff" * 32])
def test_bytes_that_are_no_key_sign_nothing(key: bytes) -> None:
    """ML-6: a certificate may have any bytes in place of a public key."""
    assert not ed25519.verify(key, bytes(64), b"data")
