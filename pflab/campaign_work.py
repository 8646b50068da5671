"""What happens in a campaign's lab: users' work and faults, drawn from the seed and told to a running lab."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from node.core import Node
from node.errors import NodeError
from node.views import FolderView
from pflab.faults import CRASH_POINTS
from pflab.lab import Lab
from topology import Topology
from traces import LabTime
from traces.labtime import HOUR_US, MINUTE_US

FAULT_KINDS = ("loss", "delay", "duplication", "reordering", "partition", "crash", "kill")
"""Fault packages of a campaign; `--faults` names some of them, or all, or none."""

_PAUSES_US = (0, 0, MINUTE_US, 5 * MINUTE_US, 16 * MINUTE_US, HOUR_US, 3 * HOUR_US, 7 * HOUR_US)
_TYPES = (None, None, "content", "hierarchy", "status", "status request", "backfill request", "content response")


class Workload:
    """Draws steps and plays them. What a store refuses for a good reason is no step."""

    def __init__(self, lab: Lab, topology: Topology, draw: random.Random, faults: Sequence[str]) -> None:
        self._lab = lab
        self._topology = topology
        self._draw = draw
        self._faults = tuple(faults)
        self._serial = 0
        self._folders = 0
        self._acts: tuple[tuple[int, Callable[[], Awaitable[None]]], ...] = (
            (30, self._post),
            (18, self._edit),
            (8, self._delete),
            (3, self._create_folder),
            (3, self._rename_folder),
            (2, self._move_folder),
            (1, self._delete_folder),
            (3, self._add_replica),
            (20 if faults else 0, self._fault),
        )

    async def play(self, until_at: LabTime) -> None:
        """Steps and pauses until the lab's clock stands at `until_at`."""
        while self._lab.now < until_at:
            weights = [weight for weight, _ in self._acts]
            (act,) = self._draw.choices([act for _, act in self._acts], weights)
            await act()
            pause_us = self._draw.choice(_PAUSES_US)
            await self._lab.advance(min(until_at, self._lab.now + pause_us))

    async def heal(self) -> None:
        """All faults end and every store runs."""
        self._lab.faults.heal()
        for name in self._lab.names:
            if not self._lab.running(name):
                await self._restart(name)

    async def _restart(self, name: str) -> None:
        try:
            await self._lab.start(name)
        except Exception as error:  # a crashed store may be on its way back by itself
            if not self._lab.running(name):
                raise
            del error

    # -- users

    def _up(self) -> list[str]:
        return [name for name in self._lab.names if self._lab.running(name)]

    def _place(self) -> tuple[str, FolderView] | None:
        """A running store and a folder that it holds."""
        names = self._up()
        self._draw.shuffle(names)
        for name in names:
            held = [folder for folder in self._folder_views(name) if folder.held_here and not folder.hidden]
            if held:
                return name, self._draw.choice(held)
        return None

    def _folder_views(self, name: str) -> list[FolderView]:
        return self._lab.read(name, lambda node: node.folders())

    async def _do(self, name: str, act: Callable[[Node, LabTime], object]) -> None:
        with suppress(NodeError):  # a name that is taken, a folder that went meanwhile: refused, nothing happened
            await self._lab.do(name, act)

    async def _post(self) -> None:
        place = self._place()
        if place is None:
            return
        name, folder = place
        for _ in range(self._draw.choice((1, 1, 1, 2, 5))):
            self._serial += 1
            subject, size = f"post {self._serial}", self._draw.choice((10, 200, 2000, 90_000))
            body = f"{subject} " * (size // 8)
            fai = self._draw.random() < 0.1
            await self._do(
                name,
                lambda node, now, subject=subject, body=body, fai=fai: node.post(  # type: ignore[misc]
                    now, folder.path, subject=subject, body=body, associated=fai
                ),
            )

    def _message(self) -> tuple[str, str, str] | None:
        place = self._place()
        if place is None:
            return None
        name, folder = place
        messages = self._lab.read(name, lambda node: node.messages(folder.path))
        # A preference for few messages makes concurrent edits of one likely.
        return (name, folder.path, self._draw.choice(messages[:4] + messages).id) if messages else None

    async def _edit(self) -> None:
        found = self._message()
        if found is not None:
            name, path, message = found
            self._serial += 1
            text = f"edit {self._serial}"
            await self._do(name, lambda node, now: node.edit(now, path, message, subject=text, body=text))

    async def _delete(self) -> None:
        found = self._message()
        if found is not None:
            name, path, message = found
            await self._do(name, lambda node, now: node.delete(now, path, message))

    # -- administrators

    def _any_folder(self) -> tuple[str, FolderView] | None:
        names = self._up()
        if not names:
            return None
        name = self._draw.choice(names)
        visible = [folder for folder in self._folder_views(name) if not folder.hidden]
        return (name, self._draw.choice(visible)) if visible else None

    async def _create_folder(self) -> None:
        found = self._any_folder()
        if found is None:
            return
        name, parent = found
        # Two stores that create the same name at once make one folder shown with a suffix (spec: HI-7).
        self._folders += self._draw.random() < 0.7
        above = f"{parent.path}/" if self._draw.random() < 0.5 else ""
        stores = list(self._topology.servers)
        replicas = sorted(self._draw.sample(stores, min(len(stores), self._draw.choice((1, 2, 2, 3)))))
        path = f"{above}G{self._folders}"
        await self._do(name, lambda node, now: node.create_folder(now, path, replicas=replicas))

    async def _rename_folder(self) -> None:
        found = self._any_folder()
        if found is not None:
            name, folder = found
            self._serial += 1
            await self._do(name, lambda node, now: node.change_folder(now, folder.path, rename=f"R{self._serial}"))

    async def _move_folder(self) -> None:
        found, other = self._any_folder(), self._any_folder()
        if found is not None and other is not None:
            name, folder = found
            to = self._draw.choice(("", other[1].path))
            await self._do(name, lambda node, now: node.change_folder(now, folder.path, move_to=to))

    async def _delete_folder(self) -> None:
        found = self._any_folder()
        if found is not None and len(self._folder_views(found[0])) > 1:
            name, folder = found
            await self._do(name, lambda node, now: node.delete_folder(now, folder.path))

    async def _add_replica(self) -> None:
        found = self._any_folder()
        if found is None:
            return
        name, folder = found
        others = [store for store in self._topology.servers if store not in folder.replicas]
        if others:
            replicas = (*folder.replicas, self._draw.choice(others))
            await self._do(name, lambda node, now: node.change_folder(now, folder.path, replicas=replicas))

    # -- faults

    async def _fault(self) -> None:
        kind = self._draw.choice(self._faults)
        await {
            "loss": self._lose,
            "delay": self._delay,
            "duplication": self._duplicate,
            "reordering": self._reorder,
            "partition": self._cut,
            "crash": self._crash,
            "kill": self._kill,
        }[kind]()

    def _ends(self) -> tuple[str | None, str | None]:
        stores = list(self._topology.servers)
        one, other = self._draw.sample(stores, 2)
        return self._draw.choice(((one, other), (one, None), (None, other), (None, None)))

    async def _lose(self) -> None:
        one, other = self._ends()
        self._lab.faults.lose(one, other, self._draw.choice(_TYPES), self._draw.choice((1, 1, 2, 3, 8)))

    async def _delay(self) -> None:
        one, other = self._ends()
        by_us = self._draw.choice((7 * MINUTE_US, 40 * MINUTE_US, 5 * HOUR_US, 20 * HOUR_US))
        self._lab.faults.delay(one, other, self._draw.choice(_TYPES), by_us, self._draw.choice((1, 2, 4)))

    async def _duplicate(self) -> None:
        one, other = self._ends()
        self._lab.faults.duplicate(one, other, self._draw.choice(_TYPES), self._draw.choice((1, 2, 5)))

    async def _reorder(self) -> None:
        one, other = self._ends()
        self._lab.faults.reorder(one, other, self._draw.choice(_TYPES), count=self._draw.choice((1, 2)))

    async def _cut(self) -> None:
        active = [fault for fault in self._lab.faults.active() if fault.kind.value == "cut"]
        if active and self._draw.random() < 0.6:
            self._lab.faults.heal(active[0].id)
            return
        one, other = self._draw.sample(list(self._topology.servers), 2)
        self._lab.faults.cut((one, other), one_way=self._draw.random() < 0.4)

    async def _crash(self) -> None:
        server = self._draw.choice(list(self._topology.servers))
        self._lab.faults.crash(server, self._draw.choice(CRASH_POINTS), after=self._draw.choice((0, 1, 3)))

    async def _kill(self) -> None:
        down = [name for name in self._lab.names if not self._lab.running(name)]
        if down:
            await self._restart(self._draw.choice(down))
        elif len(self._up()) > 1:
            await self._lab.kill(self._draw.choice(self._up()))
