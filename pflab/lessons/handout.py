"""A lesson of the course as a file to read and to play: it is played in the simulator, to its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pflab.errors import LabError
from pflab.lessons.played_lesson import PROBLEM, LessonStatus, PlayedLesson
from pflab.runs.run_folder import RunFolder
from pflab.server.events import page_of
from pflab.simulation.simulated_lab import SimulatedLab
from traces.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from pflab.scenario.load import Scenario


async def handout(name: str, lesson: Scenario, *, notes: bool = False, address: str = "") -> str:
    """Play a lesson and return the HTML file that replays it.

    notes: whether the file has the presenter's notes.
    address: where the file will be on the web; '' if that is not known.

    Raises LabError if the lesson fails.
    """
    with temporary_folder("pflab-handout-") as place:
        async with SimulatedLab(lesson.topology, folder=RunFolder.at(Path(place) / name), run=name) as lab:
            played = PlayedLesson(name, lesson, lab)
            await played.begin()
            while played.status is LessonStatus.WAITING:
                await played.next()
            problems = [line for beat in played.beats if beat.kind == PROBLEM for line in beat.expected]
            if failure := [*problems, *(played.state()["failure"] or ())]:
                raise LabError("\n".join([f"the lesson {name} failed:", *failure]))
            return await page_of(lab, notes=notes, address=address)
