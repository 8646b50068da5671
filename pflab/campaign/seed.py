"""Run one seed of a campaign: draw its scenario, play it, check its invariants, and judge the lab (spec: CV-1 to CV-3).

A violation of an invariant ends the play at once. After the play the oracle's judge finds stores that do not agree. The seed
is enough to repeat the run.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from node.errors import InternalError
from pflab.campaign.draw.faults import FAULT_KINDS
from pflab.campaign.draw.scenario import draw_scenario
from pflab.campaign.monitor import CampaignMonitor
from pflab.campaign.player import Player
from pflab.campaign.scenario_document import Document, scenario_of_document
from pflab.errors import LabError
from pflab.invariants.invariant import Invariant, Violation, violations_of
from pflab.invariants.registry import INVARIANTS
from pflab.oracle.monitor import Violated
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import Scenario
from pflab.simulation.simulator import Simulator
from pflab.terms.verdict import ExitCode, Judgement
from topology.model import Topology

DEFAULT_DAYS = 3

MAX_WITNESSES = 12
"""How many violations of one seed are printed. One defect often causes many violations."""

STORE_FAILED = "no store fails"


@dataclass(frozen=True, slots=True)
class SeedResult:
    """The result of one seed.

    violations: in the order found; empty if there are none.
    doubts: why the result is unknown.
    bound_us: the time in which the lab had to converge; 0 if the play ended earlier.
    steps: how many steps the simulator did.
    steps_run: how many steps of the scenario were tried.
    skipped: how many of these did nothing.
    branches: how often each branch was reached.
    digest: a hash of all events.
    traceback: that of an internal error that ended the play, or ''.
    """

    seed: int
    judgement: Judgement
    violations: tuple[Violation, ...] = ()
    doubts: tuple[str, ...] = ()
    bound_us: int = 0
    steps: int = 0
    steps_run: int = 0
    skipped: int = 0
    branches: dict[str, int] = field(default_factory=dict)
    digest: str = ""
    traceback: str = ""

    @property
    def exit_code(self) -> int:
        if self.traceback:
            return ExitCode.INTERNAL
        return {Judgement.CONVERGED: ExitCode.GOOD, Judgement.NOT_CONVERGED: ExitCode.VIOLATION}.get(
            self.judgement, ExitCode.UNKNOWN
        )

    @property
    def broken(self) -> frozenset[str]:
        """The ids of the violated invariants."""
        return frozenset(violation.invariant for violation in self.violations)

    def in_words(self) -> list[str]:
        lines = [f"seed {self.seed}: {self.judgement.value}"]
        lines += [f"  {violation.in_words()}" for violation in self.violations[:MAX_WITNESSES]]
        if len(self.violations) > MAX_WITNESSES:
            lines.append(f"  and {len(self.violations) - MAX_WITNESSES} more")
        return lines + [f"  {doubt}" for doubt in self.doubts]

    def as_document(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "judgement": self.judgement.value,
            "violations": [
                {
                    "invariant": violation.invariant,
                    "rules": list(violation.rules),
                    "at": violation.at,
                    "witness": violation.witness,
                }
                for violation in self.violations
            ],
            "doubts": list(self.doubts),
            "bound_us": self.bound_us,
            "digest": self.digest,
            "traceback": self.traceback,
        }


def parse_faults(text: str) -> tuple[str, ...]:
    """Return the kinds of fault that `--faults` names: `all`, `none`, or a list. Raises ValueError for any other word."""
    if text == "all":
        return FAULT_KINDS
    if text == "none":
        return ()
    kinds = tuple(part.strip() for part in text.split(","))
    unknown = [kind for kind in kinds if kind not in FAULT_KINDS]
    if unknown:
        raise ValueError(f"unknown fault {', '.join(unknown)}; write all, none, or some of {', '.join(FAULT_KINDS)}")
    return tuple(kind for kind in FAULT_KINDS if kind in kinds)


def run_seed(
    seed: int,
    *,
    topology: Topology | None = None,
    days: int = DEFAULT_DAYS,
    faults: Sequence[str] = FAULT_KINDS,
    folder: Path | None = None,
) -> SeedResult:
    """Draw a seed's scenario and play it. Traces are kept only below `folder`, if one is given."""
    return run_document(draw_scenario(seed, days=days, faults=faults, topology=topology), folder=folder)


def run_document(
    document: Document, *, folder: Path | None = None, invariants: Sequence[type[Invariant]] = INVARIANTS
) -> SeedResult:
    """Play the scenario of a seed. Raises ScenarioError or LabError if its lab cannot be created."""
    return asyncio.run(play_seed(scenario_of_document(document), folder, invariants))


async def play_seed(
    scenario: Scenario, folder: Path | None, invariants: Sequence[type[Invariant]] = INVARIANTS
) -> SeedResult:
    """Play the scenario of a seed, as `run_document` does, in the event loop that runs."""
    seed = scenario.seed or 0
    run_folder = None if folder is None else RunFolder.create(folder, f"seed-{seed}")
    network = None if scenario.network is None else scenario.network.policy()
    lab = Simulator(scenario.topology, seed=seed, network=network, folder=run_folder)
    monitor = CampaignMonitor(lab, invariants)
    play = Player(lab, scenario, monitor)
    await lab.up()
    violations: tuple[Violation, ...] = ()
    doubts: tuple[str, ...] = ()
    internal = ""
    try:
        await play.play()
        violations, doubts = violations_of(monitor.observer.judge().verdict(), lab.now)
    except Violated as found:
        violations = found.violations
    except (LabError, InternalError) as error:
        internal = "".join(traceback.format_exception(error)) if isinstance(error, InternalError) else ""
        violations = (Violation(STORE_FAILED, ("IN-5", "OUT-9"), lab.now, str(error)),)
    judgement = Judgement.UNKNOWN if doubts else Judgement.CONVERGED
    if violations:
        judgement = Judgement.NOT_CONVERGED
    lab.verdict = "passed" if judgement is Judgement.CONVERGED else "failed"
    with suppress(*([Exception] if violations else [])):  # a store that has failed may fail to stop as well
        await lab.close()
    return SeedResult(
        seed=seed,
        judgement=judgement,
        violations=violations,
        doubts=doubts,
        bound_us=play.bound_us,
        steps=lab.steps,
        steps_run=play.steps_run,
        skipped=play.skipped,
        branches=dict(sorted(monitor.branches.counts.items())),
        digest=monitor.digest,
        traceback=internal,
    )
