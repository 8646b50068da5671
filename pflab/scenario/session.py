"""The state of a scenario that is being played: the lab, the names that its steps defined, and the events so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from pflab.lab.lab import Lab
from pflab.oracle.compare import Judge
from pflab.oracle.judge import Observer
from pflab.oracle.monitor import Monitor
from pflab.oracle.oracle import Oracle
from pflab.runs.event_lines import NOISE
from pflab.terms.event_words import Lexicon, line, tag_of, words
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.verdict import Verdict
from traces.events import Event, MailSubmitted
from traces.labtime import LabTime

if TYPE_CHECKING:
    from node.views import FolderView, MessageView

T = TypeVar("T")

REPEATED = frozenset({"hop.failed"})
"""Events that repeat for one reason. A failure report shows only the last of several equal events."""

LAST_EVENTS = 12
"""The number of events in a failure report."""


class StepFailed(Exception):
    """An expectation or a step failed. `expected` and `found` are lines of text."""

    def __init__(self, expected: Sequence[str], found: Sequence[str]) -> None:
        super().__init__(f"expected {'; '.join(expected)}; {'; '.join(found)}")
        self.expected = tuple(expected)
        self.found = tuple(found)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """One difference between what was expected and what was found."""

    expected: str
    found: str


@dataclass(slots=True)
class Named:
    """A message that a step named with `as`: its folder, its object, and the change numbers of that name, oldest first."""

    folder: str
    object: str
    numbers: list[str] = field(default_factory=list)


class Play:
    """One run of a scenario on one lab.

    `mark` is the index of the first event that an `until` can find: the events since the end of the last `advance`, or since
    the instant at which the last `until` ended. `matches` has the events that an `until` has already found. `folders` maps the
    name of a folder to its id. `joined` has the servers that steps started, `removed` the stores that steps deleted from the
    directory, `shown_stores` the servers on which steps restored the backup of another one. `monitor` checks the invariants;
    if it is None, they are not checked. `skipped` is the number of steps that were skipped. `checkpoints` maps the name of a
    checkpoint to the index of an event; `expect` can count from there. With `together`, the posts of one step are requests
    that arrive at the same time. `began_at` is the lab time of the scenario's first step, None before it.
    """

    def __init__(
        self, lab: Lab, *, skips: bool = False, monitor: Monitor | None = None, together: bool = False
    ) -> None:
        self.lab = lab
        self.skips = skips
        self.skipped = 0
        self.monitor = monitor
        self.together = together
        self.log: list[Event] = []
        self.named: dict[str, Named] = {}
        self.groups: dict[str, tuple[str, ...]] = {}
        self.folders: dict[str, str] = {}
        self.joined: set[str] = set()
        self.removed: set[str] = set()
        self.shown_stores: set[str] = set()
        self.faults: dict[str, str] = {}
        self.backups: dict[str, tuple[str, str]] = {}
        self.checkpoints: dict[str, int] = {}
        self.mark = 0
        self.matches: set[int] = set()
        self.mails = 0
        self.outside_mails = 0
        self.began_at: LabTime | None = None

    def continued_in(self, lab: Lab) -> Play:
        """Return a play that goes on from here in another lab, which has the same events so far. It checks no invariants.

        lab: a copy of this lab, or this lab itself; this play can go on too.
        """
        other = Play(lab, skips=self.skips, together=self.together)
        other.skipped, other.mark, other.outside_mails = self.skipped, self.mark, self.outside_mails
        other.began_at = self.began_at
        other.named = deepcopy(self.named)
        other.groups, other.folders = dict(self.groups), dict(self.folders)
        other.faults, other.backups = dict(self.faults), dict(self.backups)
        other.joined, other.removed, other.matches = set(self.joined), set(self.removed), set(self.matches)
        other.shown_stores = set(self.shown_stores)
        other.checkpoints = dict(self.checkpoints)
        return other

    @cached_property
    def _observer(self) -> Observer:
        return Observer(self.lab) if self.monitor is None else self.monitor.observer

    async def do(self, store: str, change: Callable[[Any, LabTime], T]) -> T:
        """Apply a change on a store, and pass on what the store acknowledged. Return the answer."""
        answer = await self.lab.do(store, change)
        number = getattr(answer, "change", None)
        changes: Sequence[str] = getattr(answer, "changes", ()) if number is None else [number]
        if changes and self.monitor is not None:
            self.monitor.acknowledged(store, changes)
        return answer

    @property
    def names(self) -> Lexicon:
        return self._observer.names

    @property
    def oracle(self) -> Oracle:
        self.observe()
        return self._observer.oracle

    def absent(self, server: str) -> bool:
        """Return whether a server has not joined yet, or was removed."""
        entry = self.lab.organization.servers.get(server)
        return entry is None or (entry.joins_later and server not in self.joined)

    def deleted(self, server: str) -> bool:
        """Return whether the store of a server was deleted from the directory."""
        return server in self.removed

    def running(self) -> list[str]:
        return self._observer.running()

    def observe(self) -> None:
        """Read the events since the last call."""
        for event in self._observer.observe():
            self.log.append(event)
            if self.monitor is not None:
                self.monitor.take(event)
            if isinstance(event, MailSubmitted):
                self.mails += 1

    def check(self, *, quiet: bool, closely: bool = False) -> None:
        """Check the invariants. Raises Violated if one does not hold.

        quiet, closely: see `Monitor.check`.
        """
        if self.monitor is not None:
            self.observe()
            self.monitor.check(quiet=quiet, closely=closely)

    async def advance(self, to_at: LabTime) -> None:
        """Advance the lab to an instant, and check the invariants at each quiet instant before that."""
        if to_at > self.lab.now:
            await self.lab.until(self._quiet, to_at)
            self.look_from_here()

    def _quiet(self) -> bool:
        self.check(quiet=True)
        return False

    def look_from_here(self) -> None:
        """Let the next wait find only events after now."""
        self.observe()
        self.mark = len(self.log)

    def look_from_instant(self, at: LabTime) -> None:
        """Let the next wait find events from that instant on."""
        self.observe()
        index = len(self.log)
        while index > self.mark and self.log[index - 1].at >= at:
            index -= 1
        self.mark = index

    def judge(self) -> Judge:
        self.observe()
        return self._observer.judge()

    def verdict(self, *, at_rest: bool = True) -> Verdict:
        return self.judge().verdict(at_rest=at_rest)

    # --- the names in steps

    def name_topology(self) -> None:
        """If steps may be skipped, let each path of the topology continue to name its folder, wherever the folder moves."""
        first = next((name for name in self.lab.names if self.lab.running(name)), None)
        if self.skips and first is not None:
            self.folders = {view.path: view.id for view in self.lab.read(first, lambda node: node.folders())}

    def view(self, store: str, folder: str) -> FolderView:
        """Return a folder as a store shows it, by its name or its path. Raises StepFailed if the store does not show it."""
        id_ = self.folders.get(folder)
        for view in self.lab.read(store, lambda node: node.folders()):
            if (view.id == id_ if id_ is not None else view.path == folder) and not view.hidden:
                return view
        raise StepFailed([f"{store} to know the folder {folder}"], ["it does not know it"])

    def path(self, store: str, folder: str) -> str:
        """Return the path of a folder on a store. A path, unlike a name, is taken as it is; the store says if it is wrong."""
        if folder == HIERARCHY or folder not in self.folders:
            return folder
        return self.view(store, folder).path

    def shown(self, store: str, message: Named) -> MessageView:
        """Return a message as a store shows it. Raises StepFailed if the store does not show it."""
        path = self.path(store, message.folder)
        for view in self.lab.read(store, lambda node: node.messages(path)):
            if view.id == message.object:
                return view
        raise StepFailed([f"{store} to show the message"], ["it does not show it"])

    def messages(self, names: Sequence[str]) -> list[tuple[str, Named]]:
        """Return the named messages. The name of several posts means all of them. Raises StepFailed for an unknown name."""
        messages = []
        for name in names:
            for message_name in self.groups.get(name, (name,)):
                if message_name not in self.named:
                    raise StepFailed(
                        [f"a message named {message_name!r}"],
                        [f"no earlier step has named one; the names are {self._names_in_words()}"],
                    )
                messages.append((message_name, self.named[message_name]))
        return messages

    def message(self, name: str) -> Named:
        return self.messages([name])[0][1]

    def _names_in_words(self) -> str:
        return ", ".join([*self.groups, *self.named]) or "none"

    def find(self, store: str, name: str) -> tuple[str, Named]:
        """Return the path of a message's folder on a store, and the message. If steps may be skipped, the store must show the
        message."""
        message = self.message(name)
        if self.skips:
            self.shown(store, message)
        return self.path(store, message.folder), message

    def holders(self, folder: str) -> list[str]:
        """Return the folder's replica list in the oracle; for 1-1 all running stores. Raises StepFailed if there is none."""
        if folder == HIERARCHY:
            return self.running()
        for truth in self.oracle.truth().values():
            if truth.path == folder:
                return list(truth.holders)
        raise StepFailed([f"a folder {folder!r}"], ["there is none, or it was deleted"])

    def stores(self, names: Sequence[str] | None, folder: str | None) -> list[str]:
        """Return the stores that `on` names. `all` means all holders of the folder or, if that is None, all running stores."""
        if names is None:
            return []
        if tuple(names) == ("all",):
            return self.holders(folder) if folder else self.running()
        return list(names)

    def last_events(self, stores: Sequence[str] = ()) -> list[str]:
        """Return the last events in words, of these stores (default: all), without `NOISE`."""
        nodes = {*stores, "lab"} if stores else None
        lines: list[str] = []
        repeats: set[tuple[str, str]] = set()
        for event in reversed(self.log):
            if len(lines) == LAST_EVENTS:
                break
            if tag_of(event) in NOISE or (nodes is not None and event.node not in nodes):
                continue
            if tag_of(event) in REPEATED:
                text = (event.node, words(event, self.names))
                if text in repeats:
                    continue
                repeats.add(text)
            lines.append(line(event, self.names))
        return lines[::-1]
