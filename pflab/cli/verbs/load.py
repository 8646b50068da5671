"""Verbs that post many messages into a lab: load, import."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from pflab.cli.inputs.files import shown_path
from pflab.cli.options import Servers, seed_option
from pflab.cli.output import CommandError, Json, print_json, print_lines, progress
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.verdict import ExitCode
from pflab.workload.load import LoadPlan, LoadResult, Target, mix_of, run_load, targets_of
from pflab.workload.mail_transfer import (
    Imported,
    Interrupted,
    import_mails,
    mails_of,
    poster_for_client,
    poster_for_lab,
)
from topology.problems import counted, did_you_mean, quoted
from traces.errors import TraceError
from traces.labtime import DAY_US, SECOND_US, format_instant, parse_duration

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder
    from pflab.workload.mail_files import MailFile
    from topology.model import Topology

COUNT = 100
"""The default number of actions."""


def load(
    folders: Annotated[
        list[str] | None, Argument(metavar="FOLDER...", help="Only in these folders; default: in all.")
    ] = None,
    *,
    rate: Annotated[
        float,
        Option(
            min=0.0,
            max=1e6,
            help="Actions per second of real time; 0: as many as the lab answers.",
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
    folder_options: Annotated[list[str] | None, Option("--folder", hidden=True)] = None,  # 0.1
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
        targets = _targets(client, nodes or [], [*(folders or []), *(folder_options or [])])
        most = count if count is not None or seconds is not None else COUNT
        plan = LoadPlan(targets, weights, seed, rate, most, seconds, batch, size, while_running)
        with progress(most or int(seconds or 0), "Actions" if most else "Seconds") as bar:
            result = run_load(
                client,
                plan,
                lambda so_far: bar.update(bar.task_ids[0], completed=so_far.asked if most else so_far.seconds),
            )
    if as_json:
        print_json({"seed": seed, **result.as_document()})
    else:
        _print_result(result)
    return ExitCode.VIOLATION if result.refused or result.unanswered else ExitCode.GOOD


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
        sorted({target.node for target in everywhere}),
        sorted({target.folder for target in everywhere}),
    )
    for what, names, candidates in (("server", nodes, known_nodes), ("folder", folders, known_folders)):
        for name in names:
            if name not in candidates:
                raise CommandError(
                    f"no {what} {quoted(name)} in this lab, or its server does not run; {did_you_mean(name, candidates)}"
                )
    targets = [
        target
        for target in everywhere
        if (not nodes or target.node in nodes) and (not folders or target.folder in folders)
    ]
    if not targets:
        raise CommandError(
            "no running server holds this folder; to list the folders of a server: pflab folder list --node NAME"
        )
    return targets


def _print_result(load_result: LoadResult) -> None:
    result = load_result.as_document()
    acts = ", ".join(counted(number, act) for act, number in result["acts"].items()) or "nothing"
    print_lines([f"{result['acknowledged']} of {result['asked']} acknowledged in {result['seconds']} s: {acts}"])
    if result["per_second"] is not None:
        latency = f"{result['p50_ms']} ms (p50), {result['p99_ms']} ms (p99)"
        print_lines([f"  {result['per_second']} per second; latency of a request: {latency}"])
    if load_result.behind_s >= 1.0:
        print_lines(
            [f"  the lab could not keep up with the rate: {result['behind_s']} s late at the end"], style="yellow"
        )
    for kind, number in result["reasons"].items():
        print_lines([f"  {number} refused: {kind}"], style="red")
    if load_result.unanswered:
        print_lines([f"  {load_result.unanswered} not answered; they may have been done"], style="red")


# -- import

REASONS_SHOWN = 10


def import_(
    folder: Annotated[str, Argument(help="The folder's path.")],
    files: Annotated[
        list[Path], Argument(metavar="FILE...", help="An mbox, a Maildir, an .eml file, or a folder of .eml files.")
    ],
    server: Annotated[
        str | None,
        Option(
            "--server", "--node", help="The server that makes the posts; default: the folder's first holder that runs."
        ),
    ] = None,
    lab: Lab = None,
    again: Annotated[
        bool,
        Option("--again", help="Post all mails, even those that an earlier import into this running lab has posted."),
    ] = False,
    topology: Annotated[
        Path | None,
        Option(
            "--topology",
            metavar="TOPOLOGY",
            help="Post in a simulated lab with this topology (a file, or the name of an example that comes with pflab), and "
            "keep its databases in a run folder.",
        ),
    ] = None,
    seed: Annotated[int, seed_option("With --topology: the seed for GUIDs and keys.")] = 1,
    as_json: Json = False,
) -> int:
    """Post the mails of an mbox, a Maildir or .eml files into a folder.

    pflab export writes these mails again, byte for byte, from any server that holds the folder. If the import is interrupted,
    run the same command again. A mail that was posted less than one day of lab time ago is not posted a second time. The exit
    code is 1 if a mail was refused.

    Example: pflab import Projects archive.mbox --node A
    """
    if topology is None:
        return _import_live(lab, server, folder, files, again=again, as_json=as_json)
    if lab is not None:
        raise CommandError("both a topology and a running lab are given; give only one")
    from pflab.cli.inputs.by_name import read_topology  # noqa: PLC0415 - a running lab needs no topology file

    organization = read_topology(topology)
    if folder not in organization.folders:
        raise CommandError(f"{folder}: no such folder; {did_you_mean(folder, organization.folders)}")
    holders = organization.folders[folder].replicas
    if server is not None and server not in holders:
        raise CommandError(f"server {server} holds no replica of {folder}; {did_you_mean(server, holders)}")
    mails = list(mails_of(files))
    from pflab.cli.lab_options import run_folder  # noqa: PLC0415 - drivers take long to import

    run = run_folder("import", Path("runs"), simulate=True)
    assert run is not None, "a folder for traces was given"
    imported = asyncio.run(_import(organization, run, seed, server or holders[0], folder, mails))
    if as_json:
        print_json({**imported.as_document(), "folder": str(run.path)})
    else:
        _print_imported(imported, folder)
        print_lines([f"kept in {shown_path(run.path)}; to get the mails back: pflab export {folder}"], style="dim")
    return ExitCode.VIOLATION if imported.refused_count else ExitCode.GOOD


def _import_live(
    lab: str | None, server: str | None, folder: str, files: list[Path], *, again: bool, as_json: bool
) -> int:
    with client_of(lab) as client:
        at = server if server is not None else _holder(client, folder)
        mails = list(mails_of(files))
        result = Imported()
        poster = poster_for_client(client, at, folder, str(uuid.uuid4()) if again else "", result)
        try:
            with progress(len(mails), f"Posting into {folder}") as bar:
                asyncio.run(import_mails(mails, poster, lambda _: bar.advance(bar.task_ids[0]), result))
        except Interrupted as error:
            posted = f"{len(result.ids)} of {counted(len(mails), 'mail')} posted; repeat the command for the rest"
            raise CommandError(f"{error}; {posted}") from None
    if as_json:
        print_json({**result.as_document(), "node": at})
    else:
        _print_imported(result, f"{folder} at {at}")
    return ExitCode.VIOLATION if result.refused_count else ExitCode.GOOD


def _holder(client: Client, folder: str) -> str:
    """Return the first running server that holds the folder. Raises CommandError if there is none."""
    paths: set[str] = set()
    for server in client.lab()["servers"]:
        if server["status"] == "running":
            views = client.folders(server["name"])
            if any(view["path"] == folder and view["held_here"] for view in views):
                return str(server["name"])
            paths |= {view["path"] for view in views if not view["hidden"] and view["path"] != HIERARCHY}
    if folder in paths:
        raise CommandError(f"{folder}: none of its holders runs; start one: pflab fault start NAME")
    raise CommandError(f"{folder}: no such folder; {did_you_mean(folder, sorted(paths))}")


async def _import(
    organization: Topology, run: RunFolder, seed: int, server: str, folder: str, mails: list[MailFile]
) -> Imported:
    from pflab.simulation.simulator import Simulator  # noqa: PLC0415 - a store's code takes long to import

    run.write_inputs(organization.as_yaml(), seed)
    with progress(len(mails), f"Posting into {folder}") as bar:
        async with Simulator(organization, seed=seed, folder=run) as lab:
            result = await import_mails(
                mails, poster_for_lab(lab, server, folder), lambda _: bar.advance(bar.task_ids[0])
            )
            # Every schedule except `never` has a broadcast within a day.
            await lab.advance(lab.now + DAY_US)
            for name in lab.names:
                if lab.running(name):
                    run.write_database(name, lab.read(name, lambda node: node.backup()))
            run.write_verdict({"verdict": "none", "ended_at": format_instant(lab.now)})
    return result


def _print_imported(result: Imported, folder: str) -> None:
    duplicates = f", {result.known_count} already there from an earlier import" if result.known_count else ""
    posted = len(result.ids) - result.known_count
    print_lines([f"{counted(posted, 'mail')} posted into {folder}{duplicates}, {result.refused_count} refused"])
    print_lines([f"  {source}: {reason}" for source, reason in result.refused[:REASONS_SHOWN]], style="red")
