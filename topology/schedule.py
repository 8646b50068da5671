"""Replication schedules: always, never, every 1, 2 or 4 hours, or a grid of quarter hours over a week (spec: OUT-1).

"Always" fires at multiples of an interval (a setting) counted from 00:00 UTC of each day. All other schedules are grids of 672
quarter hours; a selected quarter hour fires once, at its start.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final

from topology.problems import ValueTextError, quoted
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, WEEK_US, LabTime

SLOT_US: Final = 15 * MINUTE_US
SLOTS_A_DAY: Final = DAY_US // SLOT_US
SLOTS_A_WEEK: Final = 7 * SLOTS_A_DAY
_SLOTS_AN_HOUR: Final = HOUR_US // SLOT_US
# A week has 7 days of 96 quarter hours. Each quarter hour is a bit (X, section 2.2).

# The week of the grid begins on Sunday, 00:00 UTC; 1970-01-01, where lab time begins, was a Thursday.
_FIRST_SUNDAY_AT: Final = -4 * DAY_US

# The intervals that System Manager offers beside always, never and custom (X, section 2.2).
OFFERED_HOURS: Final = (1, 2, 4)

_DAYS: Final = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_DAY_NUMBERS: Final = {
    name: number
    for number, day in enumerate(_DAYS)
    for name in (
        day.lower(),
        ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")[number],
    )
}
_EVERY: Final = re.compile(r"every\s+(\d{1,4}\s*)?(?:h|hours?)", re.ASCII | re.IGNORECASE)
_TIMES: Final = re.compile(r"(\d{1,2}):(\d{2})(?:\s*-\s*(\d{1,2}):(\d{2}))?", re.ASCII)
_ENTRY: Final = re.compile(r"\s*(?P<days>[A-Za-z][A-Za-z,\s-]*?)?\s*(?P<times>\d.*?)?\s*", re.ASCII)
_MAX_ENTRIES: Final = SLOTS_A_WEEK
# Enough for the names of all seven days. A longer text is refused, because the patterns above are slow on many blanks.
_MAX_ENTRY_TEXT: Final = 120
SCHEDULES_REMEMBERED: Final = 64
"""How many texts `parse_schedule` remembers with their schedules."""

_RIGHT: Final = (
    'write always, never, every 1 h, every 2 h, every 4 h, or times such as "Mon-Fri 20:00-06:00" or "Sun 12:15", '
    "one or a list, on quarter hours, in UTC"
)


class ReplicationStyle(IntEnum):
    """PR_REPLICATION_STYLE (X, section 2.2)."""

    DEFAULT = -1
    NEVER = 0
    NORMAL = 1
    ALWAYS = 2


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule; make one with `parse_schedule` or `Schedule.every`.

    style: never, normal (by the grid) or always.
    slots: the selected quarter hours of the grid, ascending; 0 is Sunday 00:00 UTC. Empty unless the style is normal.
    """

    style: ReplicationStyle
    slots: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if (self.style is ReplicationStyle.NORMAL) != bool(self.slots):
            raise ValueTextError("the schedule has no quarter hour", "write never, or name at least one")
        if self.slots and (self.slots[0] < 0 or self.slots[-1] >= SLOTS_A_WEEK):
            raise ValueTextError("a quarter hour is outside the week", f"slots are from 0 to {SLOTS_A_WEEK - 1}")

    @classmethod
    def every(cls, hours: int) -> "Schedule":
        """Return the schedule that fires every `hours` hours, beginning at 00:00 UTC. `hours` must divide 24."""
        if not 1 <= hours <= 24 or 24 % hours:
            raise ValueTextError(f"every {hours} h does not divide the day", "write 1, 2, 3, 4, 6, 8, 12 or 24 hours")
        return cls.of_slots(range(0, SLOTS_A_WEEK, hours * _SLOTS_AN_HOUR))

    @classmethod
    def of_slots(cls, slots: Iterable[int]) -> "Schedule":
        """Return the schedule that fires at these quarter hours of the week, given in any order."""
        return cls(ReplicationStyle.NORMAL, tuple(sorted(set(slots))))

    @property
    def is_always(self) -> bool:
        return self.style is ReplicationStyle.ALWAYS

    @property
    def is_never(self) -> bool:
        return self.style is ReplicationStyle.NEVER

    def next_fire(self, after_at: LabTime, always_interval_us: int) -> LabTime | None:
        """Return the first instant after `after_at` at which this schedule fires; None if it never does.

        always_interval_us: the store's interval for "always", from 0 to a day. With 0 the schedule fires a microsecond later.
        """
        # spec: OUT-1
        if self.is_never:
            return None
        if self.is_always:
            day_at = after_at - after_at % DAY_US
            interval_us = _interval(always_interval_us)
            return min(after_at + interval_us - (after_at - day_at) % interval_us, day_at + DAY_US)
        week_at, slot = _slot_of(after_at)
        index = bisect_right(self.slots, slot)
        if index == len(self.slots):
            return week_at + WEEK_US + self.slots[0] * SLOT_US
        return week_at + self.slots[index] * SLOT_US

    def is_open(self, at: LabTime) -> bool:
        """Return whether `at` is in a selected quarter hour; "always" is open at any time."""
        if self.style is not ReplicationStyle.NORMAL:
            return self.is_always
        _, slot = _slot_of(at)
        index = bisect_right(self.slots, slot) - 1
        return index >= 0 and self.slots[index] == slot

    def as_texts(self) -> list[str]:
        """Return the texts that `parse_schedule` reads back: several only for a grid with several spans."""
        if self.is_never:
            return ["never"]
        if self.is_always:
            return ["always"]
        for hours in OFFERED_HOURS:
            if self == Schedule.every(hours):
                return [f"every {hours} h"]
        return _grid_texts(self.slots)

    def __repr__(self) -> str:
        return f"Schedule({str(self)!r})"

    def __str__(self) -> str:
        """Return the texts joined by semicolons; `parse_schedule` reads this form too."""
        return "; ".join(self.as_texts())


