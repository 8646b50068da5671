"""Sizes and bandwidths as people write them. Durations are in `traces.labtime`."""

import re
from fractions import Fraction
from typing import Final

from topology.problems import ValueTextError, quoted

KILOBYTE: Final = 1024
MEGABYTE: Final = 1024 * KILOBYTE

MAX_STORAGE_LIMIT: Final = (2**31 - 1) * KILOBYTE
"""The highest storage limit of a folder, in bytes. Exchange keeps the limit as a 32-bit number of KB."""

_QUANTITY: Final = re.compile(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([a-zA-Z/]+)\s*", re.ASCII)
_SIZE_UNITS: Final = {"b": 1, "bytes": 1, "kb": KILOBYTE, "mb": MEGABYTE, "gb": 1024 * MEGABYTE}
_BANDWIDTH_UNITS: Final = {"bit/s": 1, "kbit/s": 1000, "mbit/s": 1000_000, "gbit/s": 1000_000_000}


def parse_size(text: str) -> int:
    """Return the bytes of `300 KB`, `10 MB` or `512 B`; 1 KB is 1024 bytes, as in Exchange.

    Raises ValueTextError for another text.
    """
    return _quantity(text, _SIZE_UNITS, "a size", "write a number and B, KB, MB or GB, such as 300 KB")


def format_size(size: int) -> str:
    """Return a size as text such as `300 KB`; `parse_size` reads it back exactly."""
    for unit, factor in (("GB", 1024 * MEGABYTE), ("MB", MEGABYTE), ("KB", KILOBYTE)):
        if size and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def parse_storage_limit(text: str) -> int:
    """Return a storage limit of a folder in bytes (spec: AD-2). Raises ValueTextError unless it is a whole number of KB in
    range."""
    size = parse_size(text)
    if size % KILOBYTE or not KILOBYTE <= size <= MAX_STORAGE_LIMIT:
        raise ValueTextError(
            f"{quoted(text)} is not a storage limit", "write a whole number of KB, from 1 KB to 2047 GB"
        )
    return size


def parse_bandwidth(text: str) -> int:
    """Return the bits per second of `512 kbit/s` or `2 Mbit/s` (decimal units). Raises ValueTextError for another text."""
    rate = _quantity(text, _BANDWIDTH_UNITS, "a bandwidth", "write a number and bit/s, kbit/s, Mbit/s or Gbit/s")
    if rate == 0:
        raise ValueTextError("a bandwidth cannot be 0", "write at least 1 bit/s, or leave the key out for no limit")
    return rate


def format_bandwidth(bits_per_second: int) -> str:
    """Return a bandwidth as text such as `512 kbit/s`; `parse_bandwidth` reads it back exactly."""
    for unit, factor in (("Gbit/s", 1000_000_000), ("Mbit/s", 1000_000), ("kbit/s", 1000)):
        if bits_per_second % factor == 0:
            return f"{bits_per_second // factor} {unit}"
    return f"{bits_per_second} bit/s"


def _quantity(text: str, units: dict[str, int], what: str, would_be_right: str) -> int:
    match = _QUANTITY.fullmatch(text)
    factor = None if match is None else units.get(match.group(2).lower())
    if match is None or factor is None:
        raise ValueTextError(f"{quoted(text)} is not {what}", would_be_right)
    amount = Fraction(match.group(1)) * factor
    if amount.denominator != 1:
        raise ValueTextError(f"{quoted(text)} is not a whole number of the smallest unit", would_be_right)
    return int(amount)
