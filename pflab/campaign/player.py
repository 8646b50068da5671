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

from pflab.campaign.fault_actions import TimedAction, actions_of, start_server
from pflab.campaign.monitor import Monitor
from pflab.campaign.plans.plan import Plan
from pflab.campaign.step_actions import StepRunner, end_never, set_suspended
from pflab.oracle.convergence_bound import bound_of
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

_ENDS, _BEGINS, _STEPS = range(3)


class Player:
    """Plays one plan on one lab, which is already up."""

    def __init__(self, lab: Simulator, plan: Plan, monitor: Monitor) -> None:
        self._lab = lab
        self._plan = plan
        self._watch = monitor
        self.runner = StepRunner(lab, monitor.acknowledged)
        self.bound_us = 0

    async def play(self) -> None:
        """Play all phases. Raises Violated at the first violation, and LabError or InternalError if a store fails."""
        self.runner.begin()
        start_at = self._lab.now
        self._watch.check(quiet=True)
        for moment in self._moments():
            await self._advance(start_at + moment.at_us)
            await moment.run()
            self._watch.check(quiet=False)
        await self._advance(start_at + self._plan.length_us)
        await self._heal()
        await self._converge()

    def _moments(self) -> list[TimedAction]:
        """Return all actions of the work phase in order. At one instant ends come first, then beginnings, then steps."""
        end_us = self._plan.length_us
        found: list[tuple[int, int, TimedAction]] = []
        for fault in self._plan.faults:
            moments = actions_of(self._lab, fault, end_us)
            found += [(each.at_us, _BEGINS if each.at_us == fault.at_us else _ENDS, each) for each in moments]
        for step in self._plan.steps:
            if step.at_us < end_us:
                act = lambda step=step: self.runner.run(step)  # noqa: E731
                found.append((step.at_us, _STEPS, TimedAction(step.at_us, act)))
        return [moment for _, _, moment in sorted(found, key=lambda each: each[:2])]

    async def _advance(self, to_at: int) -> None:
        """Advance the lab to an instant. The monitor checks the lab at each quiet instant before that."""
        if to_at > self._lab.now:
            await self._lab.until(self._quiet, to_at)

    def _quiet(self) -> bool:
        self._watch.check(quiet=True)
        return False

    async def _heal(self) -> None:
        """End all faults, start all stores that have joined and were not deleted, and let content replicate and addresses be
        stamped everywhere."""
        self._lab.faults.heal()
        if self._lab.topology.recipient_update_us is None:
            await self._lab.set_recipient_policy(recipient_update="always")
        for name in self._lab.names:
            await start_server(self._lab, name)
        await set_suspended(self.runner, suspended=False)
        await end_never(self.runner)
        self._watch.check(quiet=False, closely=True)

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
