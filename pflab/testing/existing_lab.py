"""The running lab of the option --pflab-lab: one test after the other uses it, and at the end it goes back to its own state.

    what happens                                  what the lab does
    a test asks for it for the first time         it is saved as FOUND
    a test has another topology than the one      it begins a run with this topology; a lab that cannot refuses the test, unless
    before it                                     the topology is its own
    a test without a topology comes after such    it goes back to FOUND
    after each of these three                     its clock is paused, and it is saved as BEFORE_EACH
    a test gets it, also the first one            it goes back to BEFORE_EACH
    the session ends                              it goes back to FOUND, and its clock has the rate that it had

BEFORE_EACH has no faults, so neither the user's nor those of a failed test meet a test; FOUND has the user's. The names are
always the same, and each session replaces both states, because a lab keeps saved states. If pytest is killed, FOUND still has
what the user had.

What must never happen: a test changes what the user has in this lab; two fixtures have it at the same time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from pflab.client import ClientError
from pflab.testing.lab import Lab
from pflab.testing.up_process import LabNotStarted

FOUND: Final = "pytest"
BEFORE_EACH: Final = "pytest-test"


@dataclass(slots=True)
class ExistingLab:
    """The lab at `url`."""

    url: str
    _lab: Lab = field(init=False)
    _rate: float | None = None
    """The rate of its clock when it was found; None before the first test."""
    _topology: str | None = None
    """The text of the topology of the last test; None if the lab had its own."""
    _lent: bool = False

    def __post_init__(self) -> None:
        self._lab = Lab(self.url, token=os.environ.get("PFLAB_TOKEN"), start=BEFORE_EACH)

    @contextmanager
    def lend(self, topology: str | None) -> Iterator[Lab]:
        """Yield the lab, in the state in which it was found, or in its first state with the topology of this text.

        Raises LabNotStarted if the lab keeps another topology.
        """
        if self._lent:
            raise LabNotStarted(
                f"another fixture has the lab at {self.url} already; with --pflab-lab a test can have only one lab"
            )
        self._prepare(topology)
        self._lent = True
        try:
            yield self._lab
        finally:
            self._lent = False

    def close(self) -> None:
        """Let the lab go back to the state in which it was found."""
        try:
            if self._rate is not None:
                self._lab.go_back(FOUND)
                if self._rate:
                    self._lab.set_rate(self._rate)
        finally:
            self._lab.close()

    def _prepare(self, topology: str | None) -> None:
        if self._rate is None:
            rate = float(self._lab.clock()["rate"])
            self._lab.pause()
            self._lab.save(FOUND, replace=True)
            self._save_before_each()
            self._rate = rate
        if topology != self._topology:
            if topology is None:
                self._lab.go_back(FOUND)
            else:
                self._begin(topology)
            self._lab.pause()
            self._save_before_each()
            self._topology = topology
        self._lab.go_back()

    def _save_before_each(self) -> None:
        self._lab.heal()
        self._lab.save(BEFORE_EACH, replace=True)

    def _begin(self, topology: str) -> None:
        """Begin a run with a topology. A lab that keeps its run goes back to FOUND if the topology is its own."""
        try:
            self._lab.begin_again(topology)
        except ClientError as error:
            if error.kind == "KeepsTopology":
                raise LabNotStarted(
                    f"the lab at {self.url} keeps its topology; tests with different topologies need a lab in containers"
                ) from error
            if error.kind != "KeepsRun":
                raise
            self._lab.go_back(FOUND)
