"""Verbs that run a lab: demo, run, simulate."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.progress import Progress

from pflab.cli import campaigns
from pflab.cli.lablink import client_of
from pflab.cli.labs import LabOrder, own_name, read_topology, run_folder, shown_path
from pflab.cli.output import CommandError, Json, out, page, print_json, print_lines, progress
from pflab.demo import run_demo
from pflab.lab import LabError
from pflab.runfolder import RunFolder
from pflab.runner import ScenarioResult, run_scenario
from pflab.scenario import SHIPPED, Scenario, ScenarioError, Step, load_scenario, shipped
from pflab.scenario_words import to_the_second
from pflab.verdict import ExitCode
from topology import Topology
from topology.problems import did_you_mean
from traces.labtime import LabTime

SCENARIOS = Path("scenarios")
"""Where scenarios are looked for first that were named without a path; then among those that come with pflab."""

DEFAULT_SEED = 1


def run(
    scenarios: Annotated[
        list[str], typer.Argument(metavar="SCENARIO...", help="Scenario files, or names of those that come with pflab.")
    ],
    traces: Annotated[
        Path | None, typer.Option(help="Keep the run folders, traces included, below this folder.")
    ] = None,
    keep_mails: Annotated[
        bool,
        typer.Option("--keep-mails", help="Keep each mail that crosses a hop, as .eml in the run folder's mails/."),
    ] = False,
    simulated: Annotated[
        bool, typer.Option("--simulate", help="In the simulator: no sockets, the same every time.")
    ] = False,
    processes: Annotated[
        bool, typer.Option("--processes", help="Each server a process of its own, led over HTTP.")
    ] = False,
    seed: Annotated[
        int, typer.Option(help="Fixes GUIDs, keys and, simulated, the order of everything.")
    ] = DEFAULT_SEED,
    lab: Annotated[
        str | None,
        typer.Option("--lab", metavar="URL", help="On a lab that is up, fresh, its clock standing at its start."),
    ] = None,
    renew: Annotated[
        bool,
        typer.Option(
            "--renew",
            help="With --lab: let it begin anew first, with the scenario's topology; only a lab in containers does.",
        ),
    ] = False,
    as_json: Json = False,
) -> int:
    """Run scenarios and say whether each of them passed.

    A live run leaves a folder below runs/; a simulated one does with --traces or --keep-mails.

    Example: pflab run lost-mail --simulate --seed 7
    """
    if simulated and processes:
        raise CommandError("pflab run: --simulate and --processes are two ways; choose one")
    loaded = _load_all(scenarios)
    if lab is not None:
        _check_far(
            loaded, simulated=simulated, processes=processes, keeps=keep_mails or traces is not None, renew=renew
        )
    elif renew:
        raise CommandError("pflab run --renew: name the lab with --lab")
    results: list[dict[str, Any]] = []
    code = ExitCode.GOOD
    for scenario in loaded:
        by_simulator = simulated or not scenario.live
        name = scenario.path.stem if scenario.path is not None else "scenario"
        folder = None if lab else run_folder(name, traces, simulate=by_simulator, keep_mails=keep_mails)
        order = LabOrder(seed, by_simulator, folder, processes, client_of(lab) if lab else None, renew)
        if not as_json:
            print_lines([scenario.title], style="bold")
        try:
            result = _play(scenario, order, quiet=as_json)
        except LabError as error:
            if len(loaded) == 1:
                raise
            # What the others have shown shall not be lost with one that this lab cannot play.
            code = code or ExitCode.UNKNOWN
            results.append({"scenario": str(scenario.path), "title": scenario.title, "not_played": str(error)})
            if not as_json:
                print_lines([f"not played: {error}"], style="yellow")
            continue
        if folder is not None:
            folder.write_verdict(result.as_document())
        if result.exit_code != ExitCode.GOOD:
            code = result.exit_code
        results.append({**result.as_document(), "folder": None if folder is None else str(folder.path)})
        if not as_json:
            _tell(result, folder)
    if as_json:
        print_json(results)
    return code


def _check_far(loaded: list[Scenario], *, simulated: bool, processes: bool, keeps: bool, renew: bool) -> None:
    """What a lab that is up cannot be asked for. Raises CommandError."""
    if simulated or processes or keeps:
        raise CommandError(
            "pflab run --lab: the lab is up already; leave out --simulate, --processes, --traces, --keep-mails"
        )
    if len(loaded) > 1 and not renew:
        raise CommandError("pflab run --lab: a scenario begins on a fresh lab; name one scenario, or --renew")
    for scenario in loaded:
        if not scenario.live:
            raise CommandError(f"{scenario.path}: this scenario is for the simulator alone; leave out --lab")


def _tell(result: ScenarioResult, folder: RunFolder | None) -> None:
    print_lines(result.in_words(), style=None if result.passed else "red")
    if folder is not None:
        print_lines([f"kept in {shown_path(folder.path)}"], style="dim")


def _load_all(names: list[str]) -> list[Scenario]:
    """All scenarios, or all mistakes of all of them."""
    loaded: list[Scenario] = []
    wrong: list[str] = []
    for name in names:
        path = find_scenario(name)
        try:
            loaded.append(load_scenario(path))
        except ScenarioError as error:
            wrong += str(error).splitlines()
        except OSError as error:
            bare = isinstance(error, FileNotFoundError) and path == Path(path.stem)
            near = did_you_mean(path.name, (each.stem for each in SHIPPED.glob("*.yaml")))
            what = "name a scenario file" + f", or one that comes with pflab: {near}" * bare
            wrong.append(f"{path}: {(error.strerror or str(error)).lower()}; {what}")
    if wrong:
        raise CommandError(*wrong)
    return loaded


def find_scenario(name: str) -> Path:
    """`lost-mail` and `lost-mail.yaml` mean the file in scenarios/ where no such file lies here, else pflab's own."""
    here = Path(name)
    if here.exists():
        return here
    return shipped(name, SCENARIOS) or shipped(name, SHIPPED) or here


