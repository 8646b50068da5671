"""The labs of one test session: which run, who may have them, and how a test gets a lab in its first state.

States of a lab process:

    CLEAN   as it was when it started      USED   a test has had it      ENDED   its process has ended

    state   a test asks for a lab with this topology and driver      the session ends
    CLEAN   it gets this one; USED                                   ENDED
    USED    the lab goes back to its state "start"; USED             ENDED
    ENDED   another process is started; USED

With a judge, a lab goes back to its first state, or ends, when its test ends, because its traces are complete only then.

A lab that has saved states of a test, or that a test has broken, is ended instead, and another one is started.

What must never happen: two tests at a time in one lab; a lab that outlives the session; the run folder of a failed test that
is removed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from pflab.client import ClientError
from pflab.home import HOME
from pflab.testing.existing_lab import ExistingLab
from pflab.testing.judge import Judge, RuleViolated
from pflab.testing.lab import START, Lab
from pflab.testing.lab_process import LabProcess
from pflab.testing.organization import Organization
from pflab.testing.up_process import Driver, LabNotStarted

Topology = Path | str | Mapping[str, Any] | Organization
"""A topology file, the name of an example that comes with pflab, or a topology."""

DEFAULT: Final = "one-site"
"""The topology of labs for which nobody has chosen one."""

_EXAMPLES: Final = HOME / "topology" / "examples"

MOST_IDLE: Final = 3
"""How many labs wait for the next test with their topology. The one that has waited longest ends."""


@dataclass(slots=True)
class _Slot:
    """A lab between two tests.

    home: its first run folder, which has the saved states.
    before: the run folder of the last test, None if it must be kept.
    """

    process: LabProcess
    home: Path
    before: Path | None = None
    used: bool = False

    def forget(self) -> None:
        """Remove the run folder of the last test, unless it must be kept."""
        if self.before is not None:
            shutil.rmtree(self.before, ignore_errors=True)
            self.before = None


@dataclass(slots=True)
class Labs:
    """The labs of a session.

    `folder`: where they run; `keep_runs`: keep the run folder of tests that pass as well.
    existing: a running lab, which all tests get in turn.
    root: the folder to which the paths of topologies are relative.
    judge: judges the run of each test.
    """

    folder: Path
    driver: Driver
    root: Path
    keep_runs: bool = False
    keep_mails: bool = False
    existing: ExistingLab | None = None
    judge: Judge | None = None
    _idle: dict[str, _Slot] = field(default_factory=dict)
    _kept: set[Path] = field(default_factory=set)

    @contextmanager
    def lab(self, topology: Topology | None, driver: Driver | None = None) -> Iterator[Lab]:
        """Yield a lab in its first state, with a paused clock.

        topology: None means that of the existing lab, or DEFAULT.

        Raises RuleViolated at the end if the run has violated a rule, and JudgeFailed if it cannot be judged.
        """
        if self.existing is not None:
            text = None if topology is None else _text(_document(topology, self.root))
            with self.existing.lend(text) as lab:
                yield lab
            return
        document = _document(DEFAULT if topology is None else topology, self.root)
        chosen = driver or self.driver
        key = json.dumps([chosen, document if isinstance(document, dict) else str(document)])
        slot = self._ready(self._idle.pop(key, None), document, chosen)
        slot.used = True
        before = slot.process.lab.run_folder
        earlier = set(before.parent.iterdir())
        try:
            yield slot.process.lab
        finally:
            slot.before = None if self.keep_runs or before == slot.home or before in self._kept else before
            runs = [before, *sorted(set(before.parent.iterdir()) - earlier)]
            if self.judge is None or self._gone_back(slot):
                self._return(key, slot)
            else:
                slot.process.close()
        if self.judge is not None:
            self._check(self.judge, runs, slot)

    def keep(self, folder: Path) -> None:
        """Keep the run folder of a failed test."""
        self._kept.add(folder)

    def close(self) -> None:
        """End all labs that this session has started, and put the existing lab back."""
        if self.existing is not None:
            self.existing.close()
        for slot in self._idle.values():
            slot.process.close()
            slot.forget()
        self._idle.clear()

    # --- one lab

    def _check(self, judge: Judge, runs: Sequence[Path], slot: _Slot) -> None:
        try:
            judge.check(runs)
        except RuleViolated:
            slot.before = None
            raise

    def _gone_back(self, slot: _Slot) -> bool:
        """Put a lab back into its first state, and return whether this was possible. Its run folder is whole then."""
        with suppress(ClientError):  # the test may have broken it
            if slot.process.lab.saved() == [START]:
                slot.process.lab.go_back()
                slot.used = False
                return True
        return False

    def _ready(self, slot: _Slot | None, topology: Any, driver: Driver) -> _Slot:
        if slot is not None:
            is_ready = not slot.used or self._gone_back(slot)
            if not is_ready:
                slot.process.close()
            slot.forget()
            if is_ready:
                return slot
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(prefix="lab-", dir=self.folder))  # other sessions may keep their traces beside it
        process = LabProcess(topology, folder, driver=driver, keep_mails=self.keep_mails)
        slot = _Slot(process, process.lab.run_folder)
        slot.process.lab.save(START)
        return slot

    def _return(self, key: str, slot: _Slot) -> None:
        leaving = [self._idle.pop(key)] if key in self._idle else []
        self._idle[key] = slot
        while len(self._idle) > MOST_IDLE:
            leaving.append(self._idle.pop(next(iter(self._idle))))
        for surplus in leaving:
            surplus.process.close()
            surplus.forget()


def _text(document: Path | str | dict[str, Any]) -> str:
    """Return a topology as a file has it."""
    if isinstance(document, dict):
        return json.dumps(document)
    return (document if isinstance(document, Path) else _EXAMPLES / f"{document}.yaml").read_text("utf-8")


def _document(topology: Topology, root: Path) -> Path | str | dict[str, Any]:
    """Return a topology as keys, the absolute path of its file, or the name of an example.

    Raises LabNotStarted if there is no such file or example.
    """
    if isinstance(topology, Organization):
        return topology.as_document()
    if isinstance(topology, Mapping):
        return dict(topology)
    if not isinstance(topology, str | Path):
        raise LabNotStarted(
            f"{topology!r} is not a topology; give a file, the name of an example, a mapping or an Organization"
        )
    path = root / topology
    with suppress(OSError, ValueError):  # no file can have such a name
        if path.is_file():
            return path
    examples = sorted(file.stem for file in _EXAMPLES.glob("*.yaml"))
    if str(topology) in examples:
        return str(topology)
    raise LabNotStarted(
        f"there is no topology file {path}; a path is relative to pytest's rootdir, and the examples are {', '.join(examples)}"
    )
