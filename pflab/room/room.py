"""A class: the common lesson, the step at which it stands, the pupils, and their votes.

| state | what pupils see | what the trainer does next |
|---|---|---|
| waiting | no lesson has begun, or the last one was ended | begins a lesson |
| playing | the last text, while the lab plays to the next one | waits; the state becomes text, question or ended |
| text | a text | plays on |
| question | a question; each pupil may vote, and vote again | shows the votes, or plays on |
| shown | the question with the votes as bars; nobody votes any more | plays on |
| ended | that the lesson has ended | begins a lesson |

The step of a lesson is the index of its newest text. A vote is kept by question and pupil, so a lesson that goes back to an
earlier text keeps the votes before it. The answer of a question is told with its reveal, and so are the votes if the trainer
has not shown them. What must never happen: pupils get the notes, or votes before that.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from node.api.access import carries
from node.api.access.tokens import bearer
from node.errors import Misuse
from pflab.errors import LabError, NotThere
from pflab.lessons.classroom import Classroom, LessonUnknown, NoRoom, OpenLesson
from pflab.lessons.played_lesson import Beat, LessonStatus
from pflab.room.broadcast import Broadcast, cut, line_of, lines, new_queue
from pflab.room.pupils import SECRET_BYTES, Pupil, Pupils
from pflab.simulation.simulated_lab import SimulatedLab
from topology.problems import counted, one_of, quoted

MOST_FORKS: Final = 8
"""How many pupils may have labs on this server. All are simulated by this process, which also serves the class (decision)."""

COMMON_LABS: Final = 2
"""The labs beside those of pupils: that of the lesson, and that of the next one, which begins before the other ends."""

COLLECT_S: Final = 0.2
"""Real time for which votes and joins are collected before the pages are told: three hundred votes are not three hundred
messages to three hundred pages."""

LOOK_S: Final = 2.0
"""Real time between two looks at a lab whose clock runs: its events come without a request."""

KEY_BYTES: Final = 12
"""The random bytes of the key by which pupils join: an address that people may type."""

MOST_TRAINER_STREAMS: Final = 16
"""How many streams the trainer's windows may have."""


class NotOfTheClass(LabError):
    """A request carries no key or secret of this class, or a wrong one."""


class NotTheTrainer(LabError):
    """A request that only the trainer may make."""


class NoOwnLab(NotThere):
    """A pupil has no lab of its own on this server."""


class NoSavedLab(NotThere):
    """There is no saved lab at this text."""


