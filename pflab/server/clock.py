"""The clock of a lab over HTTP: its rate, steps, and warps to an instant or until something has happened.

This module has only the routes. `pflab.lab.coordinator` moves lab time, and `node.host.clock` is the clock itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Final

from msgspec import Meta

from node.api.asgi import Response
from node.api.hosts import Rate, check_rate
from node.api.routing.reading import Body
from node.api.routing.routes import Routes
from node.api.values import json_response
from pflab.errors import LabError
from pflab.faults.fault import MAIL_TYPES
from pflab.lab.recorded_lab import RecordedLab
from pflab.lab.served_lab import ServedLab
from pflab.server.convergence import Convergence
from pflab.server.present_lab import LabNow, check_begun
from pflab.terms.mail_types import mail_name
from topology.arguments import MOST_DAYS, Line
from topology.problems import did_you_mean, quoted
from traces.errors import TimeTextError, TraceError
from traces.events import EVENT_TYPES, Event, MailSubmitted
from traces.labtime import DAY_US, LabTime, check_not_after_end, format_instant, parse_duration, parse_instant

_CLOCK = {"now_at": "2003-10-21T00:15:00Z", "rate": 1.0, "warping": False, "passed_over": {}, "history": "up/1"}
_ANSWER: Final = {200: {"content": {"application/json": {"example": _CLOCK}}}}


class NewRate(Body, frozen=True, kw_only=True):
    """A rate: lab seconds for each real second."""

    rate: Rate

    def __post_init__(self) -> None:
        check_rate(self.rate)


class Advance(Body, frozen=True, kw_only=True):
    """A duration (`15 min`) or an instant (`2003-10-22T06:15Z`), at most a hundred years ahead."""

    to: Annotated[Line, Meta(examples=["15 min"])]


class Step(Body, frozen=True, kw_only=True):
    """If nothing is due by `limit` (a duration or an instant), the clock is set to `limit`."""

    limit: Annotated[Line | None, Meta(examples=["2 h"])] = None


class Until(Body, frozen=True, kw_only=True):
    """What to wait for: an event of a type (on one server), a mail of a type (from one server), or the convergence of a folder
    on all its holders; `all` is every folder and the hierarchy."""

    within: Annotated[Line, Meta(examples=["36 h"])]
    event: Annotated[Line | None, Meta(examples=["version.applied"])] = None
    mail: Annotated[Line | None, Meta(examples=["status"], description=f"One of {', '.join(MAIL_TYPES)}.")] = None
    on: Line | None = None
    converged: Annotated[Line | None, Meta(examples=["Projects"])] = None


def clock_shown(lab: ServedLab, **more: object) -> dict[str, object]:
    """Return the state of the clock as JSON values, with `more` added.

    passed_over: servers that should run but give no sign of life, each with the reason; lab time goes on without them.
    history: the run history; another one has begun if it differs from that of the answer before.
    """
    return {
        "now_at": format_instant(lab.now),
        "rate": lab.rate,
        "warping": lab.warping,
        "passed_over": dict(lab.passed_over),
        "history": lab.history,
        **more,
    }


class ClockDoor:
    """The clock of a lab for requests: one at a time may move it.

    lab_now: returns the present lab.
    """

    def __init__(self, lab_now: LabNow) -> None:
        self._lab_now = lab_now
        self._moving = asyncio.Lock()

    @property
    def lab(self) -> ServedLab:
        return self._lab_now()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[ServedLab]:
        """Yield the lab, whose clock nobody else moves. Raises LabError if somebody does, or if the lab is reset meanwhile."""
        if self._moving.locked():
            raise LabError("the lab's clock is already being moved; wait until it stops")
        lab = self.lab
        history = lab.history
        async with self._moving:
            yield lab
        if self.lab.history != history:
            raise LabError("the lab was reset while its clock was moved")


CLOCK: Final = Routes[ClockDoor](
    "/lab/clock", tag="clock", answers=_ANSWER, check=lambda door, method: check_begun(door.lab, method)
)
"""The clock of a lab."""


@CLOCK.get("")
async def clock(
    door: ClockDoor,
    after: Annotated[Line | None, Meta(description="A duration.", examples=["15 min"])] = None,
) -> Response:
    """Return the lab time and the rate of the clock. `after_at` is the instant at the end of the duration `after`."""
    more = {} if after is None else {"after_at": format_instant(door.lab.now + parse_duration(after))}
    return json_response(clock_shown(door.lab, **more))


@CLOCK.post("/rate")
async def rate(door: ClockDoor, body: NewRate) -> Response:
    """Run the clock at a rate: 1 is real time, 3600 is one hour per second, 0 pauses it."""
    async with door.alone() as lab:
        await lab.set_rate(body.rate)
    return json_response(clock_shown(door.lab))


@CLOCK.post("/step")
async def step(door: ClockDoor, body: Step | None = None) -> Response:
    """Jump to the next instant at which anything is due, and wait until the lab is quiet; `moved`: whether anything was
    due."""
    limit = None if body is None or body.limit is None else _instant(body.limit, door.lab.now)
    async with door.alone() as lab:
        moved = await lab.step(limit)
    return json_response(clock_shown(door.lab, moved=moved))


@CLOCK.post("/advance")
async def advance(door: ClockDoor, body: Advance) -> Response:
    """Warp to an instant or by a duration; then pause the clock. Everything that is due until then happens, and the answer
    arrives after it: a year of four idle stores takes about a second. Meanwhile requests to move the clock get 409."""
    async with door.alone() as lab:
        await lab.advance(_near(_instant(body.to, lab.now), lab.now))
    return json_response(clock_shown(door.lab))


@CLOCK.post("/until")
async def until(door: ClockDoor, body: Until) -> Response:
    """Warp until something has happened. In the answer, `held` says whether it happened within the limit. A folder has
    converged if all its holders run and have the same content. If it has not, `lacking` says what each running holder
    lacks: changes such as `A-1..3`, the folder, or its replica. `not_asked` lists the holders that do not run."""
    async with door.alone() as lab:
        limit_at = _near(lab.now + parse_duration(body.within), lab.now)
        held = await lab.until(condition_of(lab, body), limit_at)
    more: dict[str, object] = {}
    if body.converged is not None:
        lacking, more["not_asked"] = Convergence(lab, body.converged).shortfall(lab.record.replicas)
        if not held:
            more["lacking"] = lacking
    return json_response(clock_shown(door.lab, held=held, **more))


def _instant(text: str, now: LabTime) -> LabTime:
    try:
        return now + parse_duration(text)
    except TraceError:
        pass
    try:
        return parse_instant(text)
    except TraceError as error:
        raise TimeTextError(f"{error}, or a duration such as 15 min") from None


def _near(at: LabTime, now: LabTime) -> LabTime:
    """Return the instant. Raise LabError if a warp to it would occupy the clock for very long."""
    check_not_after_end(at)
    if at - now > MOST_DAYS * DAY_US:
        raise LabError(f"{format_instant(at)} is more than {MOST_DAYS} days ahead; move the clock in several steps")
    return at


def condition_of(lab: ServedLab | RecordedLab, condition: Until) -> Callable[[], bool]:
    """Return a function that tests whether something has happened since this call.

    Raises LabError for a name that does not exist, and if `condition` does not name exactly one thing.
    """
    if sum(kind is not None for kind in (condition.event, condition.mail, condition.converged)) != 1:
        raise LabError('give one of "event" (a type of event), "mail" (a type of mail) and "converged" (a folder)')
    if condition.converged is not None:
        return Convergence(lab, condition.converged)
    if condition.event is not None and condition.event not in EVENT_TYPES:
        raise LabError(
            f"{quoted(condition.event)} is not a type of event; {did_you_mean(condition.event, EVENT_TYPES)}"
        )
    if condition.mail is not None and condition.mail not in MAIL_TYPES:
        raise LabError(
            f"{quoted(condition.mail)} is not a type of mail; {did_you_mean(condition.mail, list(MAIL_TYPES))}"
        )
    if condition.on is not None and condition.on not in lab.names:
        raise LabError(
            f"there is no server {quoted(condition.on)} in this lab; {did_you_mean(condition.on, lab.names)}"
        )
    position = lab.record.count

    def happened() -> bool:
        nonlocal position
        fresh = lab.events(position)
        position += len(fresh)
        return any(_fits(condition, event) for event in fresh)

    return happened


def _fits(condition: Until, event: Event) -> bool:
    if condition.on not in {None, event.node}:
        return False
    if condition.mail is not None:
        return isinstance(event, MailSubmitted) and mail_name(event.message_type) == condition.mail
    return bool(event.__struct_config__.tag == condition.event)
