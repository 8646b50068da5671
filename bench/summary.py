"""The values of a benchmark's figures over several runs: their median, their spread, and the ratio to a peer's figures."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Value = float | str


@dataclass(slots=True)
class Outcome:
    """The result of one benchmark: the values of each figure, one for each run, or why it failed."""

    name: str
    about: str = ""
    durability: str = ""
    values: dict[str, list[Value]] = field(default_factory=dict)
    failure: str | None = None

    def add(self, figures: Mapping[str, Value]) -> None:
        """Add the figures of one more run."""
        for figure, value in figures.items():
            self.values.setdefault(figure, []).append(value)


def median(values: Sequence[Value]) -> Value:
    """Return the median of the numbers; of texts, the last."""
    numbers = _numbers(values)
    return statistics.median(numbers) if numbers else values[-1]


def spread(values: Sequence[Value]) -> tuple[float, float] | None:
    """Return the least and the largest number; None for texts or fewer than two values."""
    numbers = _numbers(values)
    return (min(numbers), max(numbers)) if len(numbers) > 1 else None


def ratios(ours: Sequence[Value], theirs: Sequence[Value]) -> list[Value]:
    """Return our number divided by the peer's, for each run."""
    return [mine / other for mine, other in zip(_numbers(ours), _numbers(theirs), strict=True)]


def shown(value: Value) -> str:
    """Return a figure as text: three significant digits below 100, else an integer with commas."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def shown_spread(values: Sequence[Value]) -> str:
    """Return the least and the largest number as text; nothing for texts or one value."""
    found = spread(values)
    return "" if found is None else f"{shown(found[0])} .. {shown(found[1])}"


def _numbers(values: Sequence[Value]) -> list[float]:
    return [value for value in values if not isinstance(value, str)]
