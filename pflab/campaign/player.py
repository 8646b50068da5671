"""Play one plan on one simulated lab.

A play has three phases:

| phase | from | to | what happens |
|---|---|---|---|
| work | the lab's start | the plan's `length_us` | steps and faults, in order of time |
| heal | | the same instant | all faults end, all stores run, content replication resumes |
| convergence | the heal | at most the bound of the lab (CV-3) | nothing from outside |

At one instant of the work phase the ends of faults come first, then the beginnings of faults, then steps. So a fault that
ends at 10:00 does not affect a step at 10:00. A fault that would end after the work phase ends with the heal.

The `Monitor` checks the invariants after each step, after each beginning and end of a fault, after the heal, and at each
instant at which the lab is quiet. The first violation ends the play.

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
from pflab.campaign.as_scenario import steps_of
from pflab.campaign.monitor import Monitor, Violated
from pflab.campaign.plans.plan import Plan
from pflab.errors import LabError
from pflab.oracle.convergence_bound import bound_of
from pflab.scenario.session import Play, StepFailed
from pflab.scenario.steps import STEPS
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
    """Plays one plan on one lab, which is already up. The steps are those of a scenario (`pflab.scenario.steps`).

    steps_run: how many steps were tried.
    skipped: how many of these did nothing, because their target was missing or a store refused them.
    """

    def __init__(self, lab: Simulator, plan: Plan, monitor: Monitor) -> None:
        self._lab = lab
        self._plan = plan
        self._watch = monitor
        self._play = Play(lab, skips=True)
        self._play.acknowledged = monitor.acknowledged
        self.steps_run = 0
        self.skipped = 0
        self.bound_us = 0

    async def play(self) -> None:
        """Play all phases. Raises Violated at the first violation, and LabError or InternalError if a store fails."""
        self._play.name_topology()
        start_at = self._lab.now
        self._watch.check(quiet=True)
        for step in steps_of(self._plan):
            await self._advance(start_at + (step.at_us or 0))
            self.steps_run += 1
            await self._do(step.verb, step.args)
            self._watch.check(quiet=False)
        await self._advance(start_at + self._plan.length_us)
        await self._do("repair", "all")
        self._watch.check(quiet=False, closely=True)
        await self._converge()

    async def _do(self, verb: str, args: Any) -> None:
        """Carry out a step, or skip it."""
        try:
            await STEPS[verb](self._play, args)
        except (NodeError, StepFailed):
            self.skipped += 1
        except (LabError, InternalError, Violated):
            raise
        except Exception as error:
            raise InternalError.of(f"server {_server_of(args)}", "while serving a user", error) from error

    async def _advance(self, to_at: int) -> None:
        """Advance the lab to an instant. The monitor checks the lab at each quiet instant before that."""
        if to_at > self._lab.now:
            await self._lab.until(self._quiet, to_at)

    def _quiet(self) -> bool:
        self._watch.check(quiet=True)
        return False

    async def _converge(self) -> None:
        """Advance until the lab has converged and settled, or until the bound ends."""  # spec: CV-3
        now = self._lab.now
        # If a server's clock was fast, it stops until lab time reaches it.
        ahead_us = max(0, *(at - now for at in self._watch.last_at.values()))
        self.bound_us = bound_of(self._lab).total_us + ahead_us
        end_at = now + self.bound_us
        if self._plan.seed % ONE_PLAYED_OUT_OF:
            await self._advance(min(end_at, now + ahead_us))
            await self._settle(end_at)
        else:
            await self._advance(end_at)
        self._watch.check(quiet=True, closely=True)

    async def _settle(self, end_at: LabTime) -> None:
        while self._lab.now < end_at:
            await self._advance(min(end_at, self._lab.now + JUDGED_EVERY_US))
            if self._watch.observer.judge().verdict().judgement is Judgement.CONVERGED:
                await self._advance(min(end_at, self._lab.now + SETTLING_US))
                return


def _server_of(args: Any) -> str:
    """Return the server of a step, for an error text."""
    on = getattr(args, "on", args)
    return str(on[0] if isinstance(on, tuple) else on)
