"""The lab clock: a linear function of a monotonic source that only moves forward."""

from __future__ import annotations

import pytest

from node.host.clock import MAX_RATE, ClockError, LabClock
from tests.support.clock import START_AT
from traces.labtime import DAY_US, HOUR_US, SECOND_US


class Source:
    """A monotonic source that moves only when a test says so."""

    def __init__(self) -> None:
        self.s = 100.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def source() -> Source:
    return Source()


def test_a_paused_clock_does_not_move(source: Source) -> None:
    """At rate 0 the lab time stays where it is, however much real time passes."""
    clock = LabClock(START_AT, monotonic=source)
    source.s += 1000
    assert clock.now() == START_AT


@pytest.mark.parametrize("rate", [1, 0.5, 3600])
def test_lab_time_is_real_time_times_the_rate(source: Source, rate: float) -> None:
    """Lab time passes at the rate: 1 is real time, 3600 an hour a second."""  # spec: TM-1
    clock = LabClock(START_AT, rate=rate, monotonic=source)
    source.s += 10
    assert clock.now() == START_AT + int(10 * rate * SECOND_US)


def test_a_change_of_rate_goes_on_from_the_present_instant(source: Source) -> None:
    """A change of the rate does not change the time that has passed."""
    clock = LabClock(START_AT, rate=3600, monotonic=source)
    source.s += 2
    clock.set_rate(1)
    source.s += 5
    assert clock.now() == START_AT + 2 * HOUR_US + 5 * SECOND_US
    assert clock.rate == 1


def test_a_jump_keeps_the_rate(source: Source) -> None:
    """After a jump the clock runs on from the target at the same rate."""
    clock = LabClock(START_AT, rate=1, monotonic=source)
    clock.jump(START_AT + DAY_US)
    source.s += 3
    assert clock.now() == START_AT + DAY_US + 3 * SECOND_US


def test_the_clock_never_goes_back(source: Source) -> None:
    """A jump into the past is refused, and a source that goes back does not take lab time back."""
    clock = LabClock(START_AT, rate=1, monotonic=source)
    source.s -= 5
    assert clock.now() == START_AT
    source.s += 15
    with pytest.raises(ClockError, match="cannot go back"):
        clock.jump(START_AT)
    clock.jump(clock.now())


@pytest.mark.parametrize("rate", [-1, float("nan"), float("inf"), MAX_RATE * 2])
def test_a_rate_out_of_range_is_refused(source: Source, rate: float) -> None:
    """A rate is between 0 and the named maximum."""
    clock = LabClock(START_AT, monotonic=source)
    with pytest.raises(ClockError, match="rate"):
        clock.set_rate(rate)
    assert clock.rate == 0
