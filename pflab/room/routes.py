"""A class over HTTP, below /room: what pupils see and send, and what the trainer does.

Every request carries the key of the class (to join), the secret of a pupil, or the trainer's token, in the header field
Authorization. `pflab.room.access` decides about everything else that the server has.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final

from msgspec import Meta

from node.api.asgi import Request, Response
from node.api.events import streamed
from node.api.routing.openapi import refusals
from node.api.routing.parameters import Header
from node.api.routing.reading import Body
from node.api.routing.routes import Routes
from node.api.values import json_response, shown
from pflab.room.access import cookie_of
from pflab.room.pupils import MOST_LETTERS
from pflab.room.qr import qr_svg
from pflab.room.room import Room, path_of
from topology.arguments import Line

Who = Annotated[
    str,
    Header("Authorization"),
    Meta(max_length=200, description="Bearer, and the key of the class, a pupil's secret or the trainer's token."),
]

Id = Annotated[str, Meta(max_length=100, description="The id of a pupil.")]

Step = Annotated[int, Meta(ge=0, examples=[3])]

_LAB_FILE: Final = "application/x-pflab-lab"

_SEEN: Final = {
    "state": "question",
    "lesson": "lost-mail",
    "title": "A mail is lost",
    "step": 3,
    "steps": 9,
    "kind": "question",
    "text": "When does B notice?",
    "question": 3,
    "choices": ["at once", "at the next status"],
    "tally": None,
    "pupils": 28,
    "voted": 11,
    "lab": "/lessons/28c9551c89e0048e",
    "you": {"id": "5f0c21aa", "name": "Kim", "vote": "at once", "lab": None, "tab": False},
}


class Join(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=MOST_LETTERS, examples=["Kim"])]


class Vote(Body, frozen=True, kw_only=True):
    """step: the question, by its step.
    choice: one of its choices.
    lab: the path of the common lab in what the pupil sees, so that a vote that comes late is not one on the next lesson."""

    step: Step
    choice: Annotated[Line, Meta(examples=["at the next status"])]
    lab: Annotated[Line, Meta(examples=["/lessons/28c9551c89e0048e"])] | None = None


class Named(Body, frozen=True, kw_only=True):
    name: Annotated[Line, Meta(examples=["lost-mail"])]


class PlayOn(Body, frozen=True, kw_only=True):
    """answer: the choice of the class, if the lesson stands at a question.
    seen: the step from which to play on, so that a repeated request has no effect."""

    answer: Annotated[Line | None, Meta(examples=["at the next status"])] = None
    seen: Step | None = None


class AtStep(Body, frozen=True, kw_only=True):
    """step: one that was told."""

    step: Step


class OnProjector(Body, frozen=True, kw_only=True):
    """pupil: the id of the pupil whose lab is shown; null shows the common lab again."""

    pupil: Annotated[str, Meta(max_length=100, examples=["5f0c21aa"])] | None


ROOM: Final = Routes[Room]("/room", tag="class", answers=refusals(401, 403))
"""One class."""


@ROOM.get("", answers={200: shown(dict[str, Any], _SEEN, "What the caller sees.")})
async def seen(room: Room, who: Who = "") -> Response:
    """Return what the caller sees: the lesson, its step, the question and its choices, the caller's own vote, and the path of
    the lab; `tab` says whether the server has the lab in a browser tab, at /tab/. Pupils get no notes; `tally`, the votes by
    choice, is null until the trainer shows it or the answer is told. The trainer gets `notes`, `following`, `votes`, the
    `list` of pupils and whose lab is `projected` too."""
    return json_response(room.seen_by_trainer() if room.is_trainer(who) else room.seen_by_pupil(room.pupil_of(who)))


@ROOM.get("/stream", answers={200: {"content": {"text/event-stream": {"example": "id: 7\nevent: step\ndata: {}\n\n"}}}})
async def stream(room: Room, who: Who = "") -> Response:
    """Stream what changes, as server-sent events: `step` has what everybody sees, `counts` how many pupils there are and have
    voted; the trainer gets `class`, with all that the trainer sees. The stream begins with the present. A pupil has one
    stream; a reader that is too slow is cut off and may ask again."""
    if room.is_trainer(who):
        return streamed(room.stream_of_trainer())
    return streamed(room.stream_of_pupil(room.pupil_of(who)))


@ROOM.post("/pupils", status=HTTPStatus.CREATED)
async def join(room: Room, wanted: Join, who: Who = "") -> Response:
    """Join the class with its key. The answer has the secret that the caller's later requests carry. A name that is taken gets
    a number."""
    room.check_key(who)
    pupil, secret = await room.join(wanted.name)
    return json_response({"id": pupil.id, "name": pupil.name, "secret": secret}, HTTPStatus.CREATED)


@ROOM.post("/votes", status=HTTPStatus.NO_CONTENT)
async def vote(room: Room, wanted: Vote, who: Who = "") -> Response:
    """Vote on the question at which the lesson stands, in place of an earlier vote."""
    room.vote(room.pupil_of(who), wanted.step, wanted.choice, wanted.lab)
    return Response(status=HTTPStatus.NO_CONTENT)


@ROOM.get("/lab", answers={**refusals(404), 200: {"content": {_LAB_FILE: {}}}})
async def lab(room: Room, who: Who = "") -> Response:
    """Return the lab of the present text as a lab file, for pflab up --from or a lab in a browser tab. Answers 404 at the first
    text: the lesson itself, begun there, has the same lab."""
    if not room.is_trainer(who):
        room.pupil_of(who)
    headers = {"Content-Disposition": 'attachment; filename="class.pflab"'}
    return Response(room.saved_lab(), media_type=_LAB_FILE, headers=headers)


@ROOM.post("/forks", status=HTTPStatus.CREATED)
async def fork(room: Room, who: Who = "") -> Response:
    """Begin a lab on this server that only the caller uses, and that is what the common lab was at the present text. It is
    served below `path`. Answers 409 if too many pupils have such a lab."""
    opened = await room.fork(room.pupil_of(who))
    return json_response({"path": path_of(opened.id)}, HTTPStatus.CREATED)


@ROOM.delete("/forks", status=HTTPStatus.NO_CONTENT)
async def give_back(room: Room, who: Who = "") -> Response:
    """End the caller's own lab."""
    await room.give_back(room.pupil_of(who))
    return Response(status=HTTPStatus.NO_CONTENT)


