"""How a store proves its identity to another server: the SASL mechanism X-LAB-ED25519, as bytes.

    C: AUTH X-LAB-ED25519
    S: 334 <base64 of a nonce of 32 bytes>
    C: <base64 of: name, a zero byte, certificate, signature of 64 bytes>
    S: 235 2.7.0 ...

This module has the bytes. `transport.smtp.session` implements the verb AUTH, and `transport.smtp.sender` the client's side.

The lab's authority issued the certificate (ML-6). The store signs both server names and the nonce. Because the client
signs the name of the server that it wants to reach, another server cannot pass on the nonce and use the answer. The caller
supplies the keys (`Credentials`) and the check of certificates (`VerifyPeer`).

# spec: ML-3
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

MECHANISM: Final = "X-LAB-ED25519"

NONCE_BYTES: Final = 32

SIGNATURE_BYTES: Final = 64

ANSWER_LIMIT_BYTES: Final = 2048
"""Longest answer to a challenge, in base64 (decision; ours have about 230 bytes)."""

VerifyPeer = Callable[[str, bytes, bytes, bytes], bool]
"""Called with a store's name, its certificate, a signature and data; returns whether the store signed the data."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The identity that a store proves. `sign` returns a signature of 64 bytes."""

    store: str
    certificate: bytes
    sign: Callable[[bytes], bytes] = field(repr=False)


def answer_to(challenge: str, server: str, credentials: Credentials) -> bytes | None:
    """Return the answer to the text of a 334 of `server`; None if the text is not a challenge of this mechanism."""
    try:
        nonce = b64decode(challenge, validate=True)
    except (Base64Error, ValueError):
        return None
    if len(nonce) != NONCE_BYTES:
        return None
    store = credentials.store.encode()
    signature = credentials.sign(_statement(server, credentials.store, nonce))
    return b64encode(store + b"\0" + credentials.certificate + signature)


def proven_store(answer: bytes, server: str, nonce: bytes, verify: VerifyPeer) -> str | None:
    """Return the name of the store that an answer proves; None if the answer is not valid."""
    try:
        name, zero, proof = b64decode(answer, validate=True).partition(b"\0")
        store = name.decode()
    except (Base64Error, ValueError):
        return None
    if not zero or len(proof) <= SIGNATURE_BYTES:
        return None
    certificate, signature = proof[:-SIGNATURE_BYTES], proof[-SIGNATURE_BYTES:]
    return store if verify(store, certificate, signature, _statement(server, store, nonce)) else None


def _statement(server: str, client: str, nonce: bytes) -> bytes:
    return b"pflab smtp authentication 1\0" + server.encode() + b"\0" + client.encode() + b"\0" + nonce
