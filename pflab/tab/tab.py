"""A lab, its lessons and its HTTP API without a server: what `pflab up --simulated` serves, for a page in the same process."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import Callable, Mapping, MutableMapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from node.api.routing.dispatch import deliver, fields_of
from pflab.errors import LabError
from pflab.lab.histories import Histories
from pflab.lessons.classroom import Classroom
from pflab.lessons.routes import extension_of
from pflab.runs.continued import Earlier, continue_run
from pflab.runs.lab_file import unpack
from pflab.runs.recorder import MOST_HELD
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from pflab.simulation.simulated_lab import SimulatedLab
from topology.file.load import load_topology, topology_from_text
from traces.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from pflab.lessons.course import Lessons

SEED: Final = 1
"""The seed of the GUIDs and keys of a lab, that of `pflab up`."""

RUN: Final = "tab"
"""The name of the runs of a tab."""

SendPart = Callable[[str, object, object], None]
"""Gets the parts of an answer, each as its kind with two values:

| kind | values |
|---|---|
| `start` | the status, and the header fields as JSON, with names in lower case |
| `body` | some bytes, and None; as many parts as there are |
| `end` | None and None; the answer to a request for a stream has no end |
"""

log = logging.getLogger("pflab.tab")


class Tab:
    """A lab that is up, and the lessons that are played beside it, each in a lab of its own.

    lab: YAML text with a topology, or a lab file (`pflab.runs.lab_file`), whose lab goes on in the tab.
    folder: where the files of its runs go.
    lessons: returns the lessons.
    now: returns the present real time, for the names of runs.

    Raises ProblemsError if the topology has mistakes, and LabError for a file that is no lab file.

    Call `up`, then `answer` any number of times, then `close`.
    """

    def __init__(
        self,
        lab: str | bytes,
        *,
        folder: Path,
        lessons: Callable[[], Lessons],
        now: Callable[[], datetime],
    ) -> None:
        def make(folder: RunFolder, earlier: Earlier | None) -> SimulatedLab:
            return SimulatedLab(topology, folder=folder, seed=seed, earlier=earlier, most_events=MOST_HELD)

        def next_folder() -> RunFolder:
            run_folder = RunFolder.create(folder, RUN, started=now())
            self._folders.append(run_folder.path)
            return run_folder

        self._folders: list[Path] = []
        if isinstance(lab, str):
            topology, seed, first, earlier = topology_from_text(lab), SEED, next_folder(), None
        else:
            with temporary_folder("pflab-tab-") as place:
                taken = RunFolder.at(Path(place) / "lab")
                unpack(lab, taken)
                topology, seed = (
                    load_topology(taken.path / "topology.yaml"),
                    int((taken.path / "seed").read_text("ascii")),
                )
                first = next_folder()
                try:
                    earlier = continue_run(taken.path, first)
                except LabError:
                    self._remove_folders()
                    raise
        self._histories = Histories(first, make, next_folder, earlier)
        self._lessons = extension_of(Classroom(lessons))
        self._app = app_of_live_lab(lambda: self._histories.lab, self._lessons)
        self._following: asyncio.Task[None] | None = None

    async def up(self) -> None:
        """Start the lab."""
        await self._histories.lab.up()
        following = self._histories.follow(lambda: self._remove_folders(but=self._histories.folder.path))
        self._following = asyncio.create_task(following, name="histories")

    async def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes, send: SendPart) -> None:
        """Answer a request to the lab's HTTP API, or to that of a lesson. The task that calls this function can be cancelled to
        end a stream.

        target: the path and the query.
        send: gets the parts of the answer as they come.

        Raises the error of the lab if it could not go back to a saved lab, and an error of ours if it cuts an answer.
        """
        if self._following is not None and self._following.done():
            self._following.result()
        ended = False

        async def send_part(message: MutableMapping[str, Any]) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                send("start", int(message["status"]), json.dumps(fields_of(message)))
                return
            if content := message.get("body"):
                send("body", content, None)
            if not message.get("more_body"):
                ended = True
                send("end", None, None)

        try:
            await deliver(self._app, method, target, headers, body, send_part)
        except Exception:
            if not ended:
                raise
            log.exception("%s %s", method, target)  # the answer says which error

    async def saved(self) -> bytes:
        """Return the lab as it is now, as a lab file. Raises LabError if it is too large for one."""
        return await self._histories.lab.as_file()

    async def close(self) -> None:
        """End the lab and its lessons, and remove their files."""
        await self._lessons.close()
        if self._following is not None:
            self._histories.orders.put_nowait(None)
            await asyncio.wait([self._following])
        await self._histories.lab.close()
        self._remove_folders()

    def _remove_folders(self, but: Path | None = None) -> None:
        """Remove the files of the run histories that have ended: in a browser they are in memory. The next history has copies
        of the saved labs.

        but: the folder of the present history; None if there is none.
        """
        ended = [path for path in self._folders if path != but]
        self._folders = [path for path in self._folders if path == but]
        for path in ended:
            shutil.rmtree(path)
