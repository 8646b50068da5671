"""The verb that puts a running lab to work: load."""

from __future__ import annotations

from typing import Annotated

import typer

from pflab.cli.output import CommandError, Json, print_json, print_lines, progress
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client
from pflab.terms.verdict import ExitCode
from pflab.workload.load import Loaded, LoadPlan, Target, mix_of, run_load, targets_of
from topology.problems import counted, did_you_mean
from traces.errors import TraceError
from traces.labtime import SECOND_US, parse_duration

COUNT = 100
"""So many acts, unless told otherwise."""


def load(
    rate: Annotated[float, typer.Option(min=0.0, help="Acts a second; 0: as fast as they are answered.")] = 0.0,
    mix: Annotated[
        str, typer.Option(metavar="ACT[=WEIGHT],...", help="Of post, edit and delete, such as post=8,edit=1,delete=1.")
    ] = "post",
    seed: Annotated[int, typer.Option(help="Fixes what is done, where, and in which order.")] = 1,
    count: Annotated[
        int | None, typer.Option(min=1, max=10_000_000, help=f"So many acts; {COUNT} unless --for is given.")
    ] = None,
    lasts: Annotated[str | None, typer.Option("--for", metavar="DURATION", help="For so long, as 30 s.")] = None,
    batch: Annotated[int, typer.Option(min=1, max=10_000, help="Posts of one request, durable at once.")] = 1,
    size: Annotated[int, typer.Option(min=0, max=1_000_000, help="Letters of each body.")] = 1000,
    while_running: Annotated[
        bool,
        typer.Option("--while-running", help="Wait while the lab's clock stands; end when the lab begins anew."),
    ] = False,
    nodes: Annotated[
        list[str] | None, typer.Option("--node", "--server", help="Only at this server; may be given again.")
    ] = None,
    folders: Annotated[
        list[str] | None, typer.Option("--folder", help="Only in this folder; may be given again.")
    ] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Post, edit and delete in a running lab at a rate, and say how it went.

    One request after the other; latencies are real time from asking to the answer. Exits 1 if anything was refused or not
    answered.

    Example: pflab load --rate 200 --mix post=8,edit=1,delete=1 --seed 7 --count 200
    """
    if count is not None and lasts is not None:
        raise CommandError("--count and --for were given; give one of the two")
    weights = mix_of(mix)
    seconds = None if lasts is None else _seconds(lasts)
    with client_of(lab) as client:
        targets = _targets(client, nodes or [], folders or [])
        most = count if count is not None or seconds is not None else COUNT
        plan = LoadPlan(targets, weights, seed, rate, most, seconds, batch, size, while_running)
        with progress(most or int(seconds or 0), "Acts" if most else "Seconds") as bar:
            done = run_load(
                client,
                plan,
                lambda so_far: bar.update(bar.task_ids[0], completed=so_far.asked if most else so_far.seconds),
            )
    if as_json:
        print_json({"seed": seed, **done.as_document()})
    else:
        _tell(done)
    return ExitCode.VIOLATION if done.refused or done.unanswered else ExitCode.GOOD


def _seconds(text: str) -> float:
    try:
        lasts_us = parse_duration(text)
    except TraceError as error:
        raise CommandError(f"--for: {error}") from None
    if lasts_us <= 0:
        raise CommandError(f"--for {text}: not a while; write 30 s")
    return lasts_us / SECOND_US


def _targets(client: Client, nodes: list[str], folders: list[str]) -> list[Target]:
    everywhere = targets_of(client)
    known_nodes, known_folders = (
        sorted({each.node for each in everywhere}),
        sorted({each.folder for each in everywhere}),
    )
    for option, named, known in (("--node", nodes, known_nodes), ("--folder", folders, known_folders)):
        for each in named:
            if each not in known:
                raise CommandError(f"{option} {each}: not in this lab, or not running; {did_you_mean(each, known)}")
    found = [
        each for each in everywhere if (not nodes or each.node in nodes) and (not folders or each.folder in folders)
    ]
    if not found:
        raise CommandError("no running server holds such a folder; pflab folder list --node NAME shows what each has")
    return found


def _tell(done: Loaded) -> None:
    told = done.as_document()
    acts = ", ".join(counted(number, act) for act, number in told["acts"].items()) or "nothing"
    print_lines([f"{told['acknowledged']} of {told['asked']} acknowledged in {told['seconds']} s: {acts}"])
    if told["per_second"] is not None:
        print_lines(
            [f"  {told['per_second']} a second; a request took {told['p50_ms']} ms (p50), {told['p99_ms']} ms (p99)"]
        )
    if done.behind_s >= 1.0:
        print_lines([f"  the lab could not keep the rate: {told['behind_s']} s late at the end"], style="yellow")
    for kind, number in told["reasons"].items():
        print_lines([f"  {number} refused: {kind}"], style="red")
    if done.unanswered:
        print_lines([f"  {done.unanswered} not answered: they may have happened or not"], style="red")