ALWAYS: Final = Schedule(ReplicationStyle.ALWAYS)
NEVER: Final = Schedule(ReplicationStyle.NEVER)


def parse_schedule(value: str | Sequence[str]) -> Schedule:
    """Read `always`, `never`, `every 1 h` (2, 4), or times such as `Mon-Fri 20:00-06:00`, `Sat,Sun` or `12:15`.

    Times are quarter hours in UTC. The end time is exclusive; an end before its start is on the next day. Times without days
    apply to every day. `value` may have several entries, in a list or joined by semicolons; the schedule then fires at the
    times of each entry. Raises ValueTextError for another text.
    """
    return _schedule_of(value if isinstance(value, str) else tuple(value))


@lru_cache(SCHEDULES_REMEMBERED)  # a store reads the schedules of its folders again with each mail about the hierarchy
def _schedule_of(value: str | tuple[str, ...]) -> Schedule:
    entries = value.split(";") if isinstance(value, str) else list(value)
    if not entries or len(entries) > _MAX_ENTRIES:
        raise ValueTextError(f"a schedule has 1 to {_MAX_ENTRIES} entries, not {len(entries)}", _RIGHT)
    for entry in entries:
        if len(entry) > _MAX_ENTRY_TEXT:
            raise ValueTextError(f"{quoted(entry)} is too long for one entry of a schedule", _RIGHT)
    if len(entries) == 1:
        text = entries[0].strip().lower()
        if text in ("always", "never"):
            return ALWAYS if text == "always" else NEVER
        match = _EVERY.fullmatch(text)
        if match is not None:
            hours = int(match.group(1) or 1)
            if hours not in OFFERED_HOURS:
                raise ValueTextError(f"every {hours} h is not an interval of a schedule", _RIGHT)
            return Schedule.every(hours)
    return Schedule.of_slots(slot for entry in entries for slot in _entry_slots(entry))


def _interval(always_interval_us: int) -> int:
    if not 0 <= always_interval_us <= DAY_US:
        raise ValueTextError(
            f"{always_interval_us} us is not an interval for the schedule always",
            "the interval must be from 0 to a day",
        )
    return max(always_interval_us, 1)


def _slot_of(at: LabTime) -> tuple[LabTime, int]:
    """Return the start of the week that contains `at`, and the quarter hour of `at` in that week."""
    into_week_us = (at - _FIRST_SUNDAY_AT) % WEEK_US
    return at - into_week_us, into_week_us // SLOT_US


def _entry_slots(entry: str) -> Iterable[int]:
    match = _ENTRY.fullmatch(entry)
    if match is None or (match["days"] is None and match["times"] is None):
        raise ValueTextError(f"{quoted(entry)} is not a schedule", _RIGHT)
    days = _days(entry, match["days"])
    first, count = _span(entry, match["times"])
    for day in days:
        for slot in range(first, first + count):
            yield (day * SLOTS_A_DAY + slot) % SLOTS_A_WEEK


