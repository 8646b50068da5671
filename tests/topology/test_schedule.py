"""Schedules: when a cycle falls due (spec: OUT-1)."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from topology.schedule import (
    ALWAYS,
    NEVER,
    SLOT_US,
    SLOTS_A_DAY,
    SLOTS_A_WEEK,
    ReplicationStyle,
    Schedule,
    parse_schedule,
)
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, format_instant, parse_instant

QUARTER_US = 15 * MINUTE_US

# 2003-10-21, where labs begin, was a Tuesday.
START_AT = parse_instant("2003-10-21")

instants = st.integers(-200 * DAY_US, 40_000 * DAY_US)
intervals = st.sampled_from([0, 1, MINUTE_US, 7 * MINUTE_US, QUARTER_US, HOUR_US, 5 * HOUR_US, DAY_US])
grids = st.sets(st.integers(0, SLOTS_A_WEEK - 1), min_size=1, max_size=60).map(Schedule.of_slots)
night_shifts = st.builds(
    lambda start, length, days: Schedule.of_slots(
        (day * SLOTS_A_DAY + start + offset) % SLOTS_A_WEEK for day in days for offset in range(length)
    ),
    st.integers(0, SLOTS_A_DAY - 1),
    st.integers(1, 2 * SLOTS_A_DAY),
    st.sets(st.integers(0, 6), min_size=1),
)
schedules = st.one_of(
    st.sampled_from([ALWAYS, NEVER, Schedule.every(1), Schedule.every(2), Schedule.every(4)]),
    grids,
    night_shifts,
)


def fires(schedule: Schedule, after: str, count: int, interval_us: int = QUARTER_US) -> list[str]:
    at = parse_instant(after)
    found = []
    for _ in range(count):
        fire_at = schedule.next_fire(at, interval_us)
        assert fire_at is not None
        found.append(format_instant(fire_at)[:16])
        at = fire_at
    return found


def test_always_falls_on_the_quarter_hours() -> None:
    """OUT-1: "always" is every 15 minutes on multiples since 00:00 UTC, strictly after the given instant."""
    assert fires(ALWAYS, "2003-10-21T00:00", 3) == [
        "2003-10-21T00:15",
        "2003-10-21T00:30",
        "2003-10-21T00:45",
    ]
    assert fires(ALWAYS, "2003-10-21T23:59:59.999999", 1) == ["2003-10-22T00:00"]


def test_an_interval_that_does_not_divide_the_day_restarts_at_midnight() -> None:
    """OUT-1: multiples are counted from 00:00 UTC of each day."""
    assert fires(ALWAYS, "2003-10-21T10:00", 4, 5 * HOUR_US) == [
        "2003-10-21T15:00",
        "2003-10-21T20:00",
        "2003-10-22T00:00",
        "2003-10-22T05:00",
    ]


def test_an_interval_of_nothing_fires_at_once() -> None:
    """An "always" interval of 0 means at once: the next microsecond."""
    assert ALWAYS.next_fire(START_AT, 0) == START_AT + 1


def test_never_does_not_fire() -> None:
    """OUT-1: a schedule "never" has no next time."""
    assert NEVER.next_fire(START_AT, QUARTER_US) is None
    assert not NEVER.is_open(START_AT)


@pytest.mark.parametrize(("hours", "first"), [(1, "01:00"), (2, "02:00"), (4, "04:00")])
def test_every_few_hours_counts_from_midnight(hours: int, first: str) -> None:
    """OUT-1: every 1, 2 or 4 hours falls on the hours that divide by it, whatever "always" means."""
    schedule = parse_schedule(f"every {hours} h")
    assert fires(schedule, "2003-10-21T00:00", 1, MINUTE_US) == [f"2003-10-21T{first}"]
    assert schedule.next_fire(START_AT - 1, MINUTE_US) == START_AT
    assert len(schedule.slots) == 7 * 24 // hours


def test_a_span_over_midnight_belongs_to_the_day_on_which_it_begins() -> None:
    """Friday's night span ends on Saturday morning, and the nights of the weekend are free."""
    schedule = parse_schedule("Mon-Fri 20:00-06:00")
    assert len(schedule.slots) == 5 * 40
    assert fires(schedule, "2003-10-24T19:59", 1) == ["2003-10-24T20:00"]
    assert fires(schedule, "2003-10-25T05:45", 1) == ["2003-10-27T20:00"]


