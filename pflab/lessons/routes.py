"""Lessons over HTTP: the course, lessons that are played, and the lab of each below /lessons/{id}/.

The lab of a lesson has the whole API of a lab, such as /lessons/{id}/lab/stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import quote

from msgspec import Meta

from node.api.asgi import App, Receive, Response, Scope, Send
from node.api.routing.openapi import links, refusals
from node.api.routing.reading import Body
from node.api.routing.routes import Routes
from node.api.values import json_response, not_supported, problem, shown
from pflab.lessons.classroom import Classroom, LessonUnknown, OpenLesson
from pflab.server.extension import Extension
from topology.arguments import Line

if TYPE_CHECKING:
    from pflab.lessons.course import Lessons

PATH: Final = "/lessons"

Id = Annotated[str, Meta(max_length=100, description="The id of a lesson that is played.")]


_BEGUN: Final[dict[str, Any]] = {
    **shown(dict[str, str], {"id": "28c9551c89e0048e", "path": "/lessons/28c9551c89e0048e/"}, "Where the lesson is."),
    "links": links(
        {"id": "$response.body#/id"}, "GET /lessons/{id}/lesson", "POST /lessons/{id}/next", "DELETE /lessons/{id}"
    ),
}


class Begin(Body, frozen=True, kw_only=True):
    name: Annotated[Line, Meta(examples=["lost-mail"])]


class Next(Body, frozen=True, kw_only=True):
    """answer: the choice that the learners give, if the present text is a question.
    seen: the index of the text from which to play on, so that a repeated request has no effect."""

    answer: Annotated[Line | None, Meta(examples=["after 6 hours"])] = None
    seen: Annotated[int, Meta(ge=0)] | None = None


class Again(Body, frozen=True, kw_only=True):
    """text: the index of a text that was told."""

    text: Annotated[int, Meta(ge=0, examples=[3])]


def extension_of(classroom: Classroom) -> Extension:
    """Return what serves the lessons of a classroom. It closes the classroom."""
    return Extension(
        LESSONS.serving(lambda: classroom),
        PATH,
        _labs(classroom),
        {LessonUnknown: HTTPStatus.NOT_FOUND},
        lambda path: classroom.following(path.removeprefix(f"{PATH}/")),
        classroom.close,
    )


LESSONS: Final = Routes[Classroom](PATH, tag="lessons")
"""The lessons of a classroom."""


@LESSONS.get("")
async def course(classroom: Classroom) -> Response:
    """Return the lessons in the order of the course. `played` has the labs in which a lesson is played at present, and how many
    of its texts were told there."""
    lessons = classroom.lessons()
    return json_response([_listed(name, lessons, classroom) for name in lessons.by_name])


@LESSONS.post("", status=HTTPStatus.CREATED, answers={**refusals(404), HTTPStatus.CREATED: _BEGUN})
async def begin(classroom: Classroom, wanted: Begin) -> Response:
    """Start a lab for a lesson, and play to the lesson's first text. The lab is served below `path`. It ends when nobody
    has used it for 30 minutes."""
    opened = await classroom.begin(wanted.name)
    return json_response({"id": opened.id, "path": f"{PATH}/{opened.id}/"}, HTTPStatus.CREATED)


@LESSONS.get("/{id}/lesson")
async def state(classroom: Classroom, id: Id) -> Response:  # noqa: A002 - the name of the parameter in the path
    """Return the lesson with the texts, questions and answers so far. `seq` is the number of events that the record of the
    lab had when a text was told."""
    with classroom.using(id) as lesson:
        return json_response(_state(lesson))


@LESSONS.post("/{id}/next")
async def play_on(classroom: Classroom, id: Id, wanted: Next | None = None) -> Response:  # noqa: A002 - as above
    """Play on to the next text, or to the end, and return the lesson then. Answers 409 while another request plays on.
    If the lesson has already played on from the text `seen`, the request has no effect. If the lab was changed so that a step
    fails, the next text is one of the kind `problem`, which says what was changed; play on to go on without the step."""
    wanted = wanted or Next()
    with classroom.using(id) as lesson:
        await lesson.played.next(wanted.answer, seen=wanted.seen)
        return json_response(_state(lesson))


@LESSONS.post("/{id}/again")
async def play_again(classroom: Classroom, id: Id, wanted: Again) -> Response:  # noqa: A002 - as above
    """Go back to a text that was told, and return the lesson then. A new lab takes the place of the old one, and is what that
    lab was at the text, whatever was changed in it since. The first text begins the lesson again. Questions before the text
    keep their answers, and the file of your own lesson is read again."""
    return json_response(_state(await classroom.again(id, wanted.text)))


@LESSONS.get("/{id}", status=HTTPStatus.TEMPORARY_REDIRECT)
async def page(classroom: Classroom, id: Id) -> Response:  # noqa: A002 - as above
    """Lead a browser to the console of the lesson's lab, at /lessons/{id}/."""
    location = f"{PATH}/{quote(id, safe='')}/"
    return Response(status=HTTPStatus.TEMPORARY_REDIRECT, headers={"Location": location})


@LESSONS.delete("/{id}", status=HTTPStatus.NO_CONTENT)
async def end(classroom: Classroom, id: Id) -> Response:  # noqa: A002 - as above
    """End the lesson and its lab."""
    await classroom.end(id)
    return Response(status=HTTPStatus.NO_CONTENT)


def _listed(name: str, lessons: Lessons, classroom: Classroom) -> dict[str, Any]:
    from pflab.lessons.course import minutes_of  # noqa: PLC0415 - the models of steps take long to build

    lesson = lessons.by_name[name]
    course, verbs = lesson.course, [step.verb for step in lesson.steps]
    return {
        "name": name,
        "heading": lessons.heading(name),
        "number": lessons.number(name),
        "level": course and course.level.value,
        "learn": course and course.learn,
        "title": lesson.title,
        "minutes": minutes_of(lesson),
        "texts": verbs.count("say") + verbs.count("reveal"),
        "questions": verbs.count("quiz"),
        "servers": len(lesson.topology.servers),
        "played": [
            {"id": each.id, "path": f"{PATH}/{each.id}/", "told": len(each.played.beats)}
            for each in classroom.played(name)
        ],
    }


def _state(lesson: OpenLesson) -> Mapping[str, Any]:
    return {"id": lesson.id, **lesson.played.state()}


def _labs(classroom: Classroom) -> App:
    """Return the application that passes requests for a lesson's lab to its application."""

    async def labs(scope: Scope, receive: Receive, send: Send) -> None:
        lesson_id, slash, _ = scope["path"].removeprefix(f"{scope['root_path']}/").partition("/")
        if not slash:
            await not_supported(["GET", "DELETE"])(scope, receive, send)
            return
        try:
            with classroom.using(lesson_id) as lesson:
                below = {**scope, "root_path": f"{scope['root_path']}/{lesson_id}"}
                if scope["path"].endswith("/stream"):
                    await _streamed(lesson, below, receive, send)
                else:
                    await lesson.app(below, receive, send)
        except LessonUnknown as error:
            await problem(HTTPStatus.NOT_FOUND, type(error).__name__, str(error))(scope, receive, send)

    return labs


async def _streamed(lesson: OpenLesson, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for a stream. The stream ends when the lesson ends."""
    answering = asyncio.ensure_future(lesson.app(scope, receive, send))
    ending = asyncio.ensure_future(lesson.ended.wait())
    try:
        await asyncio.wait({answering, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        is_answered = answering.done()
        for task in (answering, ending):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await answering
        if not is_answered and ending.done() and not ending.cancelled():
            await send({"type": "http.response.body", "body": b"", "more_body": False})
