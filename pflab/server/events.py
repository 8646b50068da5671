"""The events of a lab over HTTP, of all its servers and of the lab itself: in pieces, as a stream, and as a replay."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from starlette.responses import Response

from node.api.events import ALIVE_S, EVENT_LINES, LOOK_S, STREAMED, LastEventId, seq_of, streamed
from node.api.hosts import Number
from node.api.routing.routes import Routes
from node.api.values import LINES
from pflab.errors import LabError
from pflab.lab.served_lab import ServedLab
from pflab.replay.console_events import lexicon_of, with_words
from pflab.replay.replay_file import replay_file
from pflab.runs.events import RunEvents
from pflab.server.changes import LabNow
from traces.events import Event
from traces.labtime import format_instant

Words = Annotated[bool, Meta(description="Add to each event the field `words`: what happened, for people.")]
History = Annotated[str, Meta(max_length=1000, description="The run history that `after` belongs to.")]

LAB_EVENTS: Final = Routes[LabNow]("/lab", tag="events")
"""The events of a lab. A stream lives longer than a run history, so these routes ask for the lab of the moment."""


@LAB_EVENTS.get("/stream", answers=STREAMED)
async def stream(
    lab_now: LabNow,
    after: Annotated[Number | None, Meta(description="Begin after this id; default: now.")] = None,
    last: LastEventId = None,
    words: Words = False,
    history: History = "",
) -> Response:
    """Stream the events of all servers and of the lab itself in order, as server-sent events. An id is the number of the
    event in its run history, and that history, as `12@up/2026-11-26T101500Z`. With `words`, the events have no names, so a
    browser gets them all with one handler. Answers 409 if the Last-Event-ID or `history` is of another run history."""
    lab = lab_now()
    number, _, known = (last or "").partition("@")
    _check_history(lab, known or history)
    resumed = seq_of(number)
    begins = after if resumed is None else resumed
    answer = streamed(_followed(lab_now, lab.record.count if begins is None else begins, words=words))
    answer.headers["Pflab-History"] = lab.history
    return answer


@LAB_EVENTS.get("/events", answers=EVENT_LINES)
async def events(
    lab_now: LabNow,
    after: Number = 0,
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 10_000,
    last: Annotated[
        Annotated[int, Meta(ge=1, le=100_000)] | None, Meta(description="Only this many events, the newest.")
    ] = None,
    words: Words = False,
    history: History = "",
) -> Response:
    """Return the events of all servers and of the lab itself in order, as JSON lines, without the first `after` of them.

    The headers Pflab-Next and Pflab-History are the values of `after` and `history` for the next request. A reset begins
    another history, whose events may have other numbers; with `history`, the next request then gets 409. If a lab has run
    for long, only its newest events are here; its traces have the older ones.
    """
    lab = lab_now()
    await lab.catch_up()
    _check_history(lab, history)
    if last is not None:
        after = max(after, lab.record.count - last)
    encode = encoder_of(lab, after) if words else msgspec.json.encode
    found = lab.events(after)[:limit]
    lines = b"".join(encode(event) + b"\n" for event in found)
    asked_next = str(max(after, lab.record.first) + len(found))
    headers = {"Pflab-Next": asked_next, "Pflab-History": lab.history}
    return Response(lines, media_type=LINES, headers=headers)


@LAB_EVENTS.get("/replay", answers={200: {"content": {"text/html": {}}}})
async def replay(lab_now: LabNow) -> Response:
    """Return the run so far as one HTML file that shows it in a browser without a server, as pflab replay writes it. If a
    lab has run for long, the file begins with the oldest event that is still in memory."""
    lab = lab_now()
    await lab.catch_up()
    organization = lab.topology.as_json()
    events, title = lab.events(), f"{lab.folder.name}: a run of pflab"
    page = await asyncio.to_thread(
        lambda: replay_file(RunEvents.of(lab.folder, events, organization=organization), title=title)
    )
    organization_name = re.sub(r"[^A-Za-z0-9]+", "-", lab.topology.organization).strip("-") or "run"
    name = f"{organization_name}-{format_instant(lab.now)[:10]}.html"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


def _check_history(lab: ServedLab, history: str) -> None:
    """Raise LabError if a reader of events knows another run history; its numbers of events are not those of this one."""
    if history not in {"", lab.history}:
        raise LabError(
            f"the lab was replaced or reset; its run history is now {lab.history}. Read its events from the first on"
        )


def encoder_of(lab: ServedLab, after: int) -> Callable[[Event], bytes]:
    """Return a function that encodes the events after the first `after` ones, with words."""
    names = lexicon_of(lab.topology)
    for event in lab.events()[: max(0, after - lab.record.first)]:
        names.learn(event)
    return lambda event: with_words(event, names)


async def _followed(lab_now: LabNow, seen: int, *, words: bool) -> AsyncIterator[bytes]:
    lab = lab_now()
    yield b": pflab\n\n"
    silent_s = 0.0
    encode = encoder_of(lab, seen) if words else msgspec.json.encode
    history = lab.history
    while lab_now().history == history:  # after a reset, the ids of events begin again
        await lab.catch_up()
        seen = max(seen, lab.record.first)
        fresh = lab.events(seen)
        for event in fresh:
            seen += 1
            name = b"" if words else b"event: %b\n" % str(event.__struct_config__.tag).encode()
            yield b"id: %d@%b\n%bdata: %b\n\n" % (seen, history.encode(), name, encode(event))
        silent_s = 0.0 if fresh else silent_s + LOOK_S
        if silent_s >= ALIVE_S:
            silent_s = 0.0
            yield b": alive\n\n"
        await asyncio.sleep(0 if fresh else LOOK_S)
