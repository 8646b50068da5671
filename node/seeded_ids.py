"""GUIDs and tokens derived from a seed, so that the same seed makes the same lab."""

from __future__ import annotations

import hashlib


def guid_from(seed: bytes, *purpose: str | int) -> bytes:
    """Return a GUID for one purpose of a seed: 16 raw bytes, marked as version 4 (random)."""
    raw = bytearray(_digest(seed, purpose, 16))
    raw[7] = (raw[7] & 0x0F) | 0x40  # Data3 is little-endian in the raw bytes, so its high byte is the eighth
    raw[8] = (raw[8] & 0x3F) | 0x80
    return bytes(raw)


def setup_guid(organization: str) -> bytes:
    """Return the GUID of the change numbers that setup gave to the folders of this organization."""
    return guid_from(organization.encode()[:64], "setup")


def token_from(seed: bytes, *purpose: str | int) -> str:
    """Return twelve hex digits for one purpose of a seed."""
    return _digest(seed, purpose, 6).hex()


def _digest(seed: bytes, purpose: tuple[str | int, ...], size: int) -> bytes:
    return hashlib.blake2b(repr(purpose).encode(), key=seed[:64], digest_size=size).digest()
