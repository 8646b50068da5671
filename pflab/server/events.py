"""The events of a lab over HTTP, of all its servers and of the lab itself: in pieces, as a stream, and as a replay."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Annotated, Final
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Meta

from node.api.asgi import Response
from node.api.events import ALIVE_S, EVENT_LINES, LOOK_S, STREAMED, LastEventId, seq_of, streamed
from node.api.hosts import Number
from node.api.routing.routes import Routes
from node.api.values import JSON, LINES
from pflab.errors import LabError
from pflab.lab.served_lab import ServedLab
from pflab.replay.console_events import lexicon_of, with_words
from pflab.replay.contents import contents_of
from pflab.replay.replay_file import Replay, as_handout, replay_file
from pflab.runs.events import RunEvents
from pflab.server.present_lab import LabNow
from pflab.terms.event_words import Lexicon
from pflab.threads import in_thread
from topology.file.load import topology_from_document
from traces.events import Event
from traces.labtime import format_instant

if TYPE_CHECKING:
    from topology.model import Topology

Words = Annotated[bool, Meta(description="Add to each event the field `words`: what happened, for people.")]
History = Annotated[str, Meta(max_length=1000, description="The run history that `after` belongs to.")]

LabPosition = Annotated[str, Meta(pattern=r"^[0-9]{1,18}@[^\x00-\x1f]{0,1000}@[A-Za-z0-9/_-]{0,150}$")]
"""A lab of a server, and the number of an event in its run history."""

LabAt = Callable[[str], AbstractContextManager[Callable[[], ServedLab | None]]]
"""Yields a function that returns the present lab below a path, or None if there is none. The lab counts as in use inside the
block."""

LAB_EVENTS: Final = Routes[LabNow]("/lab", tag="events")
"""The events of a lab. A stream lives longer than a run history, so these routes ask for the present lab."""

EVENTS_OF_LABS: Final = Routes[LabAt]("/labs", tag="events")
"""The events of all labs of a server: its own and those of lessons."""


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
    number, _, resumed_history = (last or "").partition("@")
    _check_history(lab, resumed_history or history)
    resumed = seq_of(number)
    begins = after if resumed is None else resumed
    answer = streamed(_followed(lab_now, lab.record.count if begins is None else begins, words=words))
    answer.headers["Pflab-History"] = lab.history
    return answer


@EVENTS_OF_LABS.get("/stream", answers=STREAMED)
async def stream_of_labs(
    lab_at: LabAt,
    lab: Annotated[
        list[LabPosition],
        Meta(max_length=100, description="A lab, and after which event to begin: NUMBER@HISTORY@PATH."),
    ],
) -> Response:
    """Stream the events of several labs, with words, as one stream of server-sent events: a browser has few connections to a
    server, so all its pages share one. The path of the server's own lab is empty, that of a lesson /lessons/{id}.

    An event has the name HISTORY@PATH and its number in that history as its id. When a lab has ended, or has another run
    history, the event `ended` has that name as its data; the stream ends with its last lab.
    """
    return streamed(_of_labs(lab_at, lab))


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
    page = lab.events(after)[:limit]
    asked_next = max(after, lab.record.first) + len(page)
    if words:
        names = _names_of(lab, after)
        lines = b"".join(with_words(event, names) + b"\n" for event in page)
        learned = _LEARNED.setdefault(lab, {})
        learned[asked_next] = names
        if len(learned) > _MOST_LEARNED:
            del learned[next(iter(learned))]
    else:
        lines = b"".join(msgspec.json.encode(event) + b"\n" for event in page)
    headers = {"Pflab-Next": str(asked_next), "Pflab-History": lab.history}
    return Response(lines, media_type=LINES, headers=headers)


@LAB_EVENTS.get("/checkpoint")
async def checkpoint(lab_now: LabNow) -> Response:
    """Return the state of the lab before the oldest event that is still in memory, and `after`, the number of events that
    have led to it. The console begins with it. `state` is null if no event has been forgotten, or if a coordinator that
    started again does not know them."""
    lab = lab_now()
    await lab.catch_up()
    first_state = lab.record.checkpoint
    state = b"null" if first_state is None else first_state.encoded()
    history = msgspec.json.encode(lab.history)
    return Response(b'{"history":%b,"after":%d,"state":%b}' % (history, lab.record.first, state), media_type=JSON)


@LAB_EVENTS.get("/replay", answers={200: {"content": {"text/html": {}}}})
async def replay(
    lab_now: LabNow,
    notes: Annotated[bool, Meta(description="Add the presenter's notes, if the lab is that of a lesson.")] = False,
    address: Annotated[
        str, Meta(max_length=1000, description="Where the file will be, for previews of links to it.")
    ] = "",
) -> Response:
    """Return the run so far as one HTML file that shows it in a browser without a server, as pflab replay writes it: with the
    content of posts and mails, and in the lab of a lesson with its texts and questions. If a lab has run for long, the file
    begins with the oldest event that is still in memory."""
    lab = lab_now()
    page = await page_of(lab, notes=notes, address=address)
    name = re.sub(r"[^A-Za-z0-9]+", "-", lab.topology.organization).strip("-") or "run"
    headers = {"Content-Disposition": f'attachment; filename="{name}-{format_instant(lab.now)[:10]}.html"'}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


async def page_of(lab: ServedLab, *, notes: bool = False, address: str = "") -> str:
    """Return the HTML file that replays a lab. If a server does not answer, the file has no posts that only stores have.

    notes: whether the file has the presenter's notes of a lesson.
    address: where the file will be on the web; '' if that is not known.
    """
    async with lab.copying, AsyncExitStack() as stack:
        try:
            stores = (await stack.enter_async_context(lab.copied(traces=False))).path
        except LabError:
            stores = lab.folder
        await lab.catch_up()
        events, mails = lab.events(), lab.recent_mails.all()
        lesson = None if lab.lesson is None else as_handout(lab.lesson(), after=lab.record.first, notes=notes)
        topology = _organization_before(lab)
        run = RunEvents.of(lab.folder, events, organization=topology.as_json())

        def page() -> str:
            return replay_file(
                Replay(
                    title=f"{lab.folder.name}: a run of pflab" if lesson is None else lesson["title"],
                    topology=topology,
                    events=run.events if lesson is None else events,  # a lesson counts them as the lab has them
                    contents=contents_of(stores, mails, run.names.stores()),
                    lesson=lesson,
                    description="" if lesson is None else lesson["introduction"] or "",
                    address=address,
                )
            )

        return await in_thread(page)


def _organization_before(lab: ServedLab) -> Topology:
    """Return the organization as it was before the oldest event that is still in memory (RT-6)."""
    first_state = lab.record.checkpoint
    return lab.topology if first_state is None else topology_from_document(first_state.picture.topology)


def _check_history(lab: ServedLab, history: str) -> None:
    """Raise LabError if a reader of events knows another run history; its numbers of events are not those of this one."""
    if history not in {"", lab.history}:
        raise LabError(
            f"the lab was replaced or reset; its run history is now {lab.history}. Read its events from the first on"
        )


_MOST_LEARNED: Final = 8
"""For how many readers of one lab the names are kept."""

_LEARNED: Final[WeakKeyDictionary[ServedLab, dict[int, Lexicon]]] = WeakKeyDictionary()
"""For each lab, the names that its events had told up to where somebody stopped to read, by this place. A console reads one
piece after the other, so the next piece need not learn from the first event on."""


def encoder_of(lab: ServedLab, after: int) -> Callable[[Event], bytes]:
    """Return a function that encodes the events after the first `after` ones, with words."""
    names = _names_of(lab, after)
    return lambda event: with_words(event, names)


def _names_of(lab: ServedLab, after: int) -> Lexicon:
    """Return the names that the first `after` events have told. The caller may let them learn more."""
    names = _LEARNED.get(lab, {}).pop(after, None)
    if names is None:
        first_state = lab.record.checkpoint
        names = lexicon_of(lab.topology) if first_state is None else first_state.names.apart()
        for event in lab.events()[: max(0, after - lab.record.first)]:
            names.learn(event)
    return names


class _Reader:
    """Reads the events of a run history after the first `seen` ones. `lab_now` returns None if the lab has ended."""

    def __init__(self, lab_now: Callable[[], ServedLab | None], position: int, history: str, *, words: bool) -> None:
        self._lab_now = lab_now
        self._encode: Callable[[Event], bytes] | None = None if words else msgspec.json.encode
        self.history = history
        self.position = position

    async def fresh(self) -> Iterator[tuple[Event, bytes]] | None:
        """Return the events that are new, also as JSON; None if there is no such history any more: after a reset, the numbers
        of events begin again."""
        lab = self._lab_now()
        if lab is None or lab.history != self.history:
            return None
        await lab.catch_up()
        if self._encode is None:
            self._encode = encoder_of(lab, self.position)
        self.position = max(self.position, lab.record.first)
        return self._encoded(lab.events(self.position), self._encode)

    def _encoded(self, events: Sequence[Event], encode: Callable[[Event], bytes]) -> Iterator[tuple[Event, bytes]]:
        for event in events:
            self.position += 1
            yield event, encode(event)


async def _followed(lab_now: LabNow, position: int, *, words: bool) -> AsyncGenerator[bytes, None]:
    yield b": pflab\n\n"
    silent_s = 0.0
    reader = _Reader(lab_now, position, lab_now().history, words=words)
    history = reader.history.encode()
    while (fresh := await reader.fresh()) is not None:
        before = reader.position
        for event, line in fresh:
            name = b"" if words else b"event: %b\n" % str(event.__struct_config__.tag).encode()
            yield b"id: %d@%b\n%bdata: %b\n\n" % (reader.position, history, name, line)
        is_silent = reader.position == before
        silent_s = silent_s + LOOK_S if is_silent else 0.0
        if silent_s >= ALIVE_S:
            silent_s = 0.0
            yield b": alive\n\n"
        await asyncio.sleep(LOOK_S if is_silent else 0)


async def _of_labs(lab_at: LabAt, positions: list[str]) -> AsyncGenerator[bytes, None]:
    yield b": pflab\n\n"
    silent_s = 0.0
    with ExitStack() as uses:
        readers: dict[bytes, _Reader] = {}
        for position in positions:
            number, _, stream_name = position.partition("@")
            history, _, path = stream_name.rpartition("@")
            readers[stream_name.encode()] = _Reader(
                uses.enter_context(lab_at(path)), seq_of(number) or 0, history, words=True
            )
        while readers:
            is_silent = True
            for name, reader in [*readers.items()]:
                fresh = await reader.fresh()
                if fresh is None:
                    del readers[name]
                    yield b"event: ended\ndata: %b\n\n" % name
                    continue
                for _, line in fresh:
                    is_silent = False
                    yield b"id: %d\nevent: %b\ndata: %b\n\n" % (reader.position, name, line)
            silent_s = silent_s + LOOK_S if is_silent else 0.0
            if silent_s >= ALIVE_S:
                silent_s = 0.0
                yield b": alive\n\n"
            await asyncio.sleep(LOOK_S if is_silent else 0)
