"""Ways to alter a trace, for planting violations of rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.trace_faults import Line, Trace, renumber

HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US

Fault = tuple[str, Callable[[Trace], None]]


def nth(trace: Trace, kind: str, nth: int = 0, *, where: Callable[[Line], bool] = lambda _: True) -> Line:
    """The n-th event of that type, node by node; -1 is the last."""
    return [event for node in sorted(trace) for event in trace[node] if event["type"] == kind and where(event)][nth]


def set_(
    kind: str, *, where: Callable[[Line], bool] = lambda _: True, n: int = 0, **fields: Any
) -> Callable[[Trace], None]:
    return lambda trace: nth(trace, kind, n, where=where).update(fields)


def shift(
    kind: str, name: str, by: int, *, where: Callable[[Line], bool] = lambda _: True, n: int = 0
) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        nth(trace, kind, n, where=where)[name] += by

    return change


def without(kind: str, *, where: Callable[[Line], bool] = lambda _: True) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        event = nth(trace, kind, where=where)
        trace[event["node"]].remove(event)
        renumber(trace[event["node"]])

    return change


def again_at_the_end(
    kind: str, *, where: Callable[[Line], bool] = lambda _: True, **fields: Any
) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        event = nth(trace, kind, where=where)
        events = trace[event["node"]]
        events.insert(len(events) - 1, {**event, "at": events[-1]["at"], **fields})
        renumber(events)

    return change


def of_type(*types: int) -> Callable[[Line], bool]:
    return lambda event: event["message_type"] in types


def in_folder(**fields: str) -> Callable[[Line], None]:
    return lambda event: event["folders"][0].update(fields)


def mail(types: tuple[int, ...], alter: Callable[[Line], Any]) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        alter(nth(trace, "mail.submitted", where=of_type(*types)))

    return change
