"""The verb `load`: post, edit and delete messages in a running lab."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from pflab.cli.options import Servers, seed_option
from pflab.cli.output import CommandError, Json, print_json, print_lines, progress
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client
from pflab.terms.verdict import ExitCode
from pflab.workload.load import LoadPlan, LoadResult, Target, mix_of, run_load, targets_of
from topology.problems import counted, did_you_mean, quoted
from traces.errors import TraceError
from traces.labtime import SECOND_US, parse_duration

COUNT = 100
"""The default number of actions."""


def load(
    rate: Annotated[
        float,
        Option(
            min=0.0,
            max=1e6,
            help="Actions per second of real time; 0: send each action when the lab has answered the previous one.",
        ),
    ] = 0.0,
    mix: Annotated[
        str, Option(metavar="ACT[=WEIGHT],...", help="Actions and their weights, such as post=8,edit=1,delete=1.")
    ] = "post",
    seed: Annotated[int, seed_option("The seed from which actions, folders and servers are drawn.")] = 1,
    count: Annotated[
        int | None,
        Option(min=1, max=10_000_000, help=f"The number of actions; default: {COUNT} unless --for is given."),
    ] = None,
    lasts: Annotated[
        str | None, Option("--for", metavar="DURATION", help="Stop after this real time, such as 30 s.")
    ] = None,
    batch: Annotated[
        int, Option(min=1, max=10_000, help="The number of posts in one request. They are committed together.")
    ] = 1,
    size: Annotated[int, Option(min=0, max=1_000_000, help="The length of each body, in characters.")] = 1000,
    while_running: Annotated[
        bool,
        Option("--while-running", help="Wait while the lab's clock is paused; stop when the lab starts another run."),
    ] = False,
    nodes: Servers = None,
    folders: Annotated[list[str] | None, Option("--folder", help="Only in this folder; can be repeated.")] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Post, edit and delete messages in a running lab at a given rate, and report the results.

    Requests are sent one after the other. A latency is the real time from a request to its answer. The exit code is 1
    if a request was refused or not answered.

    Example: pflab load --rate 200 --mix post=8,edit=1,delete=1 --seed 7 --count 200
    """
    if count is not None and lasts is not None:
        raise CommandError("both --count and --for are given; give only one")
    weights = mix_of(mix)
    seconds = None if lasts is None else _seconds(lasts)
    with client_of(lab) as client:
        targets = _targets(client, nodes or [], folders or [])
        most = count if count is not None or seconds is not None else COUNT
        plan = LoadPlan(targets, weights, seed, rate, most, seconds, batch, size, while_running)
        with progress(most or int(seconds or 0), "Actions" if most else "Seconds") as bar:
            done = run_load(
                client,
                plan,
                lambda so_far: bar.update(bar.task_ids[0], completed=so_far.asked if most else so_far.seconds),
            )
    if as_json:
        print_json({"seed": seed, **done.as_document()})
    else:
        _print_result(done)
    return ExitCode.VIOLATION if done.refused or done.unanswered else ExitCode.GOOD


def _seconds(text: str) -> float:
    try:
        lasts_us = parse_duration(text)
    except TraceError as error:
        raise CommandError(f"--for: {error}") from None
    if lasts_us <= 0:
        raise CommandError(f"--for {text}: not a duration; write for example 30 s")
    return lasts_us / SECOND_US


def _targets(client: Client, nodes: list[str], folders: list[str]) -> list[Target]:
    everywhere = targets_of(client)
    known_nodes, known_folders = (
        sorted({each.node for each in everywhere}),
        sorted({each.folder for each in everywhere}),
    )
    for what, named, known in (("server", nodes, known_nodes), ("folder", folders, known_folders)):
        for each in named:
            if each not in known:
                raise CommandError(
                    f"no {what} {quoted(each)} in this lab, or its server does not run; {did_you_mean(each, known)}"
                )
    found = [
        each for each in everywhere if (not nodes or each.node in nodes) and (not folders or each.folder in folders)
    ]
    if not found:
        raise CommandError(
            "no running server holds this folder; to list the folders of a server: pflab folder list --node NAME"
        )
    return found


def _print_result(done: LoadResult) -> None:
    result = done.as_document()
    acts = ", ".join(counted(number, act) for act, number in result["acts"].items()) or "nothing"
    print_lines([f"{result['acknowledged']} of {result['asked']} acknowledged in {result['seconds']} s: {acts}"])
    if result["per_second"] is not None:
        latency = f"{result['p50_ms']} ms (p50), {result['p99_ms']} ms (p99)"
        print_lines([f"  {result['per_second']} per second; latency of a request: {latency}"])
    if done.behind_s >= 1.0:
        print_lines(
            [f"  the lab could not keep up with the rate: {result['behind_s']} s late at the end"], style="yellow"
        )
    for kind, number in result["reasons"].items():
        print_lines([f"  {number} refused: {kind}"], style="red")
    if done.unanswered:
        print_lines([f"  {done.unanswered} not answered; they may have been done"], style="red")
