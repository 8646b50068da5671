"""Parameters of a test of which `make test` takes a sample, and `make test-long` the rest, or a share of it.

A requirement that is tried with every scenario or every lesson is tried by each run of all tests, but with a few of them only:
`--share 4:CONTENT` plays one in four of the rest. CONTENT draws which ones, so that another content gets others, and the same
content the same ones again.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import pytest


def sampled(values: Iterable[object], one_in: int) -> list[Any]:
    """Return the values; all but one in `one_in` are marked as the rest, which is long."""
    return [value if index % one_in == 0 else rest(value) for index, value in enumerate(values)]


def rest(value: object) -> Any:
    """Return a value that only `make test-long` plays."""
    return pytest.param(value, marks=(pytest.mark.long, pytest.mark.rest))


@dataclass(frozen=True, slots=True)
class Share:
    """One in how many tests of the rest is played, and the text that draws them."""

    one_in: int
    content: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the option `--share`. Raises pytest.UsageError for another form."""
        number, colon, content = text.partition(":")
        if not number.isdecimal() or int(number) < 1 or not colon:
            raise pytest.UsageError(f"--share {text}: write a number, a colon and a text, for example 4:3f2a")
        return cls(int(number), content)

    def has(self, test: str) -> bool:
        """Return whether a test of the rest is played.

        test: its id
        """
        return zlib.crc32(f"{self.content} {test}".encode()) % self.one_in == 0
