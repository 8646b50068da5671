"""A scenario being played: the lab, what its steps have named, and what has happened so far. The steps act on this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pflab.lab.lab import Lab
from pflab.oracle.compare import Judge
from pflab.oracle.judge import Observer
from pflab.oracle.oracle import HIERARCHY, Oracle
from pflab.terms.lexicon import Lexicon, line, tag_of, words
from pflab.terms.verdict import Verdict
from traces.events import ChangeMade, Event, MailSubmitted
from traces.labtime import LabTime

NOISE = frozenset(
    {"setting.value", "clock.changed", "run.started", "address.stamped", "hop.sent", "hop.received", "row.replaced"}
)
"""Events that say little to a person who asks why an expectation failed."""

REPEATED = frozenset({"hop.failed"})
"""Events that come again and again for one reason: of those that say the same the last is told."""

LAST_EVENTS = 12
"""How many of them a failure tells."""


class StepFailed(Exception):
    """An expectation or a step failed. `expected` and `stands` are lines for people."""

    def __init__(self, expected: Sequence[str], stands: Sequence[str]) -> None:
        super().__init__(f"expected {'; '.join(expected)}; {'; '.join(stands)}")
        self.expected = tuple(expected)
        self.stands = tuple(stands)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """One thing that is not as it should be."""

    expected: str
    stands: str


@dataclass(slots=True)
class Named:
    """A message that a step named with `as`: where it is, and the change numbers made under that name, oldest first."""

    folder: str
    object: str
    numbers: list[str] = field(default_factory=list)


class Play:
    """One run of a scenario on one lab.

    `mark` is the index of the first event that an `until` may find: those since the end of the last `advance`, or since
    the instant in which the last `until` ended, whatever the order of things in that instant; `found` are those that an
    `until` has found already. `checkpoints` are indices by name, from which `expect` counts.
    """

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.log: list[Event] = []
        self.named: dict[str, Named] = {}
        self.groups: dict[str, tuple[str, ...]] = {}
        self.faults: dict[str, str] = {}
        self.backups: dict[str, str] = {}
        self.checkpoints: dict[str, int] = {}
        self.mark = 0
        self.found: set[int] = set()
        self.mails = 0
        self.handed_in = 0
        self._newest: dict[str, str] = {}
        self._observer = Observer(lab)
        self.observe()

    @property
    def names(self) -> Lexicon:
        return self._observer.names

    @property
    def oracle(self) -> Oracle:
        return self._observer.oracle

    def running(self) -> list[str]:
        return self._observer.running()

    def observe(self) -> None:
        """Take in the events that have come since the last time."""
        for event in self._observer.observe():
            self.log.append(event)
            if isinstance(event, ChangeMade):
                self._newest[event.object] = event.number
            elif isinstance(event, MailSubmitted):
                self.mails += 1

    def look_from_here(self) -> None:
        """The next wait sees only what happens from now on."""
        self.observe()
        self.mark = len(self.log)

    def look_from_instant(self, at: LabTime) -> None:
        """The next wait sees what happened from that instant on."""
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

    # --- what steps speak of

    def messages(self, names: Sequence[str]) -> list[tuple[str, Named]]:
        """Each named message; the name of several posts stands for all of them."""
        found = []
        for name in names:
            for each in self.groups.get(name, (name,)):
                if each not in self.named:
                    raise StepFailed(
                        [f"a message named {each!r}"], [f"no step so far has named one; named are {self._known()}"]
                    )
                found.append((each, self.named[each]))
        return found

    def message(self, name: str) -> Named:
        return self.messages([name])[0][1]

    def _known(self) -> str:
        return ", ".join([*self.groups, *self.named]) or "none"

    def remember(self, name: str, folder: str, object_: str) -> None:
        """Give the object's newest change a name."""
        self.observe()
        newest = self._newest.get(object_)
        self.named[name] = Named(folder, object_, [] if newest is None else [newest])

    def holders(self, folder: str) -> list[str]:
        """The folder's replica list as the oracle has it; for 1-1 every store of the tree."""
        if folder == HIERARCHY:
            return self.running()
        for truth in self.oracle.truth().values():
            if truth.path == folder:
                return list(truth.holders)
        raise StepFailed([f"a folder {folder!r}"], ["there is none, or it was deleted"])

    def stores(self, names: Sequence[str] | None, folder: str | None) -> list[str]:
        """What `on` means: `all` are all holders of the folder, or all running stores if no folder is spoken of."""
        if names is None:
            return []
        if tuple(names) == ("all",):
            return self.holders(folder) if folder else self.running()
        return list(names)

    def last_events(self, stores: Sequence[str] = ()) -> list[str]:
        """The last events in words, of these stores (all if none are given), without the noise."""
        wanted = {*stores, "lab"} if stores else None
        told: list[str] = []
        said: set[tuple[str, str]] = set()
        for event in reversed(self.log):
            if len(told) == LAST_EVENTS:
                break
            if tag_of(event) in NOISE or (wanted is not None and event.node not in wanted):
                continue
            if tag_of(event) in REPEATED:
                saying = (event.node, words(event, self.names))
                if saying in said:
                    continue
                said.add(saying)
            told.append(line(event, self.names))
        return told[::-1]
