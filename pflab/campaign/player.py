"""Playing a plan on a simulated lab: steps and faults in order of time, then everything is healed, and the lab gets the
time that its bound allows for convergence (CV-3). Most labs converge in a small part of it and would only repeat their
statuses until it ends; they are played on for some days, in which nothing may change any more, and one lab in so many for
all of its bound.
"""

from __future__ import annotations

from pflab.campaign.fault_actions import TimedAction, actions_of, back
from pflab.campaign.monitor import Monitor
from pflab.campaign.plans.plan import Plan
from pflab.campaign.step_actions import StepRunner, set_suspended
from pflab.oracle.convergence_bound import bound_of
from pflab.simulation.simulator import Simulator
from pflab.terms.verdict import Judgement
from traces.labtime import DAY_US, HOUR_US, LabTime

SETTLING_US = 2 * DAY_US
"""So long a lab that has converged is played on: every store sends its unasked status in it, which takes 36 hours at most
(ST-1), and whatever that brings about is done."""

JUDGED_EVERY_US = 12 * HOUR_US
"""After the heal, until the lab has converged. As often as stores check their status (ST-1)."""

ONE_PLAYED_OUT_OF = 16
"""Of so many seeds one is played to the end of its bound, however early it has converged."""

_ENDS, _BEGINS, _STEPS = range(3)


class Player:
    """One plan on one lab, which is up already."""

    def __init__(self, lab: Simulator, plan: Plan, monitor: Monitor) -> None:
        self._lab = lab
        self._plan = plan
        self._watch = monitor
        self.runner = StepRunner(lab, monitor.acknowledged)
        self.bound_us = 0

    async def play(self) -> None:
        """All of it. Raises Violated at the first thing that must not be, LabError where a store fails."""
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
        """At one instant what ends comes first, then what begins, then what users do."""
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
        """Looking whenever the lab is quiet on its way there."""
        if to_at > self._lab.now:
            await self._lab.until(self._quiet, to_at)

    def _quiet(self) -> bool:
        self._watch.check(quiet=True)
        return False

    async def _heal(self) -> None:
        """All faults end, every store that ever ran and was not deleted runs, and content goes on."""
        self._lab.faults.heal()
        self._lab.environment.heal()
        for name in self._lab.names:
            await back(self._lab, name)
        await set_suspended(self.runner, suspended=False)
        self._watch.check(quiet=False, closely=True)

    async def _converge(self) -> None:
        """Until the bound ends, or until the lab has been converged for a while."""  # spec: CV-3
        now = self._lab.now
        # A clock that was fast stands still until the lab's has come up with it.
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
