"""Parameters of a test of which `make test` takes a sample, and `make test-long` the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(values: Iterable[object], one_in: int) -> list[Any]:
    """Return the values; all but one in `one_in` are marked as long."""
    return [
        value if index % one_in == 0 else pytest.param(value, marks=pytest.mark.long)
        for index, value in enumerate(values)
    ]