def _days(entry: str, text: str | None) -> list[int]:
    if text is None or text.lower() in ("daily", "every day"):
        return list(range(7))
    days = []
    for part in text.split(","):
        names = [name.strip().lower() for name in part.split("-")]
        if len(names) > 2 or any(name not in _DAY_NUMBERS for name in names):
            raise ValueTextError(f"{quoted(part.strip())} in {quoted(entry)} is not a day", _RIGHT)
        first, last = _DAY_NUMBERS[names[0]], _DAY_NUMBERS[names[-1]]
        days += [(first + offset) % 7 for offset in range((last - first) % 7 + 1)]
    return days


def _span(entry: str, text: str | None) -> tuple[int, int]:
    """Return the first slot in the day and the number of slots."""
    if text is None:
        return 0, SLOTS_A_DAY
    match = _TIMES.fullmatch(text)
    if match is None:
        raise ValueTextError(f"{quoted(text)} in {quoted(entry)} is not a time", _RIGHT)
    first = _slot_at(entry, match.group(1), match.group(2), last_hour=23)
    if match.group(3) is None:
        return first, 1
    end = _slot_at(entry, match.group(3), match.group(4), last_hour=24)
    if end == first:
        raise ValueTextError(f"{quoted(entry)} ends where it begins", _RIGHT)
    return first, (end - first) % SLOTS_A_DAY or SLOTS_A_DAY


def _slot_at(entry: str, hours: str, minutes: str, *, last_hour: int) -> int:
    hour, minute = int(hours), int(minutes)
    if hour > last_hour or minute > 59 or (hour == 24 and minute):
        raise ValueTextError(f"{hours}:{minutes} in {quoted(entry)} is not a time of day", _RIGHT)
    if minute % 15:
        raise ValueTextError(f"{hours}:{minutes} in {quoted(entry)} is not a quarter hour", _RIGHT)
    return hour * _SLOTS_AN_HOUR + minute // 15


def _grid_texts(slots: Sequence[int]) -> list[str]:
    """Return each span with the days on which it begins, in the order of their times."""
    days_of_span: dict[tuple[int, int], set[int]] = {}
    for start, length in _spans(slots):
        days_of_span.setdefault((start % SLOTS_A_DAY, length), set()).add(start // SLOTS_A_DAY)
    return [_span_text(first, length, days) for (first, length), days in sorted(days_of_span.items())]


def _spans(slots: Sequence[int]) -> list[tuple[int, int]]:
    """Return start and length of each unbroken run of slots, also around the week's end. Runs of a day or more end at
    midnight."""
    chosen = set(slots)
    if len(chosen) == SLOTS_A_WEEK:
        return [(day * SLOTS_A_DAY, SLOTS_A_DAY) for day in range(7)]
    spans: list[tuple[int, int]] = []
    for first in slots:
        if (first - 1) % SLOTS_A_WEEK in chosen:
            continue
        start, length = first, 1
        while (start + length) % SLOTS_A_WEEK in chosen:
            length += 1
        while length >= SLOTS_A_DAY:
            part = SLOTS_A_DAY - start % SLOTS_A_DAY
            spans.append((start, part))
            start, length = (start + part) % SLOTS_A_WEEK, length - part
        if length:
            spans.append((start, length))
    return spans


def _span_text(first: int, length: int, days: set[int]) -> str:
    day_text = "" if len(days) == 7 else _days_text(days)
    if length == SLOTS_A_DAY:
        return day_text or "Mon-Sun"
    end = first + length
    times = _time_text(first)
    if length > 1:
        times += "-" + _time_text(end if end <= SLOTS_A_DAY else end - SLOTS_A_DAY)
    return f"{day_text} {times}".strip()


def _days_text(days: set[int]) -> str:
    """Return days as text: `Mon-Fri`, `Sat,Sun` or `Mon,Wed-Fri`, Monday first."""
    week = [day for day in (1, 2, 3, 4, 5, 6, 0) if day in days]
    runs: list[list[int]] = []
    for day in week:
        if runs and (runs[-1][-1] + 1) % 7 == day and day != 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    return ",".join(
        f"{_DAYS[run[0]]}-{_DAYS[run[-1]]}" if len(run) > 2 else ",".join(_DAYS[day] for day in run) for run in runs
    )


def _time_text(slot: int) -> str:
    return f"{slot // _SLOTS_AN_HOUR:02}:{slot % _SLOTS_AN_HOUR * 15:02}"
