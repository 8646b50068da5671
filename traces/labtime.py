"""Lab time: whole microseconds since 1970-01-01T00:00Z, always UTC (spec: TM-2).

Instants (`LabTime`, names ending in `_at`) and durations (names ending in `_us`) are plain integers. So arithmetic on them
is exact, and databases, traces and mails hold the same number. Nothing here reads a clock (spec: TM-1).
"""

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Final

from traces.errors import TimeTextError

LabTime = int
"""Microseconds since 1970-01-01T00:00Z."""

MILLISECOND_US: Final = 1_000
SECOND_US: Final = 1_000_000
MINUTE_US: Final = 60 * SECOND_US
HOUR_US: Final = 60 * MINUTE_US
DAY_US: Final = 24 * HOUR_US
WEEK_US: Final = 7 * DAY_US

# The sum of any instant and any duration must fit into an integer of SQLite.
MAX_DURATION_US: Final = 1 << 61

END_AT: Final[LabTime] = 221_845_392_000 * SECOND_US
"""The end of lab time, 9000-01-01T00:00:00Z. Every instant that a store computes from an earlier one has a year of four digits,
because no setting is longer than a few centuries."""

MAX_RATE: Final = 1e6
"""The fastest rate of a clock: a lab day takes 86 ms. On a faster clock, timers would be wrong by hours; use warp instead."""

MIN_RATE: Final = 1e-6
"""The slowest rate above 0: a lab second takes 12 days."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_INSTANT: Final = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?)?"
    r"Z?",
    re.ASCII,
)
_MAX_DURATION_TEXT: Final = 100
_DURATION_PART: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zµ]+)", re.ASCII | re.IGNORECASE)

_UNITS: Final = {
    name: size_us
    for names, size_us in (
        ("us µs usec usecs microsecond microseconds", 1),
        ("ms msec msecs millisecond milliseconds", MILLISECOND_US),
        ("s sec secs second seconds", SECOND_US),
        ("min mins minute minutes", MINUTE_US),
        ("h hr hrs hour hours", HOUR_US),
        ("d day days", DAY_US),
        ("w week weeks", WEEK_US),
    )
    for name in names.split()
}

_PRINTED: Final = (
    ("d", DAY_US),
    ("h", HOUR_US),
    ("min", MINUTE_US),
    ("s", SECOND_US),
    ("ms", MILLISECOND_US),
    ("us", 1),
)
# Administrators write 24, 36 and 48 hours, but 7 or 180 days.
_DAYS_FROM_US: Final = 3 * DAY_US
# From this count on, "3661 s" is harder to read than "1 h 1 min 1 s".
_COMPOUND_FROM: Final = 1000


def format_instant(at: LabTime) -> str:
    """Return `at` as `2003-10-21T00:15:00Z`, with a fraction of six digits if it is not zero.

    Raises TimeTextError outside the years 1 to 9999.
    """
    try:
        moment = _EPOCH + timedelta(microseconds=at)
    except OverflowError:
        raise TimeTextError(f"{at} us since 1970 is outside the years 1 to 9999") from None
    fraction = f".{moment.microsecond:06}" if moment.microsecond else ""
    return (
        f"{moment.year:04}-{moment.month:02}-{moment.day:02}"
        f"T{moment.hour:02}:{moment.minute:02}:{moment.second:02}{fraction}Z"
    )


def check_not_after_end(at: LabTime) -> None:
    """Raise TimeTextError if the instant is after the end of lab time."""
    if at > END_AT:
        raise TimeTextError(f"lab time ends at {format_instant(END_AT)}; give an earlier instant or a shorter duration")


def checked_rate(rate: float) -> float:
    """Return the rate of a clock as a float. Raises TimeTextError unless it is 0, or from MIN_RATE to MAX_RATE."""
    if rate != 0 and not MIN_RATE <= rate <= MAX_RATE:
        raise TimeTextError(
            f"{rate:g} is not a rate of the clock; it is 0 (paused), or from {MIN_RATE:.6f} to {MAX_RATE:.0f} lab seconds"
            " per second"
        )
    return abs(float(rate))


def parse_instant(text: str) -> LabTime:
    """Return the instant that a text such as `2003-10-21T00:15:00Z` means, always in UTC.

    The seconds, the `Z`, or the time of day (then it is midnight) may be missing, and a space may replace the `T`.
    Raises TimeTextError for another text.
    """
    match = _INSTANT.fullmatch(text.strip())
    if match is None:
        raise TimeTextError(f"{text[:40]!r} is not an instant; write it in UTC, such as 2003-10-21T00:15:00Z")
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    fraction_us = int((match.group(7) or "").ljust(6, "0"))
    try:
        moment = datetime(year, month, day, hour, minute, second, fraction_us, tzinfo=UTC)
    except ValueError as error:
        raise TimeTextError(
            f"{text[:40]!r} is not a date ({error}); write it in UTC, such as 2003-10-21T00:15:00Z"
        ) from None
    return (moment - _EPOCH) // timedelta(microseconds=1)


def format_duration(duration_us: int) -> str:
    """Return a duration as people write it: `6 h`, `36 h`, `7 d`, `90 s`, `80 ms`, `1 h 1 min 1 s`.

    The text has one unit if it is then exact and short; otherwise it has all units, the largest first. `parse_duration`
    reads it back exactly."""
    if duration_us < 0:
        return f"-{format_duration(-duration_us)}"
    if duration_us == 0:
        return "0 s"
    for unit, size_us in _PRINTED:
        if unit == "d" and duration_us < _DAYS_FROM_US:
            continue
        count, rest_us = divmod(duration_us, size_us)
        if rest_us == 0 and count < _COMPOUND_FROM:
            return f"{count} {unit}"
    parts = []
    rest_us = duration_us
    for unit, size_us in _PRINTED:
        count, rest_us = divmod(rest_us, size_us)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts)


def parse_duration(text: str) -> int:
    """Return the microseconds of a text such as `15 min`, `6h`, `36 hours`, `80 ms`, `2 days`, `1.5 h`, `1 h 30 min`, `-5 s`.

    Raises TimeTextError for another text, and for a fraction of a microsecond.
    """
    stripped = text.strip()
    sign = 1
    if stripped.startswith("-"):
        sign, stripped = -1, stripped[1:]
    if not stripped or len(stripped) > _MAX_DURATION_TEXT:
        raise _not_a_duration(text)
    total = Fraction(0)
    at = 0
    while at < len(stripped):
        match = _DURATION_PART.match(stripped, at)
        if match is None or match.group(2).lower() not in _UNITS:
            raise _not_a_duration(text)
        total += Fraction(match.group(1)) * _UNITS[match.group(2).lower()]
        at = match.end()
    if total.denominator != 1:
        raise TimeTextError(f"{text!r} is not a whole number of microseconds, the smallest unit of lab time")
    if total > MAX_DURATION_US:
        raise TimeTextError(f"{text!r} is too long; at most {MAX_DURATION_US} us are allowed")
    return sign * int(total)


def _not_a_duration(text: str) -> TimeTextError:
    return TimeTextError(
        f"{text[:40]!r} is not a duration; write a number and a unit (us, ms, s, min, h, d or w), such as 15 min"
    )
