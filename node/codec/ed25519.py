"""Ed25519 (RFC 8032) on bytes: the only module that signs, and that checks signatures.

`cryptography` does not work in a browser. There the page registers a JavaScript module `pflab_ed25519`, whose functions have
the names, arguments and results of these.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Final

SEED_LENGTH: Final = 32
KEY_LENGTH: Final = 32
SIGNATURE_LENGTH: Final = 64

_KEYS_KEPT: Final = 1024
"""How many private keys are kept as objects of the library, because it takes long to make one."""

if sys.platform == "emscripten":
    import pflab_ed25519
    from pyodide.ffi import to_js

    def public_key(seed: bytes) -> bytes:
        return bytes(pflab_ed25519.public_key(to_js(seed)).to_bytes())

    def sign(seed: bytes, data: bytes) -> bytes:
        return bytes(pflab_ed25519.sign(to_js(seed), to_js(data)).to_bytes())

    def verify(key: bytes, signature: bytes, data: bytes) -> bool:
        return bool(pflab_ed25519.verify(to_js(key), to_js(signature), to_js(data)))

else:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    @lru_cache(_KEYS_KEPT)
    def _private_key(seed: bytes) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(seed)

    def public_key(seed: bytes) -> bytes:
        """Return the public key of a private one.

        seed: the private key, SEED_LENGTH bytes.
        """
        return _private_key(seed).public_key().public_bytes_raw()

    def sign(seed: bytes, data: bytes) -> bytes:
        """Return the signature of data. The same key and data always give the same signature."""
        return _private_key(seed).sign(data)

    def verify(key: bytes, signature: bytes, data: bytes) -> bool:
        """Return whether a key signed the data.

        key: the public key; of bytes that are no key the result is False.
        """
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signature, data)
        except (InvalidSignature, ValueError):
            return False
        return True
