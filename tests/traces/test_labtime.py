"""Lab time: instants and durations as text and back."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.labtime import (
    DAY_US,
    HOUR_US,
    MAX_DURATION_US,
    MINUTE_US,
    SECOND_US,
    format_duration,
    format_instant,
    parse_duration,
    parse_instant,
)

FIRST_AT = -62_135_596_800 * SECOND_US  # 0001-01-01
LAST_AT = 253_402_300_800 * SECOND_US - 1  # the last microsecond of 9999

START_AT = 1_066_694_400 * SECOND_US


@pytest.mark.parametrize(
    "text",
    [
        "2003-10-21T00:00:00Z",
        "2003-10-21T00:00Z",
        "2003-10-21T00:00",
        "2003-10-21 00:00",
        "2003-10-21 00:00:00.000000",
        "2003-10-21",
    ],
)
def test_an_instant_is_read_in_every_form_and_always_as_utc(text: str) -> None:
    """TM-2: whatever is left out of an instant, it means UTC."""
    assert parse_instant(text) == START_AT


def test_lab_time_counts_microseconds_since_1970() -> None:
    """Lab time agrees with the calendar of the standard library."""
    moment = datetime(2003, 10, 21, 12, 15, 30, 250, tzinfo=UTC)
    at = parse_instant("2003-10-21T12:15:30.00025Z")
    assert at == int(moment.timestamp()) * SECOND_US + 250


def test_a_fraction_is_printed_only_when_there_is_one() -> None:
    """An instant on a whole second prints without a fraction, any other with six digits."""
    assert format_instant(START_AT + 15 * MINUTE_US) == "2003-10-21T00:15:00Z"
    assert format_instant(START_AT + 5) == "2003-10-21T00:00:00.000005Z"
    assert format_instant(-1) == "1969-12-31T23:59:59.999999Z"


@given(st.integers(FIRST_AT, LAST_AT))
def test_an_instant_survives_the_round_trip(at: int) -> None:
    """What is printed reads back as the very same microsecond."""
    assert parse_instant(format_instant(at)) == at


@given(st.integers(FIRST_AT, LAST_AT), st.integers(FIRST_AT, LAST_AT))
def test_instants_without_fraction_sort_as_text(one: int, other: int) -> None:
    """On whole seconds the order of the texts is the order of the instants."""
    one, other = one // SECOND_US * SECOND_US, other // SECOND_US * SECOND_US
    assert (one < other) == (format_instant(one) < format_instant(other))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2003-10-21T00:00+02:00",
        "2003-13-01",
        "2003-02-29",
        "2003-10-21T25:00",
        "03-10-21",
        "٢٠٠٣-10-21",
    ],
)
def test_what_is_no_instant_is_refused(text: str) -> None:
    """An offset, a day that is not in the calendar, or any other text is one clear error."""
    with pytest.raises(ValueError, match=r"not (an instant|a date)"):
        parse_instant(text)


def test_an_instant_beyond_the_calendar_is_refused() -> None:
    """Years before 1 and after 9999 are refused."""
    for at in (FIRST_AT - 1, LAST_AT + 1, 1 << 90):
        with pytest.raises(ValueError, match="outside the years"):
            format_instant(at)


@pytest.mark.parametrize(
    ("text", "duration_us"),
    [
        ("15 min", 15 * MINUTE_US),
        ("6h", 6 * HOUR_US),
        ("36 hours", 36 * HOUR_US),
        ("80 ms", 80_000),
        ("2 days", 2 * DAY_US),
        ("500 us", 500),
        ("500 µs", 500),
        ("1.5 h", 90 * MINUTE_US),
        ("1 h 30 min", 90 * MINUTE_US),
        ("1h30min", 90 * MINUTE_US),
        ("0.1 s", 100_000),
        ("2 Weeks", 14 * DAY_US),
        ("-5 s", -5 * SECOND_US),
        ("0 s", 0),
    ],
)
def test_a_duration_is_read_as_people_write_it(text: str, duration_us: int) -> None:
    """Numbers with units, short or long, with or without a space, alone or in a row, are exact."""
    assert parse_duration(text) == duration_us


@pytest.mark.parametrize(
    ("duration_us", "text"),
    [
        (6 * HOUR_US, "6 h"),
        (15 * MINUTE_US, "15 min"),
        (24 * HOUR_US, "24 h"),
        (36 * HOUR_US, "36 h"),
        (48 * HOUR_US, "48 h"),
        (7 * DAY_US, "7 d"),
        (90 * SECOND_US, "90 s"),
        (80_000, "80 ms"),
        (1_500, "1 ms 500 us"),
        (3661 * SECOND_US, "1 h 1 min 1 s"),
        (0, "0 s"),
        (-15 * MINUTE_US, "-15 min"),
    ],
)
def test_a_duration_prints_short(duration_us: int, text: str) -> None:
    """One unit where that is exact and short, else several; hours up to two days."""
    assert format_duration(duration_us) == text


@given(st.integers(-MAX_DURATION_US, MAX_DURATION_US))
def test_a_duration_survives_the_round_trip(duration_us: int) -> None:
    """What is printed reads back as the very same number of microseconds."""
    assert parse_duration(format_duration(duration_us)) == duration_us


@given(st.integers(1, 100_000), st.sampled_from(["ms", "s", "min", "h", "d"]))
def test_a_round_duration_survives_the_round_trip(count: int, unit: str) -> None:
    """The same for the round ones that settings hold."""
    duration_us = parse_duration(f"{count} {unit}")
    assert parse_duration(format_duration(duration_us)) == duration_us


@pytest.mark.parametrize(
    "text",
    ["", "15", "min", "15 m", "15 parsecs", "1 h and 5 min", "1,5 h", "--5 s", "1 h" * 60, "nan s", "٣ h"],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    """A bare number, an unknown unit or a word between is one clear error."""
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["0.1 us", "1.0000001 s", "999999999999 d"])
def test_a_duration_that_the_lab_cannot_count_is_refused(text: str) -> None:
    """A duration finer than a microsecond or longer than the lab can count is refused, never rounded."""
    with pytest.raises(ValueError, match=r"lab|too long"):
        parse_duration(text)
