"""The verbs `until` and `expect`: wait for something, and report what was found if it does not come."""

from __future__ import annotations

from collections.abc import Callable

from pflab.oracle.convergence_bound import bound_of
from pflab.scenario.conditions import Condition, Expect, Until
from pflab.scenario.event_matching import arrival_fits, event_fits
from pflab.scenario.expectations import shortfalls
from pflab.scenario.session import Play, Shortfall, StepFailed
from pflab.scenario.values import same_minute
from traces.events import Event
from traces.labtime import MINUTE_US, LabTime, format_duration, format_instant


async def expect(play: Play, condition: Expect) -> None:
    """Raise StepFailed unless the condition is true now or, with `within`, becomes true while the clock advances."""
    if condition.within is None:
        _require(shortfalls(play, condition))
        return
    remaining: list[Shortfall] = []
    within_us = _span_us(play, condition.within)
    if not await play.lab.until(_holds(play, condition, remaining), play.lab.now + within_us):
        _require(remaining, f" within {format_duration(within_us)}")
    play.look_from_instant(play.lab.now)


async def until(play: Play, condition: Until) -> None:
    """Wait until the condition is true. Raise StepFailed at the limit, or if the wait ends in another minute than `at`."""
    began_at = play.lab.now
    within_us = _span_us(play, condition.within)
    limit_at = began_at + within_us
    if condition.mail is None and condition.event is None:
        remaining: list[Shortfall] = []
        if not await play.lab.until(_holds(play, condition, remaining), limit_at):
            _require(remaining, f" within {format_duration(within_us)}, by {format_instant(limit_at)}")
        play.look_from_instant(play.lab.now)
        _in_its_minute(condition, began_at, play.lab.now, "this to hold")
        return
    search = _Search(play, _predicate_of(play, condition))
    if not await play.lab.until(search.find, limit_at):
        expectation = f"{_in_words(condition)} within {format_duration(within_us)}, by {format_instant(limit_at)}"
        raise StepFailed([expectation], [f"none came; the lab's clock shows {format_instant(play.lab.now)}"])
    assert search.event is not None
    play.matches.add(search.at)
    play.look_from_instant(search.event.at)
    _in_its_minute(condition, began_at, search.event.at, _in_words(condition))


def _span_us(play: Play, within: int | str) -> int:
    """Return the limit of a wait; `bound` is computed from the present settings of the lab."""  # spec: CV-3
    return within if isinstance(within, int) else bound_of(play.lab).total_us


class _Search:
    """Searches the events since the last wait. The search looks at each event once."""

    def __init__(self, play: Play, predicate: Callable[[Event], bool]) -> None:
        self._play = play
        self._predicate = predicate
        self.at = play.mark
        self.event: Event | None = None

    def find(self) -> bool:
        self._play.observe()
        self._play.check(quiet=True)
        log = self._play.log
        while self.event is None and self.at < len(log):
            if self.at not in self._play.matches and self._predicate(log[self.at]):
                self.event = log[self.at]
                return True
            self.at += 1
        return self.event is not None


def _predicate_of(play: Play, condition: Until) -> Callable[[Event], bool]:
    if condition.mail is not None:
        return lambda event: arrival_fits(play, event, condition)
    tag = condition.event or ""
    on = condition.on[0] if condition.on else None
    return lambda event: event_fits(play, event, tag, on, condition.fields)


def _in_words(condition: Until) -> str:
    if condition.mail is not None:
        route = "".join(
            f" {word} {store}" for word, store in (("from", condition.from_), ("to", condition.to)) if store
        )
        about = f" about {condition.folder}" if condition.folder else ""
        return f"a {condition.mail} mail{route}{about}" + (f" marked {condition.marked}" if condition.marked else "")
    fields = "".join(f" {key}={value}" for key, value in condition.fields.items())
    return f"the event {condition.event}{fields}" + (f" on {condition.on[0]}" if condition.on else "")


def _holds(play: Play, condition: Condition, remaining: list[Shortfall]) -> Callable[[], bool]:
    """Return a predicate that evaluates the condition, and puts the shortfalls into `remaining` for the failure report."""

    def holds() -> bool:
        play.check(quiet=True)
        remaining[:] = shortfalls(play, condition)
        return not remaining

    return holds


def _require(remaining: list[Shortfall], within: str = "") -> None:
    if remaining:
        raise StepFailed(
            [f"{shortfall.expected}{within}" for shortfall in remaining], [shortfall.found for shortfall in remaining]
        )


def _in_its_minute(condition: Until, began_at: LabTime, came_at: LabTime, what: str) -> None:
    if condition.at is None:
        return
    # If `at` is a time of day, it can be in the minute in which the wait began.
    due_at = condition.at.resolve(began_at - MINUTE_US)
    if not same_minute(came_at, due_at):
        raise StepFailed([f"{what} at {format_instant(due_at)}"], [f"it came at {format_instant(came_at)}"])
