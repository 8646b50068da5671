"""Lab time for people: days since the start of a run, rounded durations, and the axis of a picture.

Day 1 is the day on which the run started (UTC), so `day 2 00:15` is 24 hours after `day 1 00:15`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from analytics.drawing.svg import element, text
from traces.errors import TimeTextError
from traces.labtime import DAY_US, HOUR_US, MILLISECOND_US, MINUTE_US, SECOND_US, format_instant

STEPS_US: Final = (
    SECOND_US, 5 * SECOND_US, 15 * SECOND_US, MINUTE_US, 5 * MINUTE_US, 15 * MINUTE_US, 30 * MINUTE_US, HOUR_US, 2 * HOUR_US,
    3 * HOUR_US, 6 * HOUR_US, 12 * HOUR_US, DAY_US, 2 * DAY_US, 7 * DAY_US, 14 * DAY_US, 28 * DAY_US, 91 * DAY_US,
    364 * DAY_US, 3640 * DAY_US, 36400 * DAY_US, 364000 * DAY_US,
)  # fmt: skip
"""Distances between the marks of an axis, and widths of the bars of a timeline."""

_UNITS: Final = (("d", DAY_US), ("h", HOUR_US), ("min", MINUTE_US), ("s", SECOND_US), ("ms", MILLISECOND_US))
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")


def instant(at: int) -> str:
    """Return a time as text. A trace may have a time outside the calendar; then return the number."""
    try:
        return format_instant(at)
    except TimeTextError:
        return f"{at} us"


def day_time(at: int, start_at: int) -> str:
    """Return a time as `day 2 00:15`; with seconds only if they are not zero."""
    day, of_day = divmod(at - start_at // DAY_US * DAY_US, DAY_US)
    minutes, remainder = divmod(of_day, MINUTE_US)
    text = f"day {day + 1} {minutes // 60:02}:{minutes % 60:02}"
    return f"{text}:{remainder // SECOND_US:02}" if remainder >= SECOND_US else text


def duration(took_us: int) -> str:
    """Return a duration with its two largest units, rounded: `1 d 6 h`, `12 min 4 s`, `80 ms`."""
    if took_us < 0:
        return f"-{duration(-took_us)}"
    for index, (name, size) in enumerate(_UNITS):
        if took_us >= size:
            if index + 1 >= len(_UNITS) - 1:  # seconds and milliseconds have no second unit
                return f"{took_us / size:.3g} {name}"
            below, small = _UNITS[index + 1]
            units = round(took_us / small)
            count, part = divmod(units, size // small)
            return f"{count} {name} {part} {below}" if part else f"{count} {name}"
    return f"{took_us} µs" if took_us else "0 s"


def instants(words: str) -> list[tuple[int, int, str]]:
    """Return the position of each instant in a text, such as 2003-10-21T00:15:00Z: begin, end, and the instant."""
    return [(match.start(), match.end(), match[0]) for match in _INSTANT.finditer(words)]


def step_for(span_us: int, most: int) -> int:
    """Return the smallest of STEPS_US that divides a span into at most `most` parts."""
    return next((step for step in STEPS_US if span_us <= step * most), STEPS_US[-1])


@dataclass(frozen=True, slots=True)
class Axis:
    """A lab-time axis.

    start_at: the start of the run.
    low, high: the times at its ends.
    left, right: where its ends are.
    """

    start_at: int
    low: int
    high: int
    left: float
    right: float

    def x(self, at: int) -> float:
        """Return the position of a time; a time outside the axis is at its end."""
        share = (min(max(at, self.low), self.high) - self.low) / max(self.high - self.low, 1)
        return round(self.left + (self.right - self.left) * share, 1)

    def drawn(self, top: float, bottom: float, most: int = 10) -> str:
        """Return vertical lines from `top` to `bottom` with labels below them. The first mark of a day says which day it is."""
        midnight = self.start_at // DAY_US * DAY_US
        step = step_for(max(self.high - self.low, 1), most)
        marks = range(self.low + (midnight - self.low) % step, self.high + 1, step)
        parts = []
        last_day = None
        for at in marks:
            day, of_day = divmod(at - midnight, DAY_US)
            clock = f"{of_day // HOUR_US:02}:{of_day % HOUR_US // MINUTE_US:02}"
            if step < MINUTE_US:
                clock += f":{of_day % MINUTE_US // SECOND_US:02}"
            new_day, last_day = day != last_day, day
            label = f"day {day + 1}" if step >= DAY_US or (new_day and not of_day) else clock
            x = self.x(at)
            kind = "day" if label.startswith("day") else "clock"
            parts.append(element("line", x1=x, x2=x, y1=top, y2=bottom, class_=f"grid {kind}"))
            parts.append(text(label, x, bottom + 15, class_=f"tick {kind}", text_anchor="middle"))
            if new_day and kind == "clock" and len(parts) == 2:
                parts.append(text(f"day {day + 1}", x, bottom + 29, class_="tick day", text_anchor="middle"))
        return "".join(parts)
