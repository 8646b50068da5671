"""`until` and `expect`: waiting for something, and saying what stands when it does not come."""

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


async def expect(play: Play, wish: Expect) -> None:
    """Raises StepFailed unless the condition holds, now or within the time given (then the clock goes on until it
    does)."""
    if wish.within is None:
        _require(shortfalls(play, wish))
        return
    left: list[Shortfall] = []
    within_us = _span_us(play, wish.within)
    if not await play.lab.until(_holds(play, wish, left), play.lab.now + within_us):
        _require(left, f" within {format_duration(within_us)}")
    play.look_from_instant(play.lab.now)


async def until(play: Play, wish: Until) -> None:
    """Waits; raises StepFailed at the limit, or if what came did not come in the minute it had to."""
    began_at = play.lab.now
    within_us = _span_us(play, wish.within)
    limit_at = began_at + within_us
    if wish.mail is None and wish.event is None:
        left: list[Shortfall] = []
        if not await play.lab.until(_holds(play, wish, left), limit_at):
            _require(left, f" within {format_duration(within_us)}, by {format_instant(limit_at)}")
        play.look_from_instant(play.lab.now)
        _in_its_minute(wish, began_at, play.lab.now, "this to hold")
        return
    search = _Search(play, _wanted(play, wish))
    if not await play.lab.until(search.found, limit_at):
        asked = f"{_in_words(wish)} within {format_duration(within_us)}, by {format_instant(limit_at)}"
        raise StepFailed([asked], [f"none came; the lab's clock shows {format_instant(play.lab.now)}"])
    assert search.event is not None
    play.found.add(search.at)
    play.look_from_instant(search.event.at)
    _in_its_minute(wish, began_at, search.event.at, _in_words(wish))


def _span_us(play: Play, within: int | str) -> int:
    """The limit of a wait; `bound` is computed from the lab as it stands now."""  # spec: CV-3
    return within if isinstance(within, int) else bound_of(play.lab).total_us


class _Search:
    """Looks through the events since the last wait, each once."""

    def __init__(self, play: Play, wanted: Callable[[Event], bool]) -> None:
        self._play = play
        self._wanted = wanted
        self.at = play.mark
        self.event: Event | None = None

    def found(self) -> bool:
        self._play.observe()
        log = self._play.log
        while self.event is None and self.at < len(log):
            if self.at not in self._play.found and self._wanted(log[self.at]):
                self.event = log[self.at]
                return True
            self.at += 1
        return self.event is not None


def _wanted(play: Play, wish: Until) -> Callable[[Event], bool]:
    if wish.mail is not None:
        return lambda event: arrival_fits(play, event, wish)
    tag = wish.event or ""
    on = wish.on[0] if wish.on else None
    return lambda event: event_fits(play, event, tag, on, wish.fields)


def _in_words(wish: Until) -> str:
    if wish.mail is not None:
        route = "".join(f" {word} {store}" for word, store in (("from", wish.from_), ("to", wish.to)) if store)
        about = f" about {wish.folder}" if wish.folder else ""
        return f"a {wish.mail} mail{route}{about}" + (f" marked {wish.marked}" if wish.marked else "")
    fields = "".join(f" {key}={value}" for key, value in wish.fields.items())
    return f"the event {wish.event}{fields}" + (f" on {wish.on[0]}" if wish.on else "")


def _holds(play: Play, wish: Condition, left: list[Shortfall]) -> Callable[[], bool]:
    """A predicate that notes what is still wanting, so that a failure can say it."""

    def holds() -> bool:
        left[:] = shortfalls(play, wish)
        return not left

    return holds


def _require(left: list[Shortfall], within: str = "") -> None:
    if left:
        raise StepFailed([f"{each.expected}{within}" for each in left], [each.stands for each in left])


def _in_its_minute(wish: Until, began_at: LabTime, came_at: LabTime, what: str) -> None:
    if wish.at is None:
        return
    # A clock time may be that of the very minute in which the wait began.
    due_at = wish.at.resolve(began_at - MINUTE_US)
    if not same_minute(came_at, due_at):
        raise StepFailed([f"{what} at {format_instant(due_at)}"], [f"it came at {format_instant(came_at)}"])