class Room:
    """One class.

    classroom: plays the lessons. It must have room for `forks` and COMMON_LABS.
    forks: how many pupils may have labs here.
    tab: the folder with the lab in a browser tab, in which pupils' own labs then run; None if there is none.
    monotonic: returns real time in seconds.
    """

    def __init__(
        self,
        classroom: Classroom,
        *,
        forks: int = MOST_FORKS,
        tab: Path | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.classroom = classroom
        self.tab: Final = tab
        self.trainer_token: Final = secrets.token_urlsafe(SECRET_BYTES)
        self.key: Final = secrets.token_urlsafe(KEY_BYTES)
        self.invitation = ""
        """The address that pupils open."""
        self.pupils = Pupils(monotonic)
        self._forks = forks
        self._common: str | None = None
        """The id of the common lesson."""
        self._held: OpenLesson | None = None
        self._hold = ExitStack()
        """Keeps the common lesson in use, so that it never makes room."""
        self._votes: dict[int, dict[str, str]] = {}
        """The votes by the index of the question, and by pupil."""
        self._projected: Pupil | None = None
        """The pupil whose lab the projector shows in place of the common one."""
        self._shown: set[int] = set()
        """The questions whose votes the trainer has shown."""
        self._number = 0
        self._view: Mapping[str, Any] = {}
        self._all = Broadcast()
        self._trainers = Broadcast()
        self._telling: asyncio.TimerHandle | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._beginning = asyncio.Lock()
        self.follow()

    # --- who asks

    def is_trainer(self, authorization: str) -> bool:
        return carries(authorization, self.trainer_token)

    def check_trainer(self, authorization: str) -> None:
        """Raise NotTheTrainer if a request does not carry the trainer's token."""
        if not self.is_trainer(authorization):
            raise NotTheTrainer(
                "only the trainer can do this; open the address that pflab class has printed for the trainer"
            )

    def check_key(self, authorization: str) -> None:
        """Raise NotOfTheClass if a request does not carry the key of the class."""
        if not carries(authorization, self.key) and not self.is_trainer(authorization):
            raise NotOfTheClass("this is not the address of this class; open the one that the trainer shows")

    def pupil_of(self, authorization: str) -> Pupil:
        """Return the pupil whose secret a request carries. Raises NotOfTheClass."""
        pupil = self.pupils.with_secret(bearer(authorization))
        if pupil is None:
            raise NotOfTheClass("the class does not know you; join it with the address that the trainer shows")
        return pupil

    # --- the lesson

    @property
    def lesson(self) -> OpenLesson | None:
        """The common lesson, or None if there is none."""
        return None if self._common is None else self.classroom.lesson(self._common)

    async def begin(self, name: str) -> None:
        """Begin another common lesson, which the projector shows too, and end the one before it. Raises LessonUnknown and
        NoRoom."""
        async with self._beginning:
            opened = await self.classroom.begin(name)
            before, self._common = self._common, opened.id
            self._votes.clear()
            self._shown.clear()
            self._projected = None
            self.follow()
            if before is not None and self.classroom.lesson(before) is not None:
                await self.classroom.end(before)

    async def end(self) -> None:
        """End the common lesson. Pupils keep their own labs. Raises LessonUnknown."""
        await self.classroom.end(self._present().id)
        self.follow()

    async def play_on(self, answer: str | None, seen: int | None) -> None:
        """Play the common lesson to the next text. Raises what `PlayedLesson.next` raises."""
        playing = asyncio.ensure_future(self._present().played.next(answer, seen=seen))
        await asyncio.sleep(0)  # until it plays
        self.follow()
        try:
            await playing
        finally:
            self.follow()

    async def again(self, text: int) -> None:
        """Go back to a text, or begin it again. If it is a question, it is open again. Raises what `Classroom.again` raises."""
        async with self._beginning:  # who takes the lab meanwhile gets that of the earlier text
            await self.classroom.again(self._present().id, text)
        self._shown = {question for question in self._shown if question < text}
        self.follow()

    def follow(self) -> None:
        """Tell all pages where the common lesson stands, if this has changed."""
        lesson = self.lesson
        if lesson is not self._held:
            self._hold.close()
            self._held = lesson
            if lesson is not None:
                self._hold.enter_context(self.classroom.using(lesson.id))
        last = -1 if lesson is None else len(lesson.played.beats) - 1
        for known in (*self._votes,):
            if known > last:
                del self._votes[known]
        self._shown = {question for question in self._shown if question <= last}
        self._tell_soon()
        view = self._seen_by_all()
        if view == self._view:
            return
        self._view = view
        self._number += 1
        for pupil in self.pupils:
            if pupil.stream is not None:
                pupil.step = view["step"]
        self._all.send("step", self._number, view)

    def _present(self) -> OpenLesson:
        lesson = self.lesson
        if lesson is None:
            raise LessonUnknown("no lesson is open; begin one with POST /room/lesson")
        return lesson

    # --- pupils

    async def join(self, name: str) -> tuple[Pupil, str]:
        """Add a pupil, and return it with its secret. Raises Misuse and ClassFull."""
        while (away := self.pupils.longest_away()) is not None:  # others may join while its lab ends
            await self.remove(away.id)
        joined = self.pupils.join(name)
        self._tell_soon()
        return joined

    async def remove(self, id_: str) -> None:
        """Remove a pupil with its votes, its stream and its lab. Raises PupilUnknown."""
        pupil = self.pupils.remove(id_)
        for votes in self._votes.values():
            votes.pop(pupil.id, None)
        if pupil.stream is not None:
            cut(pupil.stream)
        await self._end_lab(pupil)
        self.follow()
        self._tell_soon()

    def vote(self, pupil: Pupil, step: int, choice: str, lab: str | None = None) -> None:
        """Keep the vote of a pupil in place of an earlier one. Raises Misuse if it fits no open question.

        lab: the path of the common lab that the pupil sees, so that a late vote does not count in the next lesson.
        """
        lesson = self.lesson
        is_other = step != self._view["step"] or (lab is not None and lab != self._view["lab"])
        if self._view["state"] != "question" or is_other or lesson is None:
            raise Misuse("nobody can vote on this step now; the question is over, or has not been asked")
        choices = lesson.played.beats[step].choices
        if choice not in choices:
            raise Misuse(f"{quoted(choice)} is not a choice; {one_of(choices)}")
        self._votes.setdefault(step, {})[pupil.id] = choice
        self._tell_soon()

    def show_votes(self, step: int) -> None:
        """Show the votes on the question at which the lesson stands. Raises Misuse if it stands at none."""
        if self._view["state"] not in {"question", "shown"} or step != self._view["step"]:
            raise Misuse("the lesson does not stand at this question; show the votes while it is asked")
        self._shown.add(step)
        self.follow()

    def _tally(self, question: Beat) -> dict[str, int]:
        counts = Counter(self._votes.get(question.index, {}).values())
        return {choice: counts[choice] for choice in question.choices}

    # --- labs of pupils

    def saved_lab(self) -> bytes:
        """Return the lab of the present text as a lab file. Raises NoSavedLab at the first text."""
        lesson = self._present()
        saved = lesson.played.saved_text(len(lesson.played.beats) - 1) if lesson.played.beats else None
        if saved is None:
            raise NoSavedLab("the lesson has just begun, so its lab is new; begin the lesson to have the same lab")
        return saved.lab

    async def fork(self, pupil: Pupil) -> OpenLesson:
        """Begin a lab that only this pupil uses, and that is what the common lab was at the present text. The lab that the
        pupil had before ends. Raises NoRoom if too many pupils have labs."""
        async with self._beginning:
            lesson = self._present()
            others = [other for other in self.pupils if other is not pupil and self.lab_of(other) is not None]
            if len(others) >= self._forks:
                raise NoRoom(
                    f"this server has room for {counted(self._forks, 'lab')} of pupils, which is the limit; "
                    "wait until one ends, or look at the lab of the class"
                )
            await self._end_lab(pupil)
            opened = await self.classroom.fork(lesson.id, max(0, len(lesson.played.beats) - 1))
            pupil.lab, pupil.lab_bytes = opened.id, 0
            if pupil not in self.pupils:  # removed meanwhile
                await self._end_lab(pupil)
                raise NotOfTheClass("the trainer has removed you from the class")
        self._tell_soon()
        return opened

    def lab_of(self, pupil: Pupil) -> str | None:
        """Return the id of a pupil's own lab, or None if it has none, or if it has ended because nobody used it."""
        if pupil.lab is not None and self.classroom.lesson(pupil.lab) is None:
            pupil.lab = None
        return pupil.lab

    def project(self, id_: str | None) -> None:
        """Let the projector show the lab of a pupil in place of the common one; None lets it show the common one again.
        Raises PupilUnknown, and NoOwnLab for a pupil without a lab on this server."""
        pupil = None if id_ is None else self.pupils.with_id(id_)
        if pupil is not None and self.lab_of(pupil) is None:
            raise NoOwnLab(f"{pupil.name} has no lab on this server, so the projector cannot show it")
        self._projected = pupil
        self._tell_soon()

    def _on_projector(self) -> dict[str, Any] | None:
        """Return whose lab the projector shows, as JSON values; None for the common lab."""
        pupil = self._projected
        lab = None if pupil is None or pupil not in self.pupils else self.lab_of(pupil)
        if pupil is None or lab is None:
            self._projected = None
            return None
        opened = self.classroom.lesson(lab)
        events = 0 if opened is None else opened.lab.record.count
        return {"id": pupil.id, "name": pupil.name, "lab": path_of(lab), "events": events}

    async def give_back(self, pupil: Pupil) -> None:
        """End the lab of a pupil."""
        await self._end_lab(pupil)
        self._tell_soon()

    async def _end_lab(self, pupil: Pupil) -> None:
        lab = self.lab_of(pupil)
        pupil.lab = None
        if lab is not None:
            await self.classroom.end(lab)

    # --- what pages see

    def seen_by_pupil(self, pupil: Pupil) -> dict[str, Any]:
        """Return what one pupil sees, as JSON values."""
        pupil.step = self._view["step"]
        question = self._view["question"]
        vote = None if question is None else self._votes.get(question, {}).get(pupil.id)
        you = {
            "id": pupil.id,
            "name": pupil.name,
            "vote": vote,
            "lab": path_of(self.lab_of(pupil)),
            "tab": self.tab is not None,
        }
        return {**self._view, **self._counts(), "you": you}

    def seen_by_trainer(self) -> dict[str, Any]:
        """Return what the trainer sees, as JSON values."""
        lesson = self.lesson
        beats = [] if lesson is None else lesson.played.beats
        beat = beats[-1] if beats else None
        question = beat if beat is not None and beat.kind == "question" else None
        return {
            **self._view,
            **self._counts(),
            "notes": beat and beat.notes,
            "following": lesson and lesson.played.following_text(),
            "votes": question and self._tally(question),
            "list": self.listed(),
            "projected": self._on_projector(),
        }

    def listed(self) -> list[dict[str, Any]]:
        """Return the pupils as the trainer sees them, as JSON values."""
        votes = self._votes.get(self._view["question"], {}) if self._view["question"] is not None else {}
        return [
            {
                "id": pupil.id,
                "name": pupil.name,
                "here": pupil.stream is not None,
                "step": pupil.step,
                "vote": votes.get(pupil.id),
                "lab": path_of(self.lab_of(pupil)),
            }
            for pupil in self.pupils
        ]

    async def stream_of_pupil(self, pupil: Pupil) -> AsyncGenerator[bytes, None]:
        """Yield what a pupil's page learns, from the present state on. The stream that the pupil had before ends."""
        queue = new_queue()
        if pupil.stream is not None:
            cut(pupil.stream)
        pupil.stream = queue
        pupil.step = self._view["step"]
        self._tell_soon()
        try:
            with self._all.reading(queue):
                yield line_of("step", self._number, self._view)
                async for line in lines(queue):
                    yield line
        finally:
            if pupil.stream is queue:
                pupil.stream = None
                self._tell_soon()

    async def stream_of_trainer(self) -> AsyncGenerator[bytes, None]:
        """Yield what a window of the trainer learns, from the present state on."""
        if len(self._trainers) >= MOST_TRAINER_STREAMS:
            return
        queue = new_queue()
        with self._all.reading(queue), self._trainers.reading(queue):
            yield line_of("step", self._number, self._view)
            yield line_of("counts", self._number, self._counts())
            yield line_of("class", self._number, self.seen_by_trainer())
            async for line in lines(queue):
                yield line

    def _counts(self) -> dict[str, int]:
        question = self._view["question"]
        lesson = self.lesson
        return {
            "pupils": len(self.pupils),
            "voted": 0 if question is None else len(self._votes.get(question, {})),
            "events": 0 if lesson is None else lesson.lab.record.count,
        }

    def _tell_soon(self) -> None:
        """Tell all pages how many pupils there are and have voted, and how many events the common lab has, once for all that
        happens within COLLECT_S."""
        if self._telling is None:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                return  # nobody reads before the server runs
            self._telling = loop.call_later(COLLECT_S, self._tell)

    def _tell(self) -> None:
        self._telling = None
        self._number += 1
        self._all.send("counts", self._number, self._counts())
        if self._trainers:
            self._trainers.send("class", self._number, self.seen_by_trainer())
        self._look_again()

    def _look_again(self) -> None:
        """Look at the labs that the class sees as long as the clock of one runs."""
        watched = self._watched()
        if self._looking is None and any(lab.rate for lab in watched):
            counts = [lab.record.count for lab in watched]
            self._looking = asyncio.get_running_loop().call_later(LOOK_S, self._look, counts)

    def _look(self, before: list[int]) -> None:
        """Tell all pages if the labs have more events than before."""
        self._looking = None
        if [lab.record.count for lab in self._watched()] == before:
            self._look_again()
        else:
            self._tell_soon()

    def _watched(self) -> list[SimulatedLab]:
        """Return the labs whose maps the class sees."""
        ids = (self._common, None if self._projected is None else self._projected.lab)
        return [opened.lab for id_ in ids if id_ is not None and (opened := self.classroom.lesson(id_)) is not None]

    def _seen_by_all(self) -> dict[str, Any]:
        """Return what everybody sees, as JSON values: never notes, and no answer and no votes before they are shown."""
        lesson = self.lesson
        if lesson is None:
            return {**_NOTHING, "state": "waiting"}
        played = lesson.played
        state = played.state()
        view = {**_NOTHING, "lesson": played.name, "title": state["title"], "lab": path_of(lesson.id)}
        beat = played.beats[-1] if played.beats else None
        if beat is None:
            return {**view, "state": "playing"}
        view |= {
            "state": _STATES.get(played.status, "text"),
            "step": beat.index,
            "steps": max(state["beats_total"], beat.index + 1),
            "kind": beat.kind,
            "text": beat.text,
            "seq": beat.seq,
            "highlight": beat.highlight,
            "introduction": state["introduction"] if beat.index == 0 else None,
        }
        if beat.kind == "question":
            shown = beat.index in self._shown
            if view["state"] == "text":
                view["state"] = "shown" if shown else "question"
            view |= {"question": beat.index, "choices": beat.choices, "tally": self._tally(beat) if shown else None}
        if beat.kind == "reveal" and beat.question is not None:
            question = played.beats[beat.question]
            view |= {
                "question": question.index,
                "asked": question.text,
                "choices": question.choices,
                "tally": self._tally(question),
                "answer": beat.answer,
                "because": beat.because,
            }
        return view

    async def close(self) -> None:
        """End all streams, and all lessons and labs."""
        for timer in (self._telling, self._looking):
            if timer is not None:
                timer.cancel()
        self._all.close()
        self._trainers.close()
        self._hold.close()
        self._held = self._common = None
        await self.classroom.close()


_NOTHING: Final[Mapping[str, Any]] = dict.fromkeys(
    (
        *("state", "lesson", "title", "introduction", "lab"),
        *("step", "steps", "kind", "text", "seq", "highlight"),
        *("question", "asked", "choices", "tally", "answer", "because"),
    )
)
"""What everybody sees, by the names of its fields."""

_STATES: Final = {
    LessonStatus.PLAYING: "playing",
    LessonStatus.FINISHED: "ended",
    LessonStatus.FAILED: "ended",
}


def path_of(lesson_id: str | None) -> str | None:
    """Return the path below which a lab is served."""
    return None if lesson_id is None else f"/lessons/{lesson_id}"
