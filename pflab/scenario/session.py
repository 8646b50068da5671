"""The state of a scenario that is being played: the lab, the names that its steps defined, and the events so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pflab.lab.lab import Lab
from pflab.oracle.compare import Judge
from pflab.oracle.judge import Observer
from pflab.oracle.oracle import Oracle
from pflab.runs.event_lines import NOISE
from pflab.terms.event_words import Lexicon, line, tag_of, words
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.verdict import Verdict
from traces.events import ChangeMade, Event, MailSubmitted
from traces.labtime import LabTime

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

    `mark` is the index of the first event that an `until` can find. It can find events since the end of the last
    `advance`, or since the instant at which the last `until` ended. `found` has the events that an `until` has already
    found. `checkpoints` maps the name of a checkpoint to the index of an event; `expect` can count from there.
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
        self.outside_mails = 0
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
        """Read the events since the last call."""
        for event in self._observer.observe():
            self.log.append(event)
            if isinstance(event, ChangeMade):
                self._newest[event.object] = event.number
            elif isinstance(event, MailSubmitted):
                self.mails += 1

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

    def messages(self, names: Sequence[str]) -> list[tuple[str, Named]]:
        """Return the named messages. The name of several posts means all of them. Raises StepFailed for an unknown name."""
        found = []
        for name in names:
            for each in self.groups.get(name, (name,)):
                if each not in self.named:
                    raise StepFailed(
                        [f"a message named {each!r}"], [f"no earlier step has named one; the names are {self._known()}"]
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
        wanted = {*stores, "lab"} if stores else None
        lines: list[str] = []
        seen: set[tuple[str, str]] = set()
        for event in reversed(self.log):
            if len(lines) == LAST_EVENTS:
                break
            if tag_of(event) in NOISE or (wanted is not None and event.node not in wanted):
                continue
            if tag_of(event) in REPEATED:
                text = (event.node, words(event, self.names))
                if text in seen:
                    continue
                seen.add(text)
            lines.append(line(event, self.names))
        return lines[::-1]