@ROOM.post("/window", status=HTTPStatus.NO_CONTENT)
async def window(room: Room, request: Request, who: Who = "") -> Response:
    """Let the pages that this browser opens reach labs as the caller: the answer sets a cookie."""
    if not room.is_trainer(who):
        room.pupil_of(who)
    return Response(status=HTTPStatus.NO_CONTENT, headers={"Set-Cookie": cookie_of(room, who, request)})


# --- the trainer


@ROOM.get("/pupils")
async def pupils(room: Room, who: Who = "") -> Response:
    """Return the pupils: whether a page of theirs is open, the last step that they have seen, their vote, and the path of their
    own lab."""
    room.check_trainer(who)
    return json_response(room.listed())


@ROOM.delete("/pupils/{id}", status=HTTPStatus.NO_CONTENT)
async def remove(room: Room, id: Id, who: Who = "") -> Response:  # noqa: A002 - the name of the parameter in the path
    """Remove a pupil, with votes and lab. Another pupil may join with the same name."""
    room.check_trainer(who)
    await room.remove(id)
    return Response(status=HTTPStatus.NO_CONTENT)


@ROOM.post("/lesson", answers=refusals(404))
async def begin(room: Room, wanted: Named, who: Who = "") -> Response:
    """Begin a lesson for the class, and end the one before it."""
    room.check_trainer(who)
    await room.begin(wanted.name)
    return json_response(room.seen_by_trainer())


@ROOM.delete("/lesson", status=HTTPStatus.NO_CONTENT)
async def end(room: Room, who: Who = "") -> Response:
    """End the lesson and its lab. Pupils keep their own labs."""
    room.check_trainer(who)
    await room.end()
    return Response(status=HTTPStatus.NO_CONTENT)


@ROOM.post("/next")
async def play_on(room: Room, wanted: PlayOn | None = None, who: Who = "") -> Response:
    """Play the lesson to its next text, or to its end. With `seen`, a repeated request has no effect."""
    room.check_trainer(who)
    wanted = wanted or PlayOn()
    await room.play_on(wanted.answer, wanted.seen)
    return json_response(room.seen_by_trainer())


@ROOM.post("/again")
async def again(room: Room, wanted: AtStep, who: Who = "") -> Response:
    """Go back to a step that was told, in a new lab. The votes before it are kept."""
    room.check_trainer(who)
    await room.again(wanted.step)
    return json_response(room.seen_by_trainer())


@ROOM.post("/tally")
async def show_votes(room: Room, wanted: AtStep, who: Who = "") -> Response:
    """Show everybody the votes on the question at which the lesson stands. After that nobody votes on it."""
    room.check_trainer(who)
    room.show_votes(wanted.step)
    return json_response(room.seen_by_trainer())


@ROOM.post("/projected", answers=refusals(404))
async def project(room: Room, wanted: OnProjector, who: Who = "") -> Response:
    """Show the lab of a pupil on the projector, as it goes on, in place of the common lab. The pupil's lab must be on this
    server."""
    room.check_trainer(who)
    room.project(wanted.pupil)
    return json_response(room.seen_by_trainer())


@ROOM.get("/invitation")
async def invitation(room: Room, who: Who = "") -> Response:
    """Return the address that pupils open, and its QR code as an SVG picture; null if the extra `class` is not installed."""
    room.check_trainer(who)
    return json_response({"address": room.invitation, "qr": qr_svg(room.invitation)})
