"""The classroom: the labs of the lessons that are played at present, each simulated with its own topology and clock.

A lesson's lab is simulated wherever the lesson is played, on a server or in a browser tab. Such a lab can be saved at each text
and continued from there, and nothing happens in between.

A lesson ends when somebody ends it, when nobody has used it for IDLE_S, when it must make room for another, or when the
classroom closes. A lesson is in use while it plays, and while a request to its lab is open, such as a stream of events.

The files of a lesson's lab are in a temporary folder, which is removed when the lesson ends, or with the first lesson of a
later classroom if the process is killed. They are not in the run folder of the user's lab, because programs that read a run
would take them for a part of it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from node.api.asgi import App
from pflab.errors import LabError
from pflab.lessons.lesson_folder import LessonFolder, remove_abandoned
from pflab.runs.continued import continue_run
from pflab.runs.lab_file import unpack
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from pflab.simulation.simulated_lab import SimulatedLab
from pflab.threads import in_thread
from topology.problems import did_you_mean, quoted
from traces.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from pflab.lessons.course import Lessons
    from pflab.lessons.played_lesson import PlayedLesson, SavedText
    from pflab.scenario.load import Scenario
    from topology.model import Topology

MOST_LESSONS: Final = 8
"""The largest number of lessons that are played at once (decision)."""

IDLE_S: Final = 30 * 60.0
"""Real time after which a lesson that nobody uses ends (decision)."""

CHECK_S: Final = 60.0
"""Real time between two searches for lessons that nobody uses."""

ID_BYTES: Final = 8

log = logging.getLogger("pflab.lessons")


class LessonUnknown(Exception):
    """There is no lesson of this name, or no lesson with this id is running."""


class NoRoom(LabError):
    """The limit of lessons in use is reached."""


@dataclass(slots=True, eq=False)
class OpenLesson:
    """A lesson that is played, its lab, and the application that serves the lab.

    used_s: the real time of its last use.
    requests: how many requests for it are open.
    """

    id: str
    played: PlayedLesson
    lab: SimulatedLab
    app: App
    folder: LessonFolder
    used_s: float
    requests: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def in_use(self) -> bool:
        return self.requests > 0 or self.played.is_playing


class Classroom:
    """Plays lessons of a course.

    lessons: returns the lessons. It is called at each use, so that a lesson whose file was corrected begins with
        the new text.
    most: the most lessons that are played together.
    monotonic: returns real time in seconds.
    """

    def __init__(
        self,
        lessons: Callable[[], Lessons],
        *,
        most: int = MOST_LESSONS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lessons = lessons
        self._most = most
        self._monotonic = monotonic
        self._open: dict[str, OpenLesson] = {}
        self._beginning = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None

    def played(self, name: str) -> tuple[OpenLesson, ...]:
        """Return the labs in which a lesson is played at present, the oldest first."""
        return tuple(lesson for lesson in self._open.values() if lesson.played.name == name)

    def lesson(self, lesson_id: str) -> OpenLesson | None:
        """Return the lesson with this id, or None if there is none, as when it has ended."""
        return self._open.get(lesson_id)

    @contextmanager
    def using(self, lesson_id: str) -> Iterator[OpenLesson]:
        """Yield the lesson with this id. It counts as in use inside the block. Raises LessonUnknown."""
        found = self._open.get(lesson_id)
        if found is None:
            raise LessonUnknown(
                "no lesson with this id is running; it may have ended, so begin another with POST /lessons"
            )
        found.requests += 1
        try:
            yield found
        finally:
            found.requests -= 1
            found.used_s = self._monotonic()

    @contextmanager
    def following(self, lesson_id: str) -> Iterator[Callable[[], SimulatedLab | None]]:
        """Yield a function that returns the lab of a lesson, or None if there is no such lesson. The lesson counts as in use
        inside the block."""
        with ExitStack() as uses:
            if lesson_id in self._open:
                uses.enter_context(self.using(lesson_id))
            yield lambda: opened.lab if (opened := self._open.get(lesson_id)) is not None else None

    async def begin(self, name: str) -> OpenLesson:
        """Start the lab of a lesson and play to the first text. If there is no room, the lesson that was unused for longest
        ends.

        Raises LessonUnknown for a name that the course does not have, and NoRoom if all lessons are in use.
        """
        lesson = self._lesson(name)
        async with self._beginning:
            if self._watching is None:
                await in_thread(remove_abandoned)
                self._watching = asyncio.create_task(self._watch(), name="end idle lessons")
            await self._make_room()
            opened = await self._opened(secrets.token_hex(ID_BYTES), name, lesson)
            self._open[opened.id] = opened
        with self.using(opened.id):
            await opened.played.begin()
        return opened

    async def again(self, lesson_id: str, text: int) -> OpenLesson:
        """Continue a lesson from a text that was told: in a new lab, which takes the place of its lab, and is what that lab was
        at the text. The first text begins the lesson again.

        lesson_id: of the lesson, which keeps it. A question keeps its answer.
        text: the index of the text.

        Raises LessonUnknown, and Misuse if the text was not told.
        """
        async with self._beginning:  # at most one lab more than lessons is open
            with self.using(lesson_id) as before:
                saved = before.played.saved_text(text)
                lesson = self._lesson(before.played.name)
                opened = await self._opened(lesson_id, before.played.name, lesson, before.played, saved)
                async with AsyncExitStack() as undo:
                    undo.push_async_callback(_close, opened)
                    await opened.played.begin()
                    if self._open.get(lesson_id) is not before:
                        raise LessonUnknown("the lesson has ended meanwhile")
                    undo.pop_all()
                self._open[lesson_id] = opened
            await _close(before)
        return opened

    async def fork(self, lesson_id: str, text: int) -> OpenLesson:
        """Open another lab, which is what the lab of a lesson was at a text that was told. The lesson goes on beside it.

        text: the index of the text.

        Raises LessonUnknown, Misuse if the text was not told, and NoRoom if all lessons are in use.
        """
        async with self._beginning:
            with self.using(lesson_id) as before:
                saved = before.played.saved_text(text)
                await self._make_room()
                lesson = self._lesson(before.played.name)
                opened = await self._opened(
                    secrets.token_hex(ID_BYTES), before.played.name, lesson, before.played, saved
                )
            self._open[opened.id] = opened
        with self.using(opened.id):
            await opened.played.begin()
        return opened

    async def end(self, lesson_id: str) -> None:
        """End a lesson and its lab, and remove its files. Raises LessonUnknown."""
        with self.using(lesson_id) as found:
            del self._open[lesson_id]
        await _close(found)

    async def end_idle(self) -> None:
        """End the lessons that nobody has used for IDLE_S."""
        now_s = self._monotonic()
        for each in [*self._open.values()]:
            if not each.in_use and now_s - each.used_s >= IDLE_S:
                await self.end(each.id)

    async def close(self) -> None:
        """End all lessons."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        async with self._beginning:
            while self._open:
                await self.end(next(iter(self._open)))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(CHECK_S)
            try:
                await self.end_idle()
            except Exception:
                log.exception("a lesson did not end well")

    async def _make_room(self) -> None:
        if len(self._open) < self._most:
            return
        idle = [each for each in self._open.values() if not each.in_use]
        if not idle:
            raise NoRoom(f"{self._most} lessons are in use, which is the limit; end one of them first")
        await self.end(min(idle, key=lambda each: each.used_s).id)

    def _lesson(self, name: str) -> Scenario:
        lessons = self.lessons().by_name
        if name not in lessons:
            raise LessonUnknown(f"{quoted(name)} is not a lesson; {did_you_mean(name, lessons)}")
        return lessons[name]

    async def _opened(
        self,
        lesson_id: str,
        name: str,
        lesson: Scenario,
        before: PlayedLesson | None = None,
        saved: SavedText | None = None,
    ) -> OpenLesson:
        """Open the lab of a lesson: a new one, or one that continues from a saved text of a lesson that was played before."""
        from pflab.lessons.played_lesson import PlayedLesson  # noqa: PLC0415 - the models of steps take long to build

        folder = LessonFolder()
        try:
            if before is None or saved is None:
                run = f"{name}/{secrets.token_hex(ID_BYTES)}"
                lab = SimulatedLab(lesson.topology, folder=RunFolder.at(folder.path), run=run)
                played = PlayedLesson(name, lesson, lab)
            else:
                lab = _continued(saved, before.topology, folder.path)
                played = before.continued(saved, lesson, lab)
        except BaseException:
            folder.remove()
            raise
        try:
            await lab.up()
        except BaseException:
            await lab.close()
            folder.remove()
            raise
        return OpenLesson(lesson_id, played, lab, app_of_live_lab(lambda: lab), folder, self._monotonic())


def _continued(saved: SavedText, topology: Topology, folder: Path) -> SimulatedLab:
    """Return a lab in a folder that continues the lab of a saved text."""
    place = RunFolder.at(folder)
    with temporary_folder("pflab-text-") as unpacked:
        saved_at = Path(unpacked) / "lab"
        unpack(saved.lab, RunFolder.at(saved_at))
        earlier = continue_run(saved_at, place)
    # The console finds a text by the number of events before it, so they keep the order in which they were recorded.
    return SimulatedLab(topology, folder=place, earlier=replace(earlier, events=saved.events))


async def _close(lesson: OpenLesson) -> None:
    """End a lesson that is not in the classroom any more: its streams, its lab and its files."""
    lesson.ended.set()
    await lesson.played.end()
    try:
        await lesson.lab.close()
    finally:
        await in_thread(lesson.folder.remove)
