"""What a lab will do, and what it would do after a change, over HTTP. The lab itself does not change."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Meta
from starlette.responses import Response

from node.api.values import json_response
from pflab.forecast.fork import forked
from pflab.forecast.what_if import MOST_STEPS, play, read_steps
from pflab.lab.served_lab import ServedLab
from pflab.server.changes import lab_routes
from pflab.server.clock import Until, condition_of
from pflab.server.convergence import holders_of, lacking
from pflab.server.events import encoder_of
from traces.labtime import format_instant, parse_duration

MOST_EVENTS: Final = 20_000
"""The most events of a forecast; it ends there. They are a few megabytes, and take the lab about three seconds."""

_TURNS: Final[WeakKeyDictionary[ServedLab, asyncio.Lock]] = WeakKeyDictionary()
"""One forecast of a lab at a time, because each has a copy of all databases in memory; others wait."""


class Forecast(Until, frozen=True, kw_only=True):
    """How far to look (`within`), what to wait for (as for `until`; default: the whole time), and what to try first.

    steps: changes, written as in a scenario; default: none.
    """

    steps: Annotated[
        list[dict[str, Any]],
        Meta(max_length=MOST_STEPS, examples=[[{"lose": {"from": "A", "to": "B"}}, {"stop": "C"}]]),
    ] = []


_ANSWER: Final = {
    "from_at": "2003-10-21T00:20:00Z",
    "to_at": "2003-10-22T18:15:00Z",
    "held": True,
    "complete": True,
    "events": [{"type": "version.applied", "node": "B", "words": "applies A-1, 'Hello' in Projects (backfill)"}],
}

FORECASTS: Final = lab_routes("/lab", tag="forecast")
"""What a lab will do."""


@FORECASTS.post("/forecast", answers={200: {"content": {"application/json": {"example": _ANSWER}}}})
async def forecast(lab: ServedLab, wanted: Forecast) -> Response:
    """Play a copy of the lab forward, and return what happens in it: at each store, to the second. The lab does not change.

    `held` says whether the thing to wait for happens; null if there is none. `complete` is false if the forecast has more
    events than an answer can have, and so ends early. `lacking` says what each running holder lacks at the end, if a folder
    does not converge. What people will do is not in it, nor what other mail servers do.
    """
    steps = read_steps(wanted.steps)
    encode, store_of = encoder_of(lab, lab.record.count), lab.record.replicas
    async with _TURNS.setdefault(lab, asyncio.Lock()), forked(lab) as fork:
        end_at = fork.began_at + parse_duration(wanted.within)
        waits = any((wanted.event, wanted.mail, wanted.converged))
        condition = condition_of(fork, wanted) if waits else lambda: False
        await play(fork, steps)
        held = await fork.until(lambda: condition() or fork.record.count > MOST_EVENTS, max(end_at, fork.now))
        complete = fork.record.count <= MOST_EVENTS
        answer: dict[str, object] = {
            "from_at": format_instant(fork.began_at),
            "to_at": format_instant(fork.now),
            "held": (held and complete) if waits else None,
            "complete": complete,
            "events": [msgspec.Raw(encode(event)) for event in fork.events()[:MOST_EVENTS]],
        }
        if wanted.converged is not None and not held:
            answer["lacking"] = lacking(holders_of(fork, wanted.converged), store_of)
    return json_response(answer)
