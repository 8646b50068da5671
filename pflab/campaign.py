"""Campaigns: many seeds, each an organization under work and faults, healed, and judged (spec: CV-1 to CV-3).

A seed is played to the end of its days, then every fault ends and the lab is given the bound that its settings allow
for convergence. What does not agree then, or was lost, or claims what is not so, is a violation; the seed and the
witness in words are what one needs to see it again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pflab.bound import bound_of
from pflab.campaign_draw import draw_topology
from pflab.campaign_work import FAULT_KINDS, Workload
from pflab.network import NetworkPolicy
from pflab.oracle_judge import Observer
from pflab.runfolder import RunFolder
from pflab.simulator import Simulator
from pflab.verdict import ExitCode, Judgement
from topology import Topology
from traces.labtime import DAY_US, MINUTE_US

DEFAULT_DAYS = 3
_JITTERS_US = (0, 0, 10_000_000, 5 * MINUTE_US)


@dataclass(frozen=True, slots=True)
class SeedResult:
    """What became of one seed. `bound_us` is what the lab was given to converge in after the faults ended."""

    seed: int
    judgement: Judgement
    words: tuple[str, ...]
    steps: int
    bound_us: int
    branches: frozenset[str]


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """All seeds of a campaign."""

    results: tuple[SeedResult, ...]

    @property
    def failed(self) -> tuple[SeedResult, ...]:
        return tuple(each for each in self.results if each.judgement is not Judgement.CONVERGED)

    @property
    def exit_code(self) -> int:
        if any(each.judgement is Judgement.NOT_CONVERGED for each in self.results):
            return ExitCode.VIOLATION
        return ExitCode.UNKNOWN if self.failed or not self.results else ExitCode.GOOD

    def branches(self) -> dict[str, int]:
        """How many seeds went through each remarkable branch."""
        return {name: sum(name in each.branches for each in self.results) for name in BRANCHES}


BRANCHES: dict[str, str] = {
    "conflict": "conflict.arose",
    "lost edit told": "conflict.notice",
    "mail lost": "hop.dropped",
    "backfill entry": "entry.made",
    "backfill request": "request.sent",
    "source marked down": "source.down",
    "source up again": "source.up",
    "held version": "version.held",
    "entry pruned": "entry.pruned",
    "status sent": "status.due",
    "tombstone": "tombstone.made",
    "replica added": "replica.added",
    "replica dropped": "replica.dropped",
    "replica pending": "replica.pending",
    "folder hidden": "folder.hidden",
    "version ignored": "version.ignored",
}
"""Remarkable branches, by the event that shows each."""


def parse_faults(text: str) -> tuple[str, ...]:
    """`all`, `none`, or some of the kinds by name. ValueError for another word."""
    if text == "all":
        return FAULT_KINDS
    if text == "none":
        return ()
    kinds = tuple(part.strip() for part in text.split(","))
    unknown = [kind for kind in kinds if kind not in FAULT_KINDS]
    if unknown:
        raise ValueError(f"no fault {', '.join(unknown)}; there are all, none, {', '.join(FAULT_KINDS)}")
    return kinds


def run_seed(
    seed: int,
    *,
    topology: Topology | None = None,
    days: int = DEFAULT_DAYS,
    faults: Sequence[str] = FAULT_KINDS,
    folder: Path | None = None,
) -> SeedResult:
    """Plays one seed. `folder`: where its traces go, for a seed that is to be looked at."""
    return asyncio.run(_run_seed(seed, topology, days, faults, folder))


async def _run_seed(
    seed: int, topology: Topology | None, days: int, faults: Sequence[str], folder: Path | None
) -> SeedResult:
    draw = random.Random(f"campaign {seed}")
    organization = topology or draw_topology(draw, f"seed {seed}")
    whims = NetworkPolicy(shuffle=draw.random() < 0.5, jitter_us=draw.choice(_JITTERS_US)) if faults else None
    run_folder = RunFolder.create(folder, f"seed-{seed}") if folder is not None else None
    async with Simulator(organization, seed=seed, network=whims, folder=run_folder) as lab:
        observer = Observer(lab)
        work = Workload(lab, organization, draw, faults)
        await work.play(lab.now + days * DAY_US)
        await work.heal()
        bound = bound_of(lab)
        await lab.advance(lab.now + bound.total_us)
        observer.observe()
        verdict = observer.judge().verdict()
        lab.verdict = "passed" if verdict.judgement is Judgement.CONVERGED else "failed"
        seen = {event.__struct_config__.tag for event in lab.events()}
        return SeedResult(
            seed=seed,
            judgement=verdict.judgement,
            words=tuple(verdict.in_words()),
            steps=lab.steps,
            bound_us=bound.total_us,
            branches=frozenset(name for name, tag in BRANCHES.items() if tag in seen),
        )


def run_campaign(
    seeds: Iterable[int],
    *,
    topology: Topology | None = None,
    days: int = DEFAULT_DAYS,
    faults: Sequence[str] = FAULT_KINDS,
    done: Callable[[SeedResult], None] = lambda _: None,
) -> CampaignResult:
    """Plays the seeds one after the other; `done` hears of each."""
    results = []
    for seed in seeds:
        result = run_seed(seed, topology=topology, days=days, faults=faults)
        done(result)
        results.append(result)
    return CampaignResult(tuple(results))
