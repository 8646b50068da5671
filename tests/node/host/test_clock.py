"""The lab clock: a linear function of a monotonic source that only moves forward."""

from __future__ import annotations

import pytest

from node.host.clock import LONGEST_TIMER_S, ClockError, LabClock
from tests.support.clock import START_AT
from traces.errors import TimeTextError
from traces.labtime import DAY_US, END_AT, HOUR_US, MAX_RATE, MIN_RATE, SECOND_US


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


@pytest.mark.parametrize("rate", [-1, float("nan"), float("inf"), MAX_RATE * 2, MIN_RATE / 2, 1e-300, 5e-324])
def test_a_rate_out_of_range_is_refused(source: Source, rate: float) -> None:
    """A rate is 0, or between the named minimum and maximum."""
    clock = LabClock(START_AT, monotonic=source)
    with pytest.raises(TimeTextError, match="rate"):
        clock.set_rate(rate)
    assert clock.rate == 0


@pytest.mark.parametrize("rate", [MIN_RATE, 1.0, MAX_RATE])
def test_every_rate_gives_a_timer_for_every_instant(source: Source, rate: float) -> None:
    """At the slowest rate the clock can still say how long to wait for the last instant."""
    clock = LabClock(0, rate=rate, monotonic=source)
    assert clock.real_seconds_to(END_AT) == LONGEST_TIMER_S


def test_lab_time_has_an_end(source: Source) -> None:
    """No clock jumps or runs beyond the end of lab time, so that every instant can be written as a date."""
    clock = LabClock(END_AT - 1, monotonic=source)
    with pytest.raises(TimeTextError, match="lab time ends at 9000-01-01"):
        clock.jump(END_AT + 1)
    clock.set_rate(MAX_RATE)
    source.s += 1e12
    assert clock.now() == END_AT