def _play(scenario: Scenario, order: LabOrder, *, quiet: bool) -> ScenarioResult:
    def watch(step: Step, at: LabTime) -> None:
        if step.verb == "say" and not quiet:
            out.print(f"{to_the_second(at)}  {step.args}", markup=False, style="dim")

    with progress(len(scenario.steps), scenario.title) as bar:
        playing = run_scenario(scenario, order.factory(), watch=_ticking(bar, watch), finish=order.keep_databases)
        return asyncio.run(playing)


def _ticking(bar: Progress, watch: Any) -> Any:
    def step_done(step: Step, at: LabTime) -> None:
        bar.advance(bar.task_ids[0])
        watch(step, at)

    return step_done


def demo(
    headless: Annotated[bool, typer.Option("--headless", help="Ask nothing and wait for nobody.")] = False,
    lesson: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Another lesson: a scenario file, or the name of one of pflab's."),
    ] = None,
    lessons: Annotated[bool, typer.Option("--lessons", help="List the lessons and play none.")] = False,
    seed: Annotated[int, typer.Option(help="Fixes GUIDs and keys.")] = DEFAULT_SEED,
    skip_check: Annotated[
        bool, typer.Option("--skip-check", help="Leave out the verdict from the traces at the end.")
    ] = False,
) -> int:
    """The default lab, live, and a guided lesson: a mail is lost, and comes back.

    With --lesson another one. Lessons ask what will happen before they show it. One takes less than half a minute, and
    where Java is there as much again for the verdict that Spark gives from the traces.

    Example: pflab demo --headless
    """
    if lessons:
        return _list_lessons()
    chosen = None if lesson is None else _load_all([lesson])[0]
    folder = run_folder("demo", None, simulate=False, keep_mails=True)
    assert folder is not None, "a live run always has a folder"
    ask = not headless and page.is_terminal and sys.stdin.isatty()
    code = run_demo(folder, page, seed=seed, ask=ask, command=own_name(), lesson=chosen)
    if chosen is not None:  # a lesson may end with stores that disagree, to show just that
        print_lines([f"pflab check {folder.path} judges its traces."], style="dim")
        return code
    return code if skip_check else max(code, _checked(folder), key=_WORST_LAST.index)


def _list_lessons() -> int:
    """The scenarios that are lessons: their names and titles."""
    for path in sorted(SHIPPED.glob("*.yaml")):
        scenario = load_scenario(path)
        if scenario.lesson is not None:
            print_lines([f"{path.stem:<24} {scenario.title}"])
    return ExitCode.GOOD


_WORST_LAST: Final = (ExitCode.GOOD, ExitCode.UNKNOWN, ExitCode.VIOLATION)
_CHECKED_WITHIN_S: Final = 300


def _checked(folder: RunFolder) -> int:
    """The verdict from the traces alone, by Spark in a process of its own; where it cannot run, what to install."""
    print_lines(["", "And from the traces alone, by Spark (pflab check):"], style="bold")
    order = [sys.executable, "-c", "from pflab.cli import main; main()", "check", str(folder.path)]
    try:
        told = subprocess.run(order, capture_output=True, text=True, check=False, timeout=_CHECKED_WITHIN_S)
    except subprocess.TimeoutExpired:
        print_lines([f"it gave no verdict within {_CHECKED_WITHIN_S} s"])
        return ExitCode.UNKNOWN
    print_lines(told.stdout.splitlines())
    if told.returncode == ExitCode.UNKNOWN and not told.stdout:
        # Nothing was judged: Java or Spark is missing, which the lesson does without.
        print_lines([line for line in told.stderr.splitlines() if line.startswith("pflab")])
        return ExitCode.GOOD
    return told.returncode


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
    wish = campaigns.Wish(organization, days, faults, traces, jobs, shrink, verify_share, as_json, topology)
    if plan is not None:
        return campaigns.play_plan(plan, wish)
    chosen = campaigns.chosen_seeds(seeds, seed_file, count)
    return campaigns.expand(chosen, wish) if expand else campaigns.hunt(chosen, wish)


def _topology(path: Path) -> Topology:
    try:
        return read_topology(path)
    except OSError as error:
        raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}; name a topology file") from error
