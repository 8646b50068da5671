"""How long each test took the last time, in pytest's cache: `make quick` leaves the slow ones out, and so people find them."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest

_KEY: Final = "durations_s"


def durations_s(config: pytest.Config) -> dict[str, float]:
    """Return the seconds that each test took with its own fixtures, by its id."""
    cache = _cache_of(config)
    return dict(cache.get(_KEY, {})) if cache is not None else {}


def _cache_of(config: pytest.Config) -> pytest.Cache | None:
    """Return pytest's cache; None with `-p no:cacheprovider`."""
    return getattr(config, "cache", None)


class Durations:
    """A plugin of pytest that keeps the durations of a session's tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._took_s: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._took_s[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        cache = _cache_of(self._config)
        if cache is not None and self._took_s:
            new = {name: round(took_s, 2) for name, took_s in self._took_s.items()}
            cache.set(_KEY, {**durations_s(self._config), **new})
