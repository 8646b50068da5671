"""What `pflab simulate` does with its options: play seeds or a plan, print plans, make failing ones small."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from pflab.campaign.plans.draw import draw_plan
from pflab.campaign.plans.file import document_of, load_plan, plan_text
from pflab.campaign.plans.plan import Plan
from pflab.campaign.seed import DEFAULT_DAYS, SeedResult, parse_faults, run_plan
from pflab.campaign.seeds import (
    CampaignResult,
    Order,
    as_document,
    chosen_for_verification,
    jobs_here,
    run_campaign,
)
from pflab.campaign.shrinker import MOST_PLAYS, Shrinker
from pflab.cli.bugs import debugging
from pflab.cli.lab_options import (
    RUNS,
    parse_seeds,
    read_bytes,
    read_topology,
)
from pflab.cli.output import CommandError, Json, err, out, print_json, print_lines, progress
from pflab.errors import LabError
from pflab.runs.run_folder import RunFolder
from pflab.terms.verdict import ExitCode, Judgement
from topology import Topology
from topology.problems import counted

VERIFY_SHARE = 0.05
"""Seeds of a long campaign that are played again under another PYTHONHASHSEED, unless told otherwise."""

FROM = 200
"""Campaigns of so many seeds verify by themselves."""

_TELL_BRANCHES_FROM = 20
"""Fewer seeds than this cannot have been everywhere."""

_FRESH_BYTES = 4


@dataclass(frozen=True, slots=True)
class Wish:
    """The options of `pflab simulate`."""

    topology: Topology | None
    days: int
    faults: str
    traces: Path | None
    jobs: int
    shrink: bool
    verify_share: float | None
    as_json: bool
    topology_path: Path | None = None

    def again(self, seed: int) -> str:
        """The command that plays a seed as this one does: what is drawn depends on more than the seed."""
        parts = ["pflab", "simulate"]
        if self.topology_path is not None:
            parts.append(str(self.topology_path))
        parts += ["--seeds", str(seed)]
        if self.days != DEFAULT_DAYS:
            parts += ["--days", str(self.days)]
        if self.faults != "all":
            parts += ["--faults", self.faults]
        return shlex.join(parts)

    def kinds(self) -> tuple[str, ...]:
        try:
            return parse_faults(self.faults)
        except ValueError as error:
            raise CommandError(f"--faults {self.faults}: {error}") from None

    def draw(self, seed: int) -> Plan:
        return draw_plan(seed, days=self.days, faults=self.kinds(), topology=self.topology)


# --- which seeds


def chosen_seeds(seeds: str | None, seed_file: Path | None, count: int) -> Sequence[int]:
    """Those named, those of a file (one a line), or fresh ones, which nobody has seen before."""
    if seed_file is not None:
        return _seeds_of(seed_file)
    if seeds is not None:
        return parse_seeds(seeds)
    base = int.from_bytes(os.urandom(_FRESH_BYTES), "big")
    return range(base, base + count)


def _seeds_of(path: Path) -> list[int]:
    found: list[int] = []
    for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            found += parse_seeds(text)
        except CommandError as error:
            raise CommandError(f"{path}:{number}: {error}") from None
    if not found:
        raise CommandError(f"{path}: no seeds; write one, or a range such as 1..20, on each line")
    return found


# --- what is done with them


def print_plans(seeds: Sequence[int], wish: Wish) -> int:
    """Prints plans and plays none."""
    plans = [wish.draw(seed) for seed in seeds]
    if wish.as_json:
        print_json([document_of(plan) for plan in plans])
        return ExitCode.GOOD
    for index, plan in enumerate(plans):
        typer.echo(("---\n" if index else "") + plan_text(plan, [wish.again(plan.seed)]), nl=False)
    return ExitCode.GOOD


def play_plan(path: Path, wish: Wish) -> int:
    """Plays a plan file, and shrinks it if asked to and it fails."""
    plan = load_plan(path)
    result = run_plan(plan, folder=wish.traces)
    if wish.as_json:
        print_json(result.as_document())
    else:
        print_lines(result.in_words(), style=None if result.judgement is Judgement.CONVERGED else "red")
    _tell_bugs([result], f"pflab simulate --plan {shlex.quote(str(path))}")
    if wish.shrink and result.violations:
        shrink_all([plan], aside=wish.as_json)
    return result.exit_code


def hunt(seeds: Sequence[int], wish: Wish) -> int:
    """Plays the seeds and says what was found."""
    order = Order.of(wish.days, wish.kinds(), wish.topology, wish.traces)
    by_itself = VERIFY_SHARE if len(seeds) >= FROM and wish.traces is None else 0.0
    share = by_itself if wish.verify_share is None else wish.verify_share
    more = len(chosen_for_verification(seeds, share))
    if not wish.as_json:
        err.print(f"seeds {_shown(seeds)}", style="dim")
    with progress(len(seeds) + more, "seeds") as bar:

        def done(result: SeedResult) -> None:
            bar.advance(bar.task_ids[0])
            if result.judgement is not Judgement.CONVERGED and not wish.as_json:
                print_lines(result.in_words(), style="red")

        campaign = run_campaign(
            seeds,
            order,
            jobs=1 if wish.traces is not None else wish.jobs or jobs_here(),
            verify_share=share,
            done=done,
            verified=lambda _: bar.advance(bar.task_ids[0]),
        )
    if wish.as_json:
        print_json(as_document(campaign))
    else:
        _tell(campaign, len(seeds), wish)
    bugs = [each for each in campaign.results if each.traceback]
    _tell_bugs(bugs, wish.again(bugs[0].seed) if bugs else "")
    failing = [each.seed for each in campaign.results if each.violations]
    if wish.shrink and failing:
        shrink_all([wish.draw(seed) for seed in failing], aside=wish.as_json)
    return campaign.exit_code


def _shown(seeds: Sequence[int]) -> str:
    if isinstance(seeds, range) and len(seeds) > 1:
        return f"{seeds[0]}..{seeds[-1]}"
    return ", ".join(map(str, seeds))


def _tell(campaign: CampaignResult, wanted: int, wish: Wish) -> None:
    results = campaign.results
    good = sum(each.judgement is Judgement.CONVERGED for each in results)
    lines = [f"{good} of {counted(len(results), 'seed')} converged and kept every acknowledged change"]
    if campaign.interrupted:
        lines.append(f"stopped after {len(results)} of {counted(wanted, 'seed')}")
    if campaign.verified:
        lines.append(f"{counted(campaign.verified, 'seed')} played again in processes with another hash seed")
    if campaign.order.topology is None and campaign.order.faults and len(results) >= _TELL_BRANCHES_FROM:
        lines += _of_branches(campaign)
    print_lines(lines)
    for seed in campaign.differing:
        print_lines([f"seed {seed} is not the same in another process"], style="red")
    failing = [each.seed for each in results if each.violations]
    if failing:
        print_lines([f"see one again: {wish.again(failing[0])}; make it small: add --shrink"], style="dim")


def _of_branches(campaign: CampaignResult) -> list[str]:
    unseen = campaign.unseen
    total = len(campaign.branches())
    if not unseen:
        return [f"branches seen: all {total} that are counted"]
    fails = ", which fails a campaign of this length" if campaign.must_see_all else ""
    return [f"branches never seen{fails}: {', '.join(unseen)}"]


def _tell_bugs(results: Sequence[SeedResult], again: str) -> None:
    """Say on stderr which seeds met an internal error, and how to see the first again; with --debug, their tracebacks."""
    bugs = [each for each in results if each.traceback]
    if not bugs:
        return
    for each in bugs if debugging() else []:
        err.print(each.traceback, markup=False)
    seeds = ", ".join(str(each.seed) for each in bugs)
    hint = f"this is a bug; play it again for the traceback: {again} --debug"
    err.print(f"pflab: internal error with seed {seeds} ({hint})", markup=False)


# --- shrinking


def shrink_all(plans: Sequence[Plan], *, aside: bool) -> None:
    """Makes each small and writes it as a file into a run folder. `aside`: stdout belongs to a program."""
    said = err if aside else out
    folder = RunFolder.create(RUNS, "simulate", started=datetime.now(UTC))
    for plan in plans:
        with progress(MOST_PLAYS, f"shrinking seed {plan.seed}") as bar:
            shrinker = Shrinker(tick=lambda plays, _size: bar.update(bar.task_ids[0], completed=plays))
            try:
                shrunk = shrinker.shrink(plan)
            except LabError as error:
                err.print(str(error), markup=False)
                continue
        path = folder.path / f"shrunk-{plan.seed}.yaml"
        path.write_text(shrunk.text(f"pflab simulate --plan {path}"), encoding="utf-8")
        size = f"{counted(len(shrunk.plan.steps), 'step')}, {counted(len(shrunk.plan.faults), 'fault')}, "
        size += counted(len(shrunk.plan.topology["servers"]), "store")
        how = "" if shrunk.complete else ", not to the end"
        said.print(f"seed {plan.seed} shrunk to {size} in {counted(shrunk.plays, 'play')}{how}: {path}", markup=False)


def simulate(
    topology: Annotated[
        Path | None, typer.Argument(help="A topology file; without one each seed draws its own.")
    ] = None,
    *,
    seeds: Annotated[
        str | None, typer.Option(metavar="A..B", help="The seeds, both ends included; without it, fresh ones.")
    ] = None,
    seed_file: Annotated[Path | None, typer.Option(help="A file of seeds, one or a range on each line.")] = None,
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many fresh seeds.")] = 20,
    days: Annotated[
        int, typer.Option(min=1, max=365, help="Most lab days of work and faults before everything is healed.")
    ] = 3,
    faults: Annotated[
        str, typer.Option(metavar="all|none|LIST", help="Which kinds of fault, joined by commas.")
    ] = "all",
    plan: Annotated[Path | None, typer.Option(help="Play this plan file in place of seeds.")] = None,
    expand: Annotated[bool, typer.Option("--expand", help="Print the plans of the seeds and play none.")] = False,
    shrink: Annotated[
        bool, typer.Option("--shrink", help="Make each failing plan small and write it below runs/simulate/.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=0, max=256, help="Workers; 0: one for each core.")] = 0,
    verify_share: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Share of seeds played again in processes with another hash seed; 0.05 from 200 seeds on,"
            " and none with --traces.",
        ),
    ] = None,
    traces: Annotated[
        Path | None, typer.Option(help="Keep the traces of each seed below this folder; one seed after the other.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Play many seeds in the simulator: work and faults, then heal, then all must converge within the bound.

    Example: pflab simulate --seeds 1..100 --days 2 --faults loss,partition
    """
    if plan is not None:
        given = {
            "--seeds": seeds,
            "--seed-file": seed_file,
            "--expand": expand or None,
            "--verify-share": verify_share,
            "a topology": topology,
        }
        beside = [name for name, value in given.items() if value is not None]
        if beside:
            raise CommandError(f"pflab simulate: --plan says all that is played; leave out {' and '.join(beside)}")
    if traces is not None and verify_share:
        raise CommandError(
            "pflab simulate: --verify-share plays seeds a second time in other processes, which keep no traces;"
            " leave out --traces or --verify-share"
        )
    organization = None if topology is None else _topology(topology)
    wish = Wish(organization, days, faults, traces, jobs, shrink, verify_share, as_json, topology)
    if plan is not None:
        return play_plan(plan, wish)
    chosen = chosen_seeds(seeds, seed_file, count)
    return print_plans(chosen, wish) if expand else hunt(chosen, wish)


def _topology(path: Path) -> Topology:
    try:
        return read_topology(path)
    except OSError as error:
        raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}; name a topology file") from error
