"""The time limits of tests, in real seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SLOW_S: Final = 1200
"""The limit of tests that take minutes: with Spark, containers, or new environments. On two busy cores a test with its fixtures
takes less than a third of its limit. The limit of the other tests is `timeout` in pyproject.toml."""

LIMITS_S: Final[Mapping[str, int]] = dict.fromkeys(("long", "compose", "package", "outsiders"), SLOW_S)
"""The limits of tests with these markers."""