def test_a_slot_fires_at_its_start_and_the_week_wraps() -> None:
    """OUT-1: a slot fires once, at its start; after the last slot of a week comes the first of the next."""
    schedule = parse_schedule(["Sun 00:00", "Wed 12:15"])
    assert fires(schedule, "2003-10-21T00:00", 4) == [
        "2003-10-22T12:15",
        "2003-10-26T00:00",
        "2003-10-29T12:15",
        "2003-11-02T00:00",
    ]
    during_slot_at = parse_instant("2003-10-22T12:20")
    assert schedule.is_open(during_slot_at)


@given(schedules)
@example(parse_schedule("Mon-Sun"))
@example(parse_schedule("Sat-Mon 12:00-12:15"))
def test_a_schedule_survives_the_round_trip_through_text(schedule: Schedule) -> None:
    """A schedule's text is read back as the same schedule, as a list and as one text."""
    assert parse_schedule(schedule.as_texts()) == schedule
    assert parse_schedule(str(schedule)) == schedule


@given(schedules, instants, intervals)
def test_nothing_fires_between_an_instant_and_its_next(schedule: Schedule, at: int, interval_us: int) -> None:
    """The next instant lies later, is open, and is the next one of every instant in between."""
    next_at = schedule.next_fire(at, interval_us)
    if schedule.is_never:
        assert next_at is None
        return
    assert next_at is not None
    assert at < next_at
    assert schedule.next_fire(next_at - 1, interval_us) == next_at
    assert schedule.is_open(next_at)


@given(st.one_of(grids, night_shifts), instants)
def test_a_week_fires_every_slot_once(schedule: Schedule, at: int) -> None:
    """OUT-1: from any instant, one week holds each selected quarter hour exactly once, on quarter hours."""
    fired = []
    now = at
    for _ in schedule.slots:
        fire_at = schedule.next_fire(now, QUARTER_US)
        assert fire_at is not None
        assert fire_at % SLOT_US == 0
        fired.append(fire_at)
        now = fire_at
    assert fired[-1] <= at + 7 * DAY_US < (schedule.next_fire(now, QUARTER_US) or 0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Always", "always"),
        ("NEVER", "never"),
        ("every hour", "every 1 h"),
        ("every 4h", "every 4 h"),
        ("00:00; 04:00; 08:00; 12:00; 16:00; 20:00", "every 4 h"),
        ("mon-fri 20:00 - 06:00", "Mon-Fri 20:00-06:00"),
        ("Saturday, Sunday", "Sat,Sun"),
        ("Fri-Mon 00:00-24:00", "Mon,Fri-Sun"),
        ("12:15", "12:15"),
        ("daily 12:15-12:45", "12:15-12:45"),
        ("Mon 20:00-24:00; Tue 00:00-06:00", "Mon 20:00-06:00"),
        ("Mon-Sun", "Mon-Sun"),
    ],
)
def test_a_schedule_reads_as_people_write_it(text: str, shown: str) -> None:
    """The different spellings of a schedule give one schedule with one text."""
    assert str(parse_schedule(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sometimes",
        "every 3 h",
        "every 0 h",
        "Mon 12:10",
        "Mon 24:00",
        "Mon 12:60",
        "Mon 12:00-12:00",
        "Funday 12:00",
        "Mon-Tue-Wed 12:00",
        "Mon 735",
        "always; never",
        "x" * 5000,
        "a" + " " * 100_000 + "!",
        "every" + " " * 100_000,
        "12:15;" * 1000,
        "Mon" + ",Mon" * 2000 + " x",
    ],
)
def test_an_invalid_schedule_is_refused_with_the_valid_forms(text: str) -> None:
    """A mistake in a schedule is one error that lists the forms of a schedule."""
    with pytest.raises(ValueError, match="every 1 h"):
        parse_schedule(text)


def test_a_schedule_is_a_value() -> None:
    """Schedules can be compared and hashed, and keep their style number (PR_REPLICATION_STYLE)."""
    assert {parse_schedule("every 1 h"), Schedule.every(1)} == {Schedule.every(1)}
    assert [s.style for s in (NEVER, Schedule.every(1), ALWAYS)] == [0, 1, 2]
    assert ReplicationStyle.DEFAULT == -1
