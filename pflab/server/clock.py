"""The clock of a lab over HTTP: its rate, steps, and warps to an instant or until something has happened.

This module has only the routes. `pflab.lab.coordinator` moves lab time, and `node.host.clock` is the clock itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from pydantic import Field

from node.api.bodies import Body, Line, Rate
from node.api.values import json_response
from pflab.errors import LabError
from pflab.faults.fault import MAIL_TYPES
from pflab.lab.served_lab import ServedLab
from pflab.server.changes import lab_router
from pflab.server.convergence import converged, holders_of, lacking
from pflab.terms.mail_types import mail_name
from topology.arguments import MOST_DAYS
from topology.problems import did_you_mean, quoted
from traces.errors import TimeTextError, TraceError
from traces.events import EVENT_TYPES, Event, MailSubmitted
from traces.labtime import DAY_US, LabTime, check_not_after_end, format_instant, parse_duration, parse_instant

_CLOCK = {"now_at": "2003-10-21T00:15:00Z", "rate": 1.0, "warping": False, "passed_over": {}, "history": "up/1"}
_CLOCK_TOLD: Final = {200: {"content": {"application/json": {"example": _CLOCK}}}}


class NewRate(Body):
    rate: Annotated[Rate, Field(examples=[3600])]


class Advance(Body):
    """A duration (`15 min`) or an instant (`2003-10-22T06:15Z`), at most a hundred years ahead."""

    to: Annotated[Line, Field(examples=["15 min"])]


class Step(Body):
    """If nothing is due by `limit` (a duration or an instant), the clock is set to `limit`."""

    limit: Annotated[Line | None, Field(examples=["2 h"])] = None


class Until(Body):
    """What to wait for: an event of a type (on one server), a mail of a type (from one server), or the convergence of a folder
    on all its holders."""

    within: Annotated[Line, Field(examples=["36 h"])]
    event: Annotated[Line | None, Field(examples=["version.applied"])] = None
    mail: Annotated[Line | None, Field(examples=["status"], description=f"One of {', '.join(MAIL_TYPES)}.")] = None
    on: Line | None = None
    converged: Annotated[Line | None, Field(examples=["Projects"])] = None


def clock_shown(lab: ServedLab, **more: object) -> dict[str, object]:
    """Return the state of the clock as JSON values, with `more` added.

    passed_over: servers that should run but give no sign of life, each with the reason; lab time goes on without them.
    history: the run history; another one has begun if it differs from that of the answer before.
    """
    clock = lab.coordinator
    return {
        "now_at": format_instant(lab.now),
        "rate": clock.rate,
        "warping": clock.warping,
        "passed_over": dict(lab.passed_over),
        "history": lab.history,
        **more,
    }


def clock_router(lab: ServedLab) -> APIRouter:
    router = lab_router(lab, prefix="/lab/clock", tags=["clock"], responses=_CLOCK_TOLD)
    moving = asyncio.Lock()

    @asynccontextmanager
    async def alone() -> AsyncIterator[None]:
        if moving.locked():
            raise LabError("the lab's clock is already being moved; wait until it stops")
        history = lab.history
        async with moving:
            yield
        if lab.history != history:
            raise LabError("the lab went back to a snapshot while its clock was moved")

    @router.get("")
    async def clock(
        after: Annotated[Line | None, Query(description="A duration.", examples=["15 min"])] = None,
    ) -> Response:
        """Return the lab time and the rate of the clock. `after_at` is the instant at the end of the duration `after`."""
        more = {} if after is None else {"after_at": format_instant(lab.now + parse_duration(after))}
        return json_response(clock_shown(lab, **more))

    @router.post("/rate")
    async def rate(wanted: NewRate) -> Response:
        """Run the clock at a rate: 1 is real time, 3600 is one hour per second, 0 pauses it."""
        async with alone():
            await lab.coordinator.set_rate(wanted.rate)
        return json_response(clock_shown(lab))

    @router.post("/step")
    async def step(wanted: Step | None = None) -> Response:
        """Jump to the next instant at which anything is due, and wait until the lab is quiet; `moved`: whether anything was
        due."""
        limit = None if wanted is None or wanted.limit is None else _instant(wanted.limit, lab.now)
        async with alone():
            moved = await lab.coordinator.step(limit)
        return json_response(clock_shown(lab, moved=moved))

    @router.post("/advance")
    async def advance(wanted: Advance) -> Response:
        """Warp to an instant or by a duration; then pause the clock. Everything that is due until then happens, and the answer
        arrives after it: a year of four idle stores takes about a second. Meanwhile requests to move the clock get 409."""
        async with alone():
            await lab.advance(_near(_instant(wanted.to, lab.now), lab.now))
        return json_response(clock_shown(lab))

    @router.post("/until")
    async def until(wanted: Until) -> Response:
        """Warp until something has happened. In the answer, `held` says whether it happened within the limit. A folder has
        converged if all its holders run and have the same content. If it has not, `lacking` says what each running holder
        lacks: changes such as `A-1..3`, the folder, or its replica. `not_asked` lists the holders that do not run."""
        async with alone():
            limit_at = _near(lab.now + parse_duration(wanted.within), lab.now)
            held = await lab.until(_condition(lab, wanted), limit_at)
        more: dict[str, object] = {}
        if wanted.converged is not None:
            holders = holders_of(lab, wanted.converged)
            more["not_asked"] = holders.not_running
            if not held:
                more["lacking"] = lacking(lab, holders)
        return json_response(clock_shown(lab, held=held, **more))

    return router


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


def _condition(lab: ServedLab, wanted: Until) -> Callable[[], bool]:
    if sum(each is not None for each in (wanted.event, wanted.mail, wanted.converged)) != 1:
        raise LabError('give one of "event" (a type of event), "mail" (a type of mail) and "converged" (a folder)')
    if wanted.converged is not None:
        folder = wanted.converged
        return lambda: converged(lab, folder)
    if wanted.event is not None and wanted.event not in EVENT_TYPES:
        raise LabError(f"{quoted(wanted.event)} is not a type of event; {did_you_mean(wanted.event, EVENT_TYPES)}")
    if wanted.mail is not None and wanted.mail not in MAIL_TYPES:
        raise LabError(f"{quoted(wanted.mail)} is not a type of mail; {did_you_mean(wanted.mail, list(MAIL_TYPES))}")
    if wanted.on is not None and wanted.on not in lab.names:
        raise LabError(f"there is no server {quoted(wanted.on)} in this lab; {did_you_mean(wanted.on, lab.names)}")
    seen = lab.record.count

    def happened() -> bool:
        nonlocal seen
        fresh = lab.events(seen)
        seen += len(fresh)
        return any(_fits(wanted, event) for event in fresh)

    return happened


def _fits(wanted: Until, event: Event) -> bool:
    if wanted.on not in {None, event.node}:
        return False
    if wanted.mail is not None:
        return isinstance(event, MailSubmitted) and mail_name(event.message_type) == wanted.mail
    return bool(event.__struct_config__.tag == wanted.event)
