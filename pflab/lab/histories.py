"""The run histories of one lab: a reset ends one, and begins the next in its own run folder.

Whoever runs a lab creates it here, and creates the next one after each order. First the new lab replaces the old one, so that
requests get the answer that the lab is starting. Then the old one closes, and the new one begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from pflab.lab.served_lab import ServedLab
from pflab.runs.continued import SAVED, Earlier, continue_run
from pflab.runs.saved import SavedRuns

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder

LabT = TypeVar("LabT", bound=ServedLab)

Orders = asyncio.Queue["tuple[RunFolder, Earlier] | None"]
"""What to do next: begin the run history that continues in this folder, or end (None)."""


class Histories(Generic[LabT]):
    """The run histories of one lab; `lab` and `folder` are the present ones.

    folder: that of the first.
    make: makes a lab in a run folder; it continues an earlier one if one is given.
    next_folder: makes the run folder of another history.
    earlier: the run that the first one continues, if any.
    """

    def __init__(
        self,
        folder: RunFolder,
        make: Callable[[RunFolder, Earlier | None], LabT],
        next_folder: Callable[[], RunFolder],
        earlier: Earlier | None = None,
    ) -> None:
        self.orders = Orders()
        self.folder = folder
        self._make = make
        self._next_folder = next_folder
        self.lab = self._made(earlier)

    async def next(self) -> bool:
        """Wait for an order. Return False if the lab must end. Otherwise create the lab of the next history, as `lab`."""
        following = await self.orders.get()
        if following is None:
            return False
        self.folder, earlier = following
        self.lab = self._made(earlier)
        return True

    async def follow(self, begun: Callable[[], None]) -> None:
        """Begin the next history after each order, until the lab must end. The lab of the present history is up.

        begun: called when another history has begun.
        """
        while True:
            ended = self.lab
            if not await self.next():  # after it, requests are told that the lab is starting
                return
            await ended.close()
            await self.lab.up()
            begun()

    def _made(self, earlier: Earlier | None) -> LabT:
        lab, saved = self._make(self.folder, earlier), SavedRuns(self.folder.path / SAVED)

        def go_back(name: str) -> None:
            """Order the run history that continues from a saved lab. Raises LabError if it cannot be prepared."""
            folder = self._next_folder()
            self.orders.put_nowait((folder, continue_run(saved.find(name).path, folder)))

        lab.saved_runs, lab.returns = saved, go_back
        return lab
