"""The scenarios whose traces `make test` judges; `make test-long` and `make test-spark` judge all."""

from __future__ import annotations

from typing import Final

from tests.support.rule_faults import CLEAN, FAULTS
from tests.support.scenario_traces import BROKEN_ON_PURPOSE, SCENARIOS
from tests.support.trace_faults import PLANTED

_SOURCES: Final = {
    *(planted.source for planted in PLANTED.values()),
    *(source for source, _ in (*FAULTS.values(), *CLEAN.values())),
}
"""The scenarios in whose traces faults are planted."""

_RARE: Final = {"silent-home", "leaver-in-the-site"}
"""Scenarios with what checks look at and no other scenario of the sample has."""

SAMPLE: Final = [path for path in SCENARIOS if path.stem in {*_SOURCES, *_RARE, *BROKEN_ON_PURPOSE}]
