"""A lesson that is played in a lab from beat to beat: each text, question and answer is a beat, and the lab waits there.

| status | what happens | `next` |
|---|---|---|
| playing | the steps up to the next beat are played | raises LessonBusy |
| waiting | the lab's clock is paused; learners read | plays on |
| finished | all steps were played | raises LabError |
| failed | a step failed, or pflab has a bug; `failure` says which | raises LabError |

If a `next` names a beat from which the lesson has already played on, it has no effect. So a request that arrives
twice plays on once.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from node.errors import Misuse, bug_line
from pflab.errors import LabError
from pflab.lessons.highlight import highlight
from pflab.scenario.lesson import Narration, Quiz
from pflab.scenario.runner import play_scenario
from pflab.scenario.session import Play
from pflab.terms.event_words import words
from topology.problems import one_of, quoted
from traces import events as recorded
from traces.labtime import format_instant

if TYPE_CHECKING:
    from pflab.lab.served_lab import ServedLab
    from pflab.scenario.load import Scenario, Step
    from pflab.terms.verdict import Verdict

BY_PEOPLE: Final = (
    recorded.BackupRestored,
    recorded.ChangeMade,
    recorded.ChangesResent,
    recorded.ClockChanged,
    recorded.ContentResumed,
    recorded.ContentSuspended,
    recorded.FaultHealed,
    recorded.FaultInjected,
    recorded.NodeStarted,
    recorded.NodeStopped,
    recorded.SettingValue,
    recorded.StatusOrdered,
    recorded.StoreDeleted,
)
"""The events that happen while the clock stands only because people ordered something."""

MOST_CHANGES: Final = 5
"""The largest number of changes that are told for one text."""

log = logging.getLogger("pflab.lessons")


class LessonBusy(LabError):
    """The lesson plays on already, because of an earlier request."""


class LessonStatus(StrEnum):
    PLAYING = "playing"
    WAITING = "waiting"
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(slots=True, kw_only=True)
class Beat:
    """A text, a question or the answer of a question, and the moment at which it was told.

    kind       say, question or reveal
    at         the lab time
    seq        how many events the record of the lab had
    choices    of a question
    given      the choice that was given as the answer of a question; None for no answer
    question   of a reveal: the index of its question
    answer, because  of a question that was answered or revealed, and of its reveal
    highlight  what a page highlights meanwhile (`pflab.lessons.highlight`)
    notes      what only the presenter sees
    changes    what people have changed in the lab between this text and the next one, in words
    """

    index: int
    kind: str
    text: str
    at: str
    seq: int
    choices: tuple[str, ...] = ()
    given: str | None = None
    question: int | None = None
    answer: str | None = None
    because: str | None = None
    highlight: dict[str, Any] | None = None
    notes: str | None = None
    changes: tuple[str, ...] = ()


class PlayedLesson:
    """One lesson in one lab, which is up and has just started."""

    def __init__(self, name: str, lesson: Scenario, lab: ServedLab) -> None:
        self.name = name
        self.status = LessonStatus.PLAYING
        self.beats: list[Beat] = []
        self._lesson = lesson
        self._lab = lab
        self._session = Play(lab)
        self._failure: list[str] = []
        self._verdict: Verdict | None = None
        self._asked: tuple[int, Quiz] | None = None
        """The last question that is not revealed yet, with the index of its beat."""
        self._still = asyncio.Event()
        """Set while the lesson does not play."""
        self._go = asyncio.Event()
        lab.lesson = self.state
        self._playing: asyncio.Task[None] | None = None

    @property
    def is_playing(self) -> bool:
        return self.status is LessonStatus.PLAYING

    async def begin(self) -> None:
        """Play to the first beat."""
        self._playing = asyncio.create_task(self._play(), name=f"lesson {self.name}")
        await self._still.wait()

    async def next(self, answer: str | None = None, *, seen: int | None = None) -> None:
        """Play to the next beat, or to the end.

        answer  the choice that learners give to the question of the present beat
        seen    the index of the beat from which to play on. If the lesson has played on from it already, only wait until it
                does not play.

        Raises LessonBusy if the lesson plays already, LabError if it has ended, and Misuse for an answer that is not a choice,
        or if the beat `seen` has not been shown yet.
        """
        if seen is not None:
            self.check_told(seen)
        if seen is not None and (self.status is not LessonStatus.WAITING or seen < len(self.beats) - 1):
            await self._still.wait()
            return
        if self.status is LessonStatus.PLAYING:
            raise LessonBusy("the lesson is playing already; wait until it reaches the next text")
        if self.status is not LessonStatus.WAITING:
            raise LabError("the lesson has ended; begin it again with POST /lessons")
        if answer is not None:
            self._answer(self.beats[-1], answer)
        self.beats[-1].changes = self._changes(self.beats[-1].seq)
        self.status = LessonStatus.PLAYING
        self._still.clear()
        self._go.set()
        await self._still.wait()

    def check_told(self, text: int) -> None:
        """Raise Misuse if the text with this index has not been shown yet."""
        if text >= len(self.beats):
            raise Misuse(f"text {text} has not been shown yet; the last text is {len(self.beats) - 1}")

    async def follow(self, earlier: PlayedLesson, text: int) -> None:
        """Play on to the text with this index, or as far as the lesson goes, with the answers of an earlier lesson."""
        while self.status is LessonStatus.WAITING:
            beat, before = self.beats[-1], earlier.beats[len(self.beats) - 1]
            answer = before.given if before.given in beat.choices else None
            if len(self.beats) > text:
                if answer is not None:
                    self._answer(beat, answer)
                return
            await self.next(answer)

    async def end(self) -> None:
        """Stop playing. A request that waits for the next text is answered."""
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.gather(self._playing, return_exceptions=True)
        if self.status in {LessonStatus.PLAYING, LessonStatus.WAITING}:
            self.status, self._failure = LessonStatus.FAILED, ["the lesson was ended before its last text"]
        self._still.set()

    def state(self) -> dict[str, Any]:
        """Return the state of the lesson as JSON values."""
        lesson, verdict = self._lesson, self._verdict
        return {
            "name": self.name,
            "title": lesson.title,
            "introduction": lesson.lesson,
            "look": lesson.look,
            "learn": lesson.course and lesson.course.learn,
            "status": self.status.value,
            "beats": [asdict(beat) for beat in self.beats],
            "beats_total": sum(_is_beat(step) for step in lesson.steps),
            "failure": self._failure or None,
            "verdict": verdict and {**verdict.as_document(), "in_words": verdict.in_words()},
        }

    # --- playing

    async def _play(self) -> None:
        try:
            result = await play_scenario(self._lesson, self._session, watch=self._tell)
            self._verdict = self._session.verdict()
            if result.failure is not None:
                self._failure = result.failure.in_words()
        except Exception as error:
            log.exception("lesson %s", self.name)
            self._failure = [bug_line(error)]
        self.status = LessonStatus.FAILED if self._failure else LessonStatus.FINISHED
        self._still.set()

    async def _tell(self, step: Step, play: Play) -> None:
        """Add a beat and wait for `next`, if the step is one. The runner calls this as its `StepWatcher`."""
        if not _is_beat(step):
            return
        self.beats.append(self._beat(step, play))
        self.status = LessonStatus.WAITING
        self._go.clear()
        self._still.set()
        await self._go.wait()

    def _beat(self, step: Step, play: Play) -> Beat:
        told: Narration | Quiz = step.args
        beat = Beat(
            index=len(self.beats),
            kind=step.verb,
            text=told.ask if isinstance(told, Quiz) else told.text,
            at=format_instant(self._lab.now),
            seq=self._lab.record.count,
            highlight=None if told.show is None else highlight(told.show, play),
            notes=told.notes,
        )
        if isinstance(told, Quiz):
            beat.kind, beat.choices = "question", told.choices
            self._asked = (beat.index, told)
        elif step.verb == "reveal" and self._asked is not None:
            beat.question, quiz = self._asked
            self._asked = None
            for each in (beat, self.beats[beat.question]):
                each.answer, each.because = quiz.answer, quiz.because
        return beat

    def _changes(self, since: int) -> tuple[str, ...]:
        """Return what people have changed since there were so many events. The lesson changes nothing while it waits."""
        self._session.observe()
        events = [event for event in self._lab.record.events(since) if isinstance(event, BY_PEOPLE)]
        return tuple(f"{event.node} {words(event, self._session.names)}" for event in events[:MOST_CHANGES])

    def _answer(self, beat: Beat, answer: str) -> None:
        if self._asked is None or self._asked[0] != beat.index:
            raise Misuse("the present text is not a question; send no answer")
        quiz = self._asked[1]
        if answer not in quiz.choices:
            raise Misuse(f"{quoted(answer)} is not a choice; {one_of(quiz.choices)}")
        beat.given, beat.answer, beat.because = answer, quiz.answer, quiz.because


def _is_beat(step: Step) -> bool:
    return isinstance(step.args, Narration | Quiz)
