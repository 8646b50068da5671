"""A lesson that is played in a lab from beat to beat: each text, question and answer is a beat, and the lab waits there.

| status | what happens | `next` |
|---|---|---|
| playing | the steps up to the next beat are played | raises LessonBusy |
| waiting | the lab's clock is paused; learners read | plays on |
| finished | all steps were played | raises LabError |
| failed | the lesson was ended, or pflab has a bug; `failure` says which | raises LabError |

If a `next` names a beat from which the lesson has already played on, it has no effect. So a request that arrives
twice plays on once.

Learners may change the lab while the lesson waits, so a step can fail. Then there is a beat of the kind `problem`, which says
what they have changed, and `next` goes on without the step. Steps that fail later have the same reason, and are passed over
until learners change something again.

Before each text the lab is saved (`SavedText`). Another lab, which continues from there, tells the text again.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from node.errors import Misuse, bug_line
from pflab.errors import LabError
from pflab.lessons.disturbances import disturbances
from pflab.lessons.highlight import highlight
from pflab.scenario.lesson import Narration, Quiz
from pflab.scenario.runner import play_scenario
from pflab.scenario.session import Play
from pflab.terms.verdict import join_names
from topology.problems import one_of, quoted
from traces.labtime import format_instant

if TYPE_CHECKING:
    from pflab.lab.served_lab import ServedLab
    from pflab.scenario.load import Scenario, Step
    from pflab.scenario.runner import Failure
    from pflab.terms.verdict import Verdict
    from topology.model import Topology
    from traces.events import Event

PROBLEM: Final = "problem"

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

    kind       say, question, reveal or problem
    at         the lab time
    seq        how many events the record of the lab had
    choices    of a question
    given      the choice that was given as the answer of a question; None for no answer
    question   of a reveal: the index of its question
    answer, because  of a question that was answered or revealed, and of its reveal
    highlight  what a page highlights meanwhile (`pflab.lessons.highlight`)
    notes      what only the presenter sees
    changes    what people have changed in the lab between this text and the next one, in words after "you"
    expected   of a problem: what the lesson expected and what it found, as lines
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
    expected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedText:
    """The moment before a text was told.

    lab        the lab, as a lab file
    events     the events of the lab, in its order
    play       the state of the scenario
    done       how many steps were played
    beats      the beats before the text
    asked      the last question that was not revealed, with the index of its beat
    """

    lab: bytes
    events: tuple[Event, ...]
    play: Play
    done: int
    beats: tuple[Beat, ...]
    asked: tuple[int, Quiz] | None


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
        self._saved: dict[int, SavedText] = {}
        """The saved texts, by the indices of their beats. The first is not saved, because the lesson begins with it."""
        self._done = 0
        self._given: str | None = None
        """The answer to the first beat, if it is a question that was answered before."""

    @property
    def is_playing(self) -> bool:
        return self.status is LessonStatus.PLAYING

    async def begin(self) -> None:
        """Play to the first beat, or to the text from which this lesson continues another one."""
        self._playing = asyncio.create_task(self._play(), name=f"lesson {self.name}")
        await self._still.wait()
        if self.beats and self._given in self.beats[-1].choices:
            self._answer(self.beats[-1], self._given)

    @property
    def topology(self) -> Topology:
        return self._lesson.topology

    def saved_text(self, index: int) -> SavedText | None:
        """Return the last text up to this index, as it was saved; None for the first. Raises Misuse if it was not told."""
        self.check_told(index)
        return self._saved.get(max((saved for saved in self._saved if saved <= index), default=-1))

    def continued(self, saved: SavedText, lesson: Scenario, lab: ServedLab) -> PlayedLesson:
        """Return a lesson that continues from a saved text of this one, and begins by telling it again.

        lesson: the lesson, whose texts may have been corrected; it is not used if its steps are others.
        lab: continues the saved lab.
        """
        other = PlayedLesson(self.name, lesson if _is_same(lesson, self._lesson, saved.done) else self._lesson, lab)
        index = len(saved.beats)
        other.beats = [replace(beat) for beat in saved.beats]
        other._saved = {beat: text for beat, text in self._saved.items() if beat <= index}
        other._session, other._done, other._asked = saved.play.continued_in(lab), saved.done, saved.asked
        other._given = self.beats[index].given
        return other

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
        self.beats[-1].changes = self._changes()
        self.status = LessonStatus.PLAYING
        self._still.clear()
        self._go.set()
        await self._still.wait()

    def check_told(self, text: int) -> None:
        """Raise Misuse if the text with this index has not been shown yet."""
        if text >= len(self.beats):
            raise Misuse(f"text {text} has not been shown yet; the last text is {len(self.beats) - 1}")

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
        if self.status is LessonStatus.WAITING:
            self.beats[-1].changes = self._changes()
        problems = sum(beat.kind == PROBLEM for beat in self.beats)
        return {
            "name": self.name,
            "title": lesson.title,
            "introduction": lesson.lesson,
            "look": lesson.look,
            "learn": lesson.course and lesson.course.learn,
            "status": self.status.value,
            "beats": [asdict(beat) for beat in self.beats],
            "beats_total": sum(_is_beat(step) for step in lesson.steps) + problems,
            "failure": self._failure or None,
            "verdict": verdict and {**verdict.as_document(), "in_words": verdict.in_words()},
        }

    def following_text(self) -> str | None:
        """Return what the next text or question says, for those who prepare it; None after the last one."""
        count = sum(beat.kind != PROBLEM for beat in self.beats)
        texts = [
            step.args.ask if isinstance(step.args, Quiz) else step.args.text
            for step in self._lesson.steps
            if _is_beat(step)
        ]
        return texts[count] if count < len(texts) else None

    # --- playing

    async def _play(self) -> None:
        try:
            result = await play_scenario(
                self._lesson, self._session, watch=self._tell, failed=self._tell_problem, done=self._done
            )
            if result.failure is not None:
                await self._tell_problem(result.failure)
            self._verdict = self._session.verdict()
        except Exception as error:
            log.exception("lesson %s", self.name)
            self._failure = [bug_line(error)]
        self.status = LessonStatus.FAILED if self._failure else LessonStatus.FINISHED
        self._still.set()

    async def _tell(self, step: Step, play: Play) -> None:
        """Add a beat and wait for `next`, if the step is one. The runner calls this as its `StepWatcher`."""
        if not _is_beat(step):
            return
        if self.beats and len(self.beats) not in self._saved:
            self._saved[len(self.beats)] = await self._save(step)
        self.beats.append(self._beat(step, play))
        await self._wait()

    async def _tell_problem(self, failure: Failure) -> None:
        """Add a beat that says why a step failed, and wait for `next`; pass over a step if nothing was changed since the last
        problem. The runner calls this as its `FailureWatcher`."""
        last_problem = max((beat.index for beat in self.beats if beat.kind == PROBLEM), default=-1)
        changed = [beat for beat in self.beats if beat.changes]
        if last_problem >= 0 and (not changed or changed[-1].index < last_problem):
            return
        changes = [f"{join_names(beat.changes)} in step {beat.index + 1}" for beat in changed]
        why = f"You {'; '.join(changes)}." if changes else "Nobody has changed the lab."
        pairs = zip(failure.expected, failure.stands, strict=False)
        beat = Beat(
            index=len(self.beats),
            kind=PROBLEM,
            text=f"The lab does not do what the lesson expects here. {why}",
            at=format_instant(self._lab.now),
            seq=self._lab.record.count,
            expected=(
                f"line {failure.line} of the lesson, {failure.verb}" if failure.line else failure.verb,
                *(line for expected, stands in pairs for line in (f"expected {expected}", f"found {stands}")),
            ),
        )
        self.beats.append(beat)
        await self._wait()

    async def _wait(self) -> None:
        """Wait for `next`."""
        self.status = LessonStatus.WAITING
        self._go.clear()
        self._still.set()
        await self._go.wait()

    async def _save(self, step: Step) -> SavedText:
        lab = await self._lab.as_file()
        self._session.observe()
        return SavedText(
            lab=lab,
            events=tuple(self._lab.record.events()),
            play=self._session.continued_in(self._lab),
            done=step.number - 1,
            beats=tuple(replace(beat) for beat in self.beats),
            asked=self._asked,
        )

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

    def _changes(self) -> tuple[str, ...]:
        """Return what people have changed since the last beat. The lesson changes nothing while it waits."""
        self._session.observe()
        return disturbances(self._lab.record.events(), self.beats[-1].seq, self._session.names)

    def _answer(self, beat: Beat, answer: str) -> None:
        if self._asked is None or self._asked[0] != beat.index:
            raise Misuse("the present text is not a question; send no answer")
        quiz = self._asked[1]
        if answer not in quiz.choices:
            raise Misuse(f"{quoted(answer)} is not a choice; {one_of(quiz.choices)}")
        beat.given, beat.answer, beat.because = answer, quiz.answer, quiz.because


def _is_beat(step: Step) -> bool:
    return isinstance(step.args, Narration | Quiz)


def _is_same(lesson: Scenario, other: Scenario, done: int) -> bool:
    """Return whether two lessons do the same in the same organization up to a step, whatever their texts say."""

    def acts(of: Scenario) -> list[tuple[str, Any, int | None]]:
        steps = of.steps[: done + 1]
        return [(step.verb, None if _is_beat(step) else step.args, step.at_us) for step in steps]

    return acts(lesson) == acts(other) and lesson.topology.as_document() == other.topology.as_document()
