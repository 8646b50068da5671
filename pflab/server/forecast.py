"""What a lab will do, and what it would do after a change, over HTTP. The lab itself does not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from node.api.asgi import Response
from node.api.values import json_response
from pflab.errors import LabError
from pflab.forecast.fork import Fork, present_of
from pflab.lab.served_lab import ServedLab
from pflab.runs.traffic_sums import summed, traffic_of
from pflab.server.clock import Until, condition_of
from pflab.server.convergence import Convergence
from pflab.server.events import encoder_of
from pflab.server.present_lab import lab_routes
from traces.events import Event, MailSubmitted
from traces.labtime import LabTime, format_instant, parse_duration

MOST_STEPS: Final = 100
"""The largest number of changes on trial."""

MOST_EVENTS: Final = 20_000
"""The largest number of events of a forecast; it ends there. They are a few megabytes, and take the lab about three seconds."""


MOST_COUNTED: Final = 100_000
"""The largest number of events of a forecast that is asked only for the traffic. They take the lab about ten seconds."""


class Forecast(Until, frozen=True, kw_only=True):
    """How far to look ahead (`within`), what to wait for (as for `until`; default: the whole time), and which changes to try
    first.

    steps: changes, written as in a scenario; default: none.
    compare: also play the same present without the steps, and say what differs.
    cost: answer with the traffic of both futures, in place of their events and what differs.
    """

    steps: Annotated[
        list[dict[str, Any]],
        Meta(max_length=MOST_STEPS, examples=[[{"lose": {"from": "A", "to": "B"}}, {"stop": "C"}]]),
    ] = []
    compare: bool = False
    cost: bool = False


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
async def forecast(lab: ServedLab, body: Forecast) -> Response:
    """Play a copy of the lab forward, and return what happens in it: at each store, to the second. The lab does not change.

    `held` says whether the thing to wait for happens; null if there is none. `complete` is false if the forecast has more
    events than an answer can have, and so ends early. If a folder does not converge, `lacking` says what each running holder
    lacks at the end, and `not_asked` lists the holders that do not run then. It contains neither what people will do, nor what
    other mail servers do.

    With `compare`, `without` has the future without the steps, to the same end, and `differences` what happens `only` `with`
    the steps, or only `without` them.

    With `cost`, both futures have no events, and so they can be longer. `mails` is how many mails stores send, and `traffic`
    what each connector carries of each type of mail.
    """
    from pflab.forecast.what_if import play, read_steps  # noqa: PLC0415 - the models of steps take long to build

    steps = read_steps(body.steps)
    within_us = parse_duration(body.within)
    if within_us < 0:
        raise LabError(f"within is {body.within}; a forecast looks ahead")
    most = MOST_COUNTED if body.cost else MOST_EVENTS
    async with lab.copying:
        present = await present_of(lab)
        earlier = [event for event in lab.events() if isinstance(event, MailSubmitted)] if body.cost else []

        def played(fork: Fork) -> _Future:
            complete = fork.record.count <= most
            if body.cost:
                return _Traffic(fork.now, complete, earlier, fork.events())
            return _Events(fork.now, complete, [*map(encoder_of(lab, lab.record.count), fork.events()[:most])])

        async with present.fork() as fork:
            end_at = fork.began_at + within_us
            waits = any((body.event, body.mail, body.converged))
            condition = condition_of(fork, body) if waits else lambda: False
            await play(fork, steps)
            held = await fork.until(lambda: condition() or fork.record.count > most, max(end_at, fork.now))
            future = played(fork)
            answer: dict[str, object] = {
                "from_at": format_instant(fork.began_at),
                "held": (held and future.complete) if waits else None,
                **future.document(),
            }
            if body.converged is not None and not held:
                convergence = Convergence(fork, body.converged)
                answer["lacking"], answer["not_asked"] = convergence.shortfall(lab.record.replicas)
        if body.compare or body.cost:
            async with present.fork() as fork:
                await fork.until(lambda: fork.record.count > most, future.to_at)
                without = played(fork)
            answer["without"] = without.document()
            if isinstance(without, _Events) and isinstance(future, _Events):
                answer["differences"] = list(_differences(without, future))
    return json_response(answer)


class _Row(msgspec.Struct, frozen=True):
    """What happened where and when: in two futures this is the same, or it differs."""

    at: LabTime
    node: str
    type: str
    words: str


@dataclass(frozen=True, slots=True)
class _Future:
    """What happened in a fork until the lab time `to_at`. complete: it has no more events than it may have."""

    to_at: LabTime
    complete: bool

    def document(self) -> dict[str, object]:
        return {"to_at": format_instant(self.to_at), "complete": self.complete}


@dataclass(frozen=True, slots=True)
class _Events(_Future):
    """The events of a fork as JSON, with words."""

    lines: Sequence[bytes]

    def document(self) -> dict[str, object]:
        return {**_Future.document(self), "events": [*map(msgspec.Raw, self.lines)]}


@dataclass(frozen=True, slots=True)
class _Traffic(_Future):
    """What is sent in a fork. earlier: the mails that stores have sent before it, of which some still wait."""

    earlier: Sequence[MailSubmitted]
    events: Sequence[Event]

    def document(self) -> dict[str, object]:
        sums = summed(traffic_of([*self.earlier, *self.events]), lambda row: (row.connector, row.type))
        return {
            **_Future.document(self),
            "mails": sum(isinstance(event, MailSubmitted) for event in self.events),
            "traffic": [
                {"connector": connector, "type": type_, "mails": carried.mails, "bytes": carried.bytes}
                for (connector, type_), carried in sums.items()
            ],
        }


def _differences(without: _Events, with_: _Events) -> Iterator[dict[str, object]]:
    """Yield what happens in only one of two futures, in the order of time, until the earlier of their ends."""
    end_at = min(without.to_at, with_.to_at)
    rows = {
        name: [row for row in (msgspec.json.decode(line, type=_Row) for line in future.lines) if row.at <= end_at]
        for name, future in (("without", without), ("with", with_))
    }
    counts = {name: Counter(of) for name, of in rows.items()}
    only = {"without": counts["without"] - counts["with"], "with": counts["with"] - counts["without"]}
    for name, row in sorted(((name, row) for name, of in rows.items() for row in of), key=lambda named: named[1].at):
        if only[name][row] > 0:
            only[name][row] -= 1
            yield {"only": name, **msgspec.structs.asdict(row)}
