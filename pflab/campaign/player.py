"""Play the scenario of a seed on one simulated lab.

A play has three phases:

| phase | from | to | what happens |
|---|---|---|---|
| work | the lab's start | the time of the step `repair` | steps and faults, in order of time |
| heal | | the same instant | all faults end, all stores run, content replication resumes |
| convergence | the heal | at most the bound of the lab (CV-3) | nothing from outside |

The `CampaignMonitor` checks the invariants after each step, and at each instant at which the lab is quiet. The first violation
ends the play.

The convergence phase differs between seeds, because most labs converge in a small part of their bound and then only repeat
their statuses:

* Usually the oracle judges the lab every `JUDGED_EVERY_US`. When the lab has converged, it runs for `SETTLING_US` more, and the
  phase ends. A lab that never converges runs until its bound.
* One seed in `ONE_PLAYED_OUT_OF` always runs until its bound.

The caller judges the lab when `play` returns: a lab that has not converged by then has failed. A lab must never be judged
before the heal, because a fault that is still in force may rightly prevent convergence.
"""

from __future__ import annotations

from typing import Any

from node.errors import InternalError, NodeError
from pflab.campaign.monitor import CampaignMonitor
from pflab.errors import LabError
from pflab.oracle.convergence_bound import bound_of
from pflab.oracle.monitor import Violated
from pflab.scenario.load import Scenario
from pflab.scenario.runner import play_step
from pflab.scenario.session import Play
from pflab.simulation.simulator import Simulator
from pflab.terms.verdict import Judgement
from traces.labtime import DAY_US, HOUR_US, LabTime

SETTLING_US = 2 * DAY_US
"""How long a lab runs after it has converged. In this time every store sends its scheduled status, at most 36 hours later
(ST-1), and the other stores react to this status."""

JUDGED_EVERY_US = 12 * HOUR_US
"""How often the lab is judged after the heal: as often as stores check their status (ST-1)."""

ONE_PLAYED_OUT_OF = 16
"""One seed in this many runs until its bound, even if it converges early."""


class Player:
    """Plays the scenario of a seed on one lab, which is already up.

    steps_run: how many steps were tried.
    """

    def __init__(self, lab: Simulator, scenario: Scenario, monitor: CampaignMonitor) -> None:
        self._lab = lab
        self._scenario = scenario
        self._watch = monitor
        self._play = Play(lab, skips=True, monitor=monitor, together=lab.shares_commits)
        self.steps_run = 0
        self.bound_us = 0

    @property
    def skipped(self) -> int:
        """How many steps did nothing, because their target was missing or a store refused them."""
        return self._play.skipped

    async def play(self) -> None:
        """Play all phases. Raises Violated at the first violation, and LabError or InternalError if a store fails."""
        self._play.name_topology()
        start_at = self._lab.now
        self._play.check(quiet=True)
        for step in self._scenario.steps[:-1]:
            self.steps_run += 1
            try:
                await play_step(self._play, step, start_at)
            except (NodeError, LabError, InternalError, Violated):
                raise
            except Exception as error:
                raise InternalError.of(f"server {_server_of(step.args)}", "while serving a user", error) from error
        await self._converge()

    async def _converge(self) -> None:
        """Advance until the lab has converged and settled, or until the bound ends."""  # spec: CV-3
        now = self._lab.now
        # If a server's clock was fast, it stops until lab time reaches it.
        ahead_us = max(0, *(at - now for at in self._watch.last_at.values()))
        self.bound_us = bound_of(self._lab).total_us + ahead_us
        end_at = now + self.bound_us
        if (self._scenario.seed or 0) % ONE_PLAYED_OUT_OF:
            await self._play.advance(min(end_at, now + ahead_us))
            await self._settle(end_at)
        else:
            await self._play.advance(end_at)
        self._play.check(quiet=True, closely=True)

    async def _settle(self, end_at: LabTime) -> None:
        while self._lab.now < end_at:
            await self._play.advance(min(end_at, self._lab.now + JUDGED_EVERY_US))
            if self._watch.observer.judge().verdict().judgement is Judgement.CONVERGED:
                await self._play.advance(min(end_at, self._lab.now + SETTLING_US))
                return


def _server_of(args: Any) -> str:
    """Return the server of a step, for an error text."""
    on = getattr(args, "on", args)
    return str(on[0] if isinstance(on, tuple) else on)
