"""The alterations that `make tamper` makes of traces."""

from __future__ import annotations

import copy
import random

import pytest

from tests.support.scenario_traces import SCENARIOS, play_scenario
from tests.support.trace_faults import Trace, read_trace
from tests.tamper.tamper import KINDS


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    place = tmp_path_factory.mktemp("traces")
    (path,) = (each for each in SCENARIOS if each.stem == "lost-mail")
    play_scenario(path, place)
    return read_trace(place / "lost-mail" / "traces")


@pytest.mark.parametrize("kind", KINDS)
def test_an_alteration_leaves_no_gap_and_keeps_the_ends(trace: Trace, kind: str) -> None:
    """An alteration changes the trace, but neither gaps in the numbers nor a missing end betray it."""
    for seed in range(20):
        altered = copy.deepcopy(trace)
        what = KINDS[kind][1](altered, random.Random(seed))
        assert what
        assert altered != trace
        for node, events in altered.items():
            assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
            assert events[-1]["type"] == trace[node][-1]["type"]


def test_the_same_seed_makes_the_same_alteration(trace: Trace) -> None:
    """A case can be made again from its seed."""
    made = []
    for _ in range(2):
        altered = copy.deepcopy(trace)
        made.append((KINDS["field"][1](altered, random.Random(5)), altered))
    assert made[0] == made[1]
