"""The verb `run`: play scenarios, live or simulated."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Annotated, Any

from rich.progress import Progress
from typer import Argument, Option

from pflab.cli.inputs.by_name import or_example, scenario_file
from pflab.cli.inputs.files import shown_path
from pflab.cli.junit import Played, check_place, write_junit
from pflab.cli.lab_options import LabOrder, run_folder
from pflab.cli.options import DEFAULT_SEED, KeepMails, seed_option
from pflab.cli.output import CommandError, Json, out, print_json, print_lines, progress
from pflab.cli.running_lab import client_of
from pflab.errors import LabError
from pflab.home import SCENARIOS_OF_PFLAB
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import Scenario, ScenarioError, Step, load_scenario
from pflab.scenario.runner import ScenarioResult, run_scenario
from pflab.scenario.session import Play
from pflab.terms.event_words import to_the_second
from pflab.terms.verdict import ExitCode


def run(
    scenarios: Annotated[
        list[str], Argument(metavar="SCENARIO...", help="Scenario files, or names of scenarios that come with pflab.")
    ],
    traces: Annotated[Path | None, Option(help="Keep the run folders, with traces, in this folder.")] = None,
    keep_mails: KeepMails = False,
    simulated: Annotated[
        bool,
        Option("--simulate", help="Play in the simulator, which uses no sockets; the same seed gives the same events."),
    ] = False,
    processes: Annotated[bool, Option("--processes", help="Run each server in a separate process.")] = False,
    seed: Annotated[
        int, seed_option("The seed for GUIDs and keys; with --simulate also for the order of events.")
    ] = DEFAULT_SEED,
    lab: Annotated[
        str | None,
        Option(
            "--lab",
            metavar="URL",
            help="Play on a running lab. The lab must be unused and its clock paused at the start time.",
        ),
    ] = None,
    renew: Annotated[
        bool,
        Option(
            "--renew",
            help="With --lab: first start a new run with the topology of the scenario. Only a lab in containers can do this.",
        ),
    ] = False,
    junit: Annotated[
        Path | None, Option(metavar="FILE", help="Also write the results as a JUnit report, for CI servers.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Run scenarios and report whether each one passed.

    A live run writes a run folder below runs/. A simulated run writes one only with --traces or --keep-mails.

    Example: pflab run lost-mail --simulate --seed 7
    """
    _check_options(simulated=simulated, processes=processes, junit=junit)
    loaded = load_all(scenarios)
    if lab is not None:
        _check_existing(
            loaded, simulated=simulated, processes=processes, keeps=keep_mails or traces is not None, renew=renew
        )
    elif renew:
        raise CommandError("pflab run --renew: give the URL of the lab with --lab")
    played: list[Played] = []
    results: list[dict[str, Any]] = []
    code = ExitCode.GOOD
    for scenario in loaded:
        by_simulator = simulated or not scenario.live
        name = scenario.path.stem if scenario.path is not None else "scenario"
        folder = None if lab else run_folder(name, traces, simulate=by_simulator, keep_mails=keep_mails)
        chosen = scenario.seed if scenario.seed is not None and seed == DEFAULT_SEED else seed
        network = None if scenario.network is None else scenario.network.policy()
        order = LabOrder(chosen, by_simulator, folder, processes, client_of(lab) if lab else None, renew, network)
        if not as_json:
            print_lines([scenario.title], style="bold")
        began_s = time.monotonic()
        try:
            result = _play(scenario, order, quiet=as_json)
        except LabError as error:
            if len(loaded) == 1:
                raise
            # The other scenarios still run, and their results are still printed.
            code = code or ExitCode.UNKNOWN
            results.append({"scenario": str(scenario.path), "title": scenario.title, "not_played": str(error)})
            took_s = time.monotonic() - began_s
            played.append(Played(str(scenario.path), scenario.title, took_s, not_played=str(error)))
            if not as_json:
                print_lines([f"not played: {error}"], style="yellow")
            continue
        if folder is not None:
            folder.write_verdict(result.as_document())
        if result.exit_code != ExitCode.GOOD:
            code = result.exit_code
        failed = [] if result.failure is None else result.failure.in_words()
        played.append(Played(str(scenario.path), scenario.title, time.monotonic() - began_s, failed))
        results.append({**result.as_document(), "folder": None if folder is None else str(folder.path)})
        if not as_json:
            _print_result(result, folder)
    if as_json:
        print_json(results)
    if junit is not None:
        write_junit(junit, played)
    return code


def _check_options(*, simulated: bool, processes: bool, junit: Path | None) -> None:
    """Raise CommandError if options exclude each other, or if the report cannot be written."""
    if simulated and processes:
        raise CommandError("pflab run: both --simulate and --processes are given; give only one")
    if junit is not None:
        check_place(junit)


def _check_existing(loaded: list[Scenario], *, simulated: bool, processes: bool, keeps: bool, renew: bool) -> None:
    """Raise CommandError if the options or a scenario do not fit a lab that is already up."""
    if simulated or processes or keeps:
        raise CommandError(
            "pflab run --lab: the lab is up already; leave out --simulate, --processes, --traces, --keep-mails"
        )
    if len(loaded) > 1 and not renew:
        raise CommandError("pflab run --lab: each scenario needs an unused lab; name one scenario, or use --renew")
    for scenario in loaded:
        if not scenario.live:
            raise CommandError(f"{scenario.path}: this scenario runs only in the simulator; leave out --lab")


def _print_result(result: ScenarioResult, folder: RunFolder | None) -> None:
    print_lines(result.in_words(), style=None if result.passed else "red")
    if folder is not None:
        print_lines([f"kept in {shown_path(folder.path)}"], style="dim")


def load_all(names: list[str]) -> list[Scenario]:
    """Return the scenarios. Raises CommandError with the mistakes in all of them."""
    loaded: list[Scenario] = []
    wrong: list[str] = []
    for name in names:
        path = scenario_file(name)
        try:
            loaded.append(load_scenario(path))
        except ScenarioError as error:
            wrong += error.lines
        except OSError as error:
            what = f"a scenario file{or_example(path, SCENARIOS_OF_PFLAB)}"
            wrong.append(f"{path}: {(error.strerror or str(error)).lower()}; name {what}")
    if wrong:
        raise CommandError(*wrong)
    return loaded


def _play(scenario: Scenario, order: LabOrder, *, quiet: bool) -> ScenarioResult:
    def watch(step: Step, play: Play) -> None:
        if step.verb == "say" and not quiet:
            out.print(f"{to_the_second(play.lab.now)}  {step.args.text}", markup=False, style="dim")

    with progress(len(scenario.steps), scenario.title) as bar:
        playing = run_scenario(scenario, order.factory(), watch=_with_progress(bar, watch), finish=order.keep_databases)
        return asyncio.run(playing)


def _with_progress(bar: Progress, watch: Any) -> Any:
    def step_done(step: Step, play: Play) -> None:
        bar.advance(bar.task_ids[0])
        watch(step, play)

    return step_done
