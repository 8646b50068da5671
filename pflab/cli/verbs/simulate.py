"""The verb `simulate`: play seeds, once or endlessly, print their scenarios, and shrink those that fail."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

from typer import Argument, Option

from pflab.campaign.draw.scenario import draw_scenario
from pflab.campaign.ledger import Ledger, Totals
from pflab.campaign.reductions import work_of
from pflab.campaign.scenario_document import Document, scenario_text
from pflab.campaign.seed import DEFAULT_DAYS, SeedResult, parse_faults
from pflab.campaign.seeds import (
    CampaignResult,
    Order,
    Played,
    as_document,
    chosen_for_verification,
    jobs_here,
    run_campaign,
)
from pflab.campaign.shrinker import MOST_PLAYS, Shrinker
from pflab.cli.bugs import debugging
from pflab.cli.inputs.by_name import read_topology
from pflab.cli.inputs.files import RUNS, read_bytes
from pflab.cli.judging.engines import Deselect, Select
from pflab.cli.options import A_TOPOLOGY
from pflab.cli.output import CommandError, Json, err, out, print_file, print_json, print_lines, progress
from pflab.errors import LabError
from pflab.runs.run_folder import RunFolder
from pflab.terms.verdict import ExitCode, Judgement
from topology.model import Topology
from topology.problems import counted

VERIFY_SHARE = 0.05
"""The default share of the seeds of a long campaign that are played again under another PYTHONHASHSEED."""

VERIFY_FROM_SEEDS = 200
"""Campaigns of at least this many seeds verify a share of them by default."""

_REPORT_BRANCHES_FROM = 20
"""Campaigns of fewer seeds do not report which branches they missed, because they cannot reach all."""

_FRESH_BYTES = 4

BLOCK: Final = 100
"""The number of seeds between two entries in the ledger. A process that is killed loses at most this many."""

DEFAULT_COUNT = 20

LOCAL: Final = "local[*]"
"""The Spark master that has all cores of this machine."""

DEFAULT_LEDGER = RUNS / "simulate" / "ledger.jsonl"


@dataclass(frozen=True, slots=True)
class OnSpark:
    """Where Spark plays seeds, and the words that choose the rule checks of the traces."""

    master: str
    select: tuple[str, ...] = ()
    deselect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SimulateOptions:
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
    spark: OnSpark | None = None

    def again(self, seed: int) -> str:
        """Return the command that plays this seed again. It repeats all options on which its scenario depends."""
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

    def draw(self, seed: int) -> Document:
        return draw_scenario(seed, days=self.days, faults=self.kinds(), topology=self.topology)


# --- which seeds


def chosen_seeds(seeds: str | None, seed_file: Path | None, count: int) -> Sequence[int]:
    """Return the seeds in the text `seeds`, the seeds in a file, or `count` random seeds."""
    if seed_file is not None:
        return _seeds_of(seed_file)
    if seeds is not None:
        return parse_seeds(seeds)
    base = _fresh_seed()
    return range(base, base + count)


def _fresh_seed() -> int:
    """Return a random seed, so that two machines play different seeds."""
    return int.from_bytes(os.urandom(_FRESH_BYTES), "big")


def _seeds_of(path: Path) -> list[int]:
    seeds: list[int] = []
    for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").split("\n"), start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            seeds += parse_seeds(text)
        except CommandError as error:
            raise CommandError(f"{path}:{number}: {error}") from None
    if not seeds:
        raise CommandError(f"{path}: no seeds; write a seed, or a range such as 1..20, on each line")
    return seeds


# --- scenarios and campaigns


def print_scenarios(seeds: Sequence[int], options: SimulateOptions) -> int:
    """Print the scenarios of the seeds without playing them. Return the exit code."""
    if options.as_json:
        print_json([options.draw(seed) for seed in seeds])
        return ExitCode.GOOD
    for index, seed in enumerate(seeds):
        print_file(("---\n" if index else "") + scenario_text(options.draw(seed), [options.again(seed)]))
    return ExitCode.GOOD


def run_seeds(seeds: Sequence[int], options: SimulateOptions) -> int:
    """Play the seeds and print the results. Return the exit code."""
    order = Order.of(options.days, options.kinds(), options.topology, options.traces)
    is_here = options.traces is None and options.spark is None
    default = VERIFY_SHARE if len(seeds) >= VERIFY_FROM_SEEDS and is_here else 0.0
    share = default if options.verify_share is None else options.verify_share
    more = len(chosen_for_verification(seeds, share))
    if not options.as_json:
        err.print(f"seeds {_shown(seeds)}", style="dim")
    with playing_on(options.spark) as played, progress(len(seeds) + more, "seeds") as bar:

        def done(result: SeedResult) -> None:
            bar.advance(bar.task_ids[0])
            if result.judgement is not Judgement.CONVERGED and not options.as_json:
                print_lines(result.in_words(), style="red")

        campaign = run_campaign(
            seeds,
            order,
            jobs=1 if options.traces is not None else options.jobs or jobs_here(),
            verify_share=share,
            done=done,
            verified=lambda _: bar.advance(bar.task_ids[0]),
            played=played,
        )
    if options.as_json:
        print_json(as_document(campaign))
    else:
        _print_summary(campaign, len(seeds), options)
    bugs = [result for result in campaign.results if result.traceback]
    _print_bugs(bugs, options.again(bugs[0].seed) if bugs else "")
    failing = [result.seed for result in campaign.results if result.violations]
    if options.shrink and failing:
        shrink_all([options.draw(seed) for seed in failing], aside=options.as_json)
    return campaign.exit_code


def _shown(seeds: Sequence[int]) -> str:
    if isinstance(seeds, range) and len(seeds) > 1:
        return f"{seeds[0]}..{seeds[-1]}"
    return ", ".join(map(str, seeds))


def _print_summary(campaign: CampaignResult, seed_count: int, options: SimulateOptions) -> None:
    results = campaign.results
    good = sum(result.judgement is Judgement.CONVERGED for result in results)
    lines = [f"{good} of {counted(len(results), 'seed')} converged and kept every acknowledged change"]
    if campaign.interrupted:
        lines.append(f"stopped after {len(results)} of {counted(seed_count, 'seed')}")
    if campaign.verified:
        lines.append(f"{counted(campaign.verified, 'seed')} played again in processes with another hash seed")
    if campaign.order.topology is None and campaign.order.faults and len(results) >= _REPORT_BRANCHES_FROM:
        lines += _branch_lines(campaign)
    print_lines(lines)
    for seed in campaign.differing:
        print_lines([f"seed {seed} has other events in another process"], style="red")
    failing = [result.seed for result in results if result.violations]
    if failing:
        print_lines(
            [f"to play one again: {options.again(failing[0])}; to shrink its scenario, add --shrink"], style="dim"
        )


def _branch_lines(campaign: CampaignResult) -> list[str]:
    missed = campaign.unseen
    total = len(campaign.branches())
    if not missed:
        return [f"all {total} branches were reached"]
    fails = ", which fails a campaign of this length" if campaign.must_see_all else ""
    return [f"branches never reached{fails}: {', '.join(missed)}"]


def _print_bugs(results: Sequence[SeedResult], again: str) -> None:
    """Print on stderr which seeds met an internal error and how to repeat the first; with --debug, also the
    tracebacks."""
    bugs = [result for result in results if result.traceback]
    if not bugs:
        return
    for result in bugs if debugging() else []:
        err.print(result.traceback, markup=False)
    seeds = ", ".join(str(result.seed) for result in bugs)
    hint = f"this is a bug; play it again for the traceback: {again} --debug"
    err.print(f"pflab: internal error with seed {seeds} ({hint})", markup=False)


# --- a campaign with a ledger


@dataclass(frozen=True, slots=True)
class Endless:
    """How seeds are played.

    `count`: how many; None: until the process is stopped.
    """

    ledger: Path
    order: Order
    jobs: int
    verify_share: float
    count: int | None
    as_json: bool
    spark: OnSpark | None = None


def play_on(options: Endless) -> int:
    """Play the seeds after those of a ledger, and append what was found. Return the exit code. Raises LedgerError."""
    codes = {int(ExitCode.GOOD)}
    with Ledger.opened(options.ledger) as ledger:
        with suppress(KeyboardInterrupt):  # between two blocks; within a block, the campaign ends by itself
            if not options.as_json:
                err.print(f"{options.ledger}: {_summary(ledger.totals)}", style="dim", markup=False)
            with playing_on(options.spark) as played:
                for code in _blocks(options, ledger, played):
                    codes.add(code)
        if options.as_json:
            print_json({**asdict(ledger.totals), "codes": sorted(ledger.totals.codes)})
    return max(codes)


def _blocks(options: Endless, ledger: Ledger, played: Played | None) -> Iterator[int]:
    """Play and append block after block; yield the exit code of each."""
    totals = ledger.totals
    first, remaining = totals.last_seed + 1 if totals.seeds else _fresh_seed(), options.count
    while remaining is None or remaining > 0:
        seeds = range(first, first + (BLOCK if remaining is None else min(BLOCK, remaining)))
        began_s = time.monotonic()
        campaign = _played_block(seeds, options, played)
        took_s = time.monotonic() - began_s
        ledger.append(first, campaign, took_s)
        if not options.as_json and campaign.results:
            _print_block(campaign, seeds, took_s, totals)
        yield _exit_code(campaign, bounded=remaining is not None)
        if campaign.interrupted:
            return
        first, remaining = seeds.stop, None if remaining is None else remaining - len(seeds)


def _played_block(seeds: range, options: Endless, played: Played | None) -> CampaignResult:
    with progress(len(seeds), f"seeds {seeds[0]}..{seeds[-1]}") as bar:

        def done(result: SeedResult) -> None:
            bar.advance(bar.task_ids[0])
            if result.judgement is not Judgement.CONVERGED and not options.as_json:
                print_lines(result.in_words(), style="red")

        return run_campaign(
            seeds, options.order, jobs=options.jobs, verify_share=options.verify_share, done=done, played=played
        )


def _exit_code(campaign: CampaignResult, *, bounded: bool) -> int:
    """Return the exit code of a block. Who stops a campaign without an end has all that was asked for."""
    if bounded or campaign.failed or campaign.differing:
        return campaign.exit_code
    return ExitCode.GOOD


def _print_block(campaign: CampaignResult, seeds: range, took_s: float, totals: Totals) -> None:
    played = len(campaign.results)
    bad = len(campaign.failed) + len(campaign.differing)
    how = counted(bad, "finding") if bad else "all converged"
    rate = f"{played / took_s * 60:,.0f} a minute" if took_s > 0 else ""
    print_lines([f"seeds {seeds[0]}..{seeds[0] + played - 1}: {how}, {rate}; {_summary(totals)}"])
    for seed in campaign.differing:
        print_lines([f"seed {seed} has other events in another process"], style="red")


def _summary(totals: Totals) -> str:
    if not totals.seeds:
        return "a new ledger"
    findings = "no finding" if not totals.findings else counted(totals.findings, "finding")
    latest = f", the last with seed {totals.found[-1]}" if totals.found else ""
    return f"{totals.seeds:,} seeds played by {counted(len(totals.codes), 'version')} of the code, {findings}{latest}"


# --- shrinking


def shrink_all(scenarios: Sequence[Document], *, aside: bool) -> None:
    """Shrink each scenario, and write it into a run folder.

    aside: report on stderr, because stdout is JSON.
    """
    console = err if aside else out
    folder = RunFolder.create(RUNS, "simulate", started=datetime.now(UTC))
    for scenario in scenarios:
        seed = scenario["seed"]
        with progress(MOST_PLAYS, f"shrinking seed {seed}") as bar:
            shrinker = Shrinker(tick=lambda plays, _size: bar.update(bar.task_ids[0], completed=plays))
            try:
                shrunk = shrinker.shrink(scenario)
            except LabError as error:
                err.print(str(error), markup=False)
                continue
        path = folder.path / f"shrunk-{seed}.yaml"
        path.write_text(shrunk.text(f"pflab run {path} --simulate"), encoding="utf-8")
        steps, stores = work_of(shrunk.scenario), shrunk.scenario["topology"]["servers"]
        size = f"{counted(len(steps), 'step')}, {counted(len(stores), 'store')}"
        how = "" if shrunk.complete else ", not completely"
        plays = counted(shrunk.plays, "play")
        console.print(f"seed {seed} shrunk to {size} in {plays}{how}: {path}", markup=False)


def simulate(
    topology: Annotated[
        Path | None,
        Argument(metavar="[TOPOLOGY]", help=f"{A_TOPOLOGY}; default: pflab generates a topology for each seed."),
    ] = None,
    *,
    seeds: Annotated[
        str | None, Option(metavar="A..B", help="The seeds from A to B, A and B included; default: random seeds.")
    ] = None,
    seed_file: Annotated[Path | None, Option(help="A file with a seed or a range of seeds on each line.")] = None,
    count: Annotated[
        int | None, Option(min=1, max=1_000_000, help="The number of random seeds, by default 20.", show_default=False)
    ] = None,
    forever: Annotated[
        bool, Option("--forever", help="Play new seeds until Ctrl-C, and record the results in a ledger.")
    ] = False,
    ledger: Annotated[
        Path | None,
        Option(
            help="Record the results in this file, and continue after the last seed in it. Default with "
            "--forever: runs/simulate/ledger.jsonl."
        ),
    ] = None,
    days: Annotated[
        int,
        Option(
            min=1,
            max=365,
            help="The longest time with work and faults, in days of lab time. Afterwards all faults are healed.",
        ),
    ] = 3,
    faults: Annotated[str, Option(metavar="all|none|LIST", help="The kinds of fault, separated by commas.")] = "all",
    plan: Annotated[Path | None, Option(hidden=True)] = None,
    expand: Annotated[bool, Option("--expand", help="Print the scenarios of the seeds and exit.")] = False,
    shrink: Annotated[
        bool, Option("--shrink", help="Reduce each failing scenario to a small one and write it below runs/simulate/.")
    ] = False,
    jobs: Annotated[int, Option(min=0, max=256, help="Worker processes; 0: one for each core.")] = 0,
    verify_share: Annotated[
        float | None,
        Option(
            min=0.0,
            max=1.0,
            help="The share of seeds to play a second time with another PYTHONHASHSEED, to verify that both runs are"
            " the same. Default: 0.05 for 200 seeds or more, 0 for fewer seeds or with --traces.",
        ),
    ] = None,
    traces: Annotated[
        Path | None,
        Option(help="Keep the traces of each seed in this folder. Seeds are then played one after the other."),
    ] = None,
    spark: Annotated[
        bool,
        Option(
            "--spark",
            help="Play the seeds as tasks of Spark, and judge each trace too, as pflab check does. --select and --deselect"
            " choose the rule checks of the traces.",
        ),
    ] = False,
    master: Annotated[
        str | None, Option(metavar="URL", help="With --spark: the Spark master; default: all cores, local[*].")
    ] = None,
    select: Select = None,
    deselect: Deselect = None,
    as_json: Json = False,
) -> int:
    """Simulate labs with random work and faults, and check that all stores converge in time.

    For each seed pflab draws a scenario of work and faults, and plays it. Then it heals all faults. The seed fails if
    the stores do not converge within a computed time, or if an acknowledged change is lost. The exit code is 1 if a
    seed fails. With --forever pflab plays seeds until it is stopped, and the next time continues with the seed after
    the last one.

    Example: pflab simulate --seeds 1..100 --days 2 --faults lose,cut
    """
    if plan is not None:
        raise CommandError(
            f"pflab simulate --plan {plan}: campaigns have no plan files any more; --shrink writes scenarios for pflab run"
        )
    if traces is not None and verify_share:
        raise CommandError(
            "pflab simulate: --verify-share plays seeds a second time in other processes, which keep no traces;"
            " leave out --traces or --verify-share"
        )
    on_spark = _on_spark(
        spark,
        master,
        select or [],
        deselect or [],
        {
            "--expand": expand or None,
            "--traces": traces,
            "--jobs": jobs or None,
            "--verify-share": verify_share,
        },
    )
    organization = None if topology is None else read_topology(topology)
    options = SimulateOptions(
        organization, days, faults, traces, jobs, shrink, verify_share, as_json, topology, on_spark
    )
    if forever or ledger is not None:
        single_options = {
            "--seeds": seeds,
            "--seed-file": seed_file,
            "--expand": expand or None,
            "--shrink": shrink or None,
            "--traces": traces,
            "--count": count if forever else None,
        }
        _refuse_beside("a campaign with a ledger plays the seeds that come next", single_options)
        order = Order.of(days, options.kinds(), organization)
        share = verify_share if verify_share is not None else 0.0 if on_spark else VERIFY_SHARE
        length = None if forever else count or DEFAULT_COUNT
        return play_on(Endless(ledger or DEFAULT_LEDGER, order, jobs or jobs_here(), share, length, as_json, on_spark))
    chosen = chosen_seeds(seeds, seed_file, count or DEFAULT_COUNT)
    return print_scenarios(chosen, options) if expand else run_seeds(chosen, options)


def _on_spark(
    spark: bool, master: str | None, select: Sequence[str], deselect: Sequence[str], beside: Mapping[str, object]
) -> OnSpark | None:
    """Return where Spark plays the seeds; None if they are played here without Spark."""
    if not spark:
        if master is not None:
            raise CommandError("pflab simulate: --master names a Spark cluster; add --spark")
        if select or deselect:
            raise CommandError("pflab simulate: --select and --deselect choose checks of traces; add --spark")
        return None
    _refuse_beside("--spark plays the seeds in tasks", beside)
    return OnSpark(master or LOCAL, tuple(select), tuple(deselect))


@contextmanager
def playing_on(spark: OnSpark | None) -> Iterator[Played | None]:
    """Start Spark inside the block, and return what plays seeds there; None without Spark.

    Raises CommandError if a word names no check, or if Spark cannot be started or fails.
    """
    if spark is None:
        yield None
        return
    from pflab.cli.judging.spark_campaign import playing_in_spark  # noqa: PLC0415 - Spark is an extra

    with playing_in_spark(spark.master, spark.select, spark.deselect) as played:
        yield played


def _refuse_beside(reason: str, values: Mapping[str, object]) -> None:
    """Refuse options that cannot be given together with another one; None is an option that was not given."""
    beside = [name for name, value in values.items() if value is not None]
    if beside:
        raise CommandError(f"pflab simulate: {reason}; leave out {' and '.join(beside)}")


MOST_SEEDS: Final = 1_000_000
"""The largest number of seeds of one range (decision): a campaign of this size takes days, and an endless one would fill the
memory."""


def parse_seeds(text: str) -> range:
    """Return the seeds of `7` or `1..200`, both ends included. Raises CommandError for any other text."""
    match = re.fullmatch(r"(\d{1,12})(?:\.\.(\d{1,12}))?", text)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise CommandError(f"--seeds {text}: not a range of seeds; write for example 1..200, the smaller first")
    seeds = range(int(match[1]), int(match[2] or match[1]) + 1)
    if len(seeds) > MOST_SEEDS:
        raise CommandError(f"--seeds {text}: more than {MOST_SEEDS} seeds; give a smaller range")
    return seeds
