"""Verbs of a lab in containers: coordinate, compose.

The verb that keeps a running lab as it stands, brings it back to that, and has its traces written: lab.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from node.api.http_client import Address
from node.api.http_server import OpenToAll
from pflab.cli.lab_options import read_topology, shown_path
from pflab.cli.options import PORT, rate_of
from pflab.cli.output import CommandError, print_lines
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client, ClientError, url_at
from pflab.containers.access import default_gateways, made_or_read
from pflab.containers.compose_file import ComposeOrder, addresses_of, compose_text
from pflab.containers.managed_lab import ManagedLab
from pflab.containers.run_history import RunHistory
from pflab.containers.trace_retention import make_room
from pflab.drivers.launch import source_root
from pflab.drivers.remote_lab import HttpOptions
from pflab.terms.verdict import ExitCode
from topology import Topology
from topology.problems import counted

log = logging.getLogger("pflab.coordinate")

MB: Final = 1_000_000
TRACES_MB: Final = 2048
"""Months of a gentle load."""

ROOM_S: Final = 60.0
"""Real time between two looks at how much the traces take."""


def coordinate(
    topology: Annotated[Path, typer.Argument(help="A topology file.")],
    data: Annotated[Path, typer.Option(metavar="DIR", help="What the lab knows, and its traces below.")] = Path("lab"),
    secrets: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The files secret and token; default: DATA/secrets.")
    ] = None,
    host: Annotated[str, typer.Option(metavar="HOST", help="Where the lab's HTTP face listens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Its port; 0: a free one.")] = PORT,
    known_as: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Where the servers find the face; default: where it listens."),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=HOST:PORT", help="A server's process; default: its name in lower case, port 8025."),
    ] = None,
    clock: Annotated[
        str, typer.Option(metavar="real|RATE", help="Lab seconds per real second, at the first start.")
    ] = "real",
    trust_gateway: Annotated[
        bool, typer.Option("--trust-gateway", help="Of whoever asks from our default gateway no token is wanted.")
    ] = False,
    traces_most: Annotated[
        int, typer.Option("--traces-most", min=1, metavar="MB", help="Of the traces so much is kept, the newest.")
    ] = TRACES_MB,
    keep_mails: Annotated[
        bool, typer.Option("--keep-mails", help="Keep each mail that crosses a hop, as .eml.")
    ] = False,
) -> int:
    """Lead servers that run elsewhere, and serve their lab over HTTP.

    Each server is a process `pflab node NAME --managed` that somebody else keeps alive. Ended and started again with the same
    DATA the lab goes on, and so do the servers meanwhile.

    Example: pflab coordinate lab.yaml --at A=10.0.0.1:8025 --at B=10.0.0.2:8025
    """
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    rate = rate_of(clock)
    try:
        organization = read_topology(topology)
        _, token = made_or_read(data / "secrets" if secrets is None else secrets)
    except OSError as error:
        raise CommandError(f"{error.filename}: {(error.strerror or str(error)).lower()}") from error
    given = dict(map(_placed, at or []))
    unknown = sorted(given.keys() - organization.servers.keys())
    if unknown:
        raise CommandError(f"--at {unknown[0]}: no such server; there is {', '.join(organization.servers)}")
    addresses = {**addresses_of([name for name in organization.servers if name not in given]), **given}
    http = HttpOptions(
        host,
        port,
        token=token,
        known_as=None if known_as is None else _address(known_as),
        trusted=default_gateways() if trust_gateway else frozenset(),
    )
    runs = RunHistory(data.absolute(), organization, keeps_mails=keep_mails)
    try:
        asyncio.run(_lead(runs, addresses, http, rate, traces_most * MB))
    except (OSError, OpenToAll) as error:
        raise CommandError(f"{host}:{port}: {error}") from error
    return ExitCode.GOOD


async def _lead(
    runs: RunHistory, addresses: Mapping[str, Address], http: HttpOptions, rate: float, traces_most_bytes: int
) -> None:
    """One run after the other, until a signal comes."""
    ended = asyncio.Event()
    room = asyncio.create_task(_keep_room(runs, traces_most_bytes), name="keep room for traces")
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    while not ended.is_set():
        lab = runs.lab(addresses, http)
        renewed = asyncio.Event()

        def renew(topology: Topology, renewed: asyncio.Event = renewed) -> None:
            runs.next(topology, addresses)
            renewed.set()

        def go_back(name: str, renewed: asyncio.Event = renewed) -> None:
            runs.back_to(name)
            renewed.set()

        lab.renews, lab.returns, lab.snapshots = renew, go_back, runs.snapshots
        await _lead_one(lab, 0.0 if runs.number > 1 else rate, ended, renewed)
        http = replace(http, port=lab.http_address[1])  # a free port was chosen once
    room.cancel()


async def _keep_room(runs: RunHistory, most_bytes: int) -> None:
    while True:
        gone = await asyncio.to_thread(make_room, runs.traces, runs.name, most_bytes)
        if gone:
            log.warning("%d segments of the traces are removed, the oldest, to have no more than --traces-most", gone)
        await asyncio.sleep(ROOM_S)


async def _lead_one(lab: ManagedLab, rate: float, *ends: asyncio.Event) -> None:
    coming = asyncio.create_task(_come_up(lab, rate))
    ending = [asyncio.create_task(each.wait()) for each in ends]
    try:
        await asyncio.wait({coming, *ending}, return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            await coming
            await asyncio.wait(ending, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (coming, *ending):
            task.cancel()
        await asyncio.gather(coming, *ending, return_exceptions=True)
        await lab.close()


async def _come_up(lab: ManagedLab, rate: float) -> None:
    await lab.up()
    if not lab.goes_on:
        await lab.coordinator.set_rate(rate)
    there = [name for name in lab.names if lab.running(name)]
    print_lines([f"{lab.topology.organization} is up: {', '.join(there)}"])
    if len(there) < len(lab.names):
        print_lines([f"  not running: {', '.join(name for name in lab.names if name not in there)}"])
    print_lines([f"  {url_at(lab.http_address)}/docs"])
    sys.stdout.flush()


def _placed(text: str) -> tuple[str, Address]:
    name, _, address = text.partition("=")
    return name, _address(address, text)


def _address(text: str, whole: str | None = None) -> Address:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise CommandError(f"{whole or text}: no address; write {'A=' if whole else ''}a.example:8025")
    return host, int(port)


def compose(
    topology: Annotated[Path, typer.Argument(help="A topology file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there, not to stdout.")
    ] = None,
) -> int:
    """Print a docker-compose.yml for a topology.

    A container for each server, one that leads them, and one for a gentle load. Paths in it are as seen from where it
    lies: of what is printed, from here.

    Example: pflab compose topology/examples/default.yaml
    """
    try:
        organization = read_topology(topology)
    except OSError as error:
        raise CommandError(f"{topology}: {(error.strerror or str(error)).lower()}; name a topology file") from error
    here = Path.cwd() if output is None else output.absolute().parent
    root = source_root()
    order = ComposeOrder(_seen_from(here, topology.absolute()), None if root is None else _seen_from(here, root))
    text = compose_text(organization, order)
    if output is None:
        typer.echo(text, nl=False)
        return ExitCode.GOOD
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise CommandError(f"{output}: {(error.strerror or str(error)).lower()}") from error
    print_lines(_told(output, len(organization.servers)))
    return ExitCode.GOOD


def _told(output: Path, servers: int) -> Sequence[str]:
    return [
        f"{shown_path(output.absolute())}: {counted(servers, 'store')}; docker compose -f {output} up --build --wait"
    ]


def _seen_from(folder: Path, path: Path) -> str:
    """Compose takes a path for one only if it begins with a dot or a slash."""
    relative = Path(os.path.relpath(path, folder)).as_posix()
    return relative if relative.startswith(".") else f"./{relative}"


ACTS: Final = ("save", "reset", "list", "ship")

BACK_WITHIN_S: Final = 60.0
AGAIN_S: Final = 0.05


def lab(
    act: Annotated[str, typer.Argument(metavar="save|reset|list|ship", help="What to do.")],
    name: Annotated[str | None, typer.Argument(help="The name under which the lab is kept.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Save in the place of what has that name.")] = False,
    lab: Lab = None,
) -> int:
    """Keep a running lab in containers as it stands, or bring it back to that; or write its traces up to now.

    Time, servers, every store and the traces are as they were; the clock stands and no fault is in force. A lab in
    containers can, or any that pflab coordinate leads. Shipped, all that has happened is in closed segments, to be copied.

    Example: pflab lab save start --lab http://127.0.0.1:8025
    """
    if act not in ACTS:
        raise CommandError(f"pflab lab {act}: write {', '.join(ACTS[:-1])} or {ACTS[-1]}")
    with client_of(lab) as client:
        if act == "list":
            print_lines(client.saved() or ["nothing was saved"])
            return ExitCode.GOOD
        if act == "ship":
            return _ship(client)
        if name is None:
            raise CommandError(f"pflab lab {act}: name it, as in pflab lab {act} start")
        print_lines([_saved(client, name, replace=replace) if act == "save" else _reset(client, name)])
    return ExitCode.GOOD


def _saved(client: Client, name: str, *, replace: bool) -> str:
    return f"saved as {name}, at {client.save(name, replace=replace)['at']}"


def _ship(client: Client) -> int:
    shipped = client.ship()
    place = "/".join(["traces", shipped["traces"]] if shipped["traces"] else ["traces"])
    print_lines([f"{place}: {counted(shipped['events'], 'event')}, all up to {shipped['at']}"])
    if not shipped["away"]:
        return ExitCode.GOOD
    print_lines([f"  but those of {', '.join(shipped['away'])}, from which no answer comes"])
    return ExitCode.UNKNOWN


def _reset(client: Client, name: str) -> str:
    before, began_s = client.lab()["history"], time.monotonic()
    client.reset(name)
    while time.monotonic() - began_s < BACK_WITHIN_S:
        time.sleep(AGAIN_S)
        with suppress(ClientError):
            client.text("GET", "/readyz")
            found = client.lab()
            if found["history"] != before:
                there = [each["name"] for each in found["servers"] if each["standing"] == "running"]
                took_s = time.monotonic() - began_s
                return f"back at {name}, {found['clock']['now_at']}, after {took_s:.1f} s: {', '.join(there)}"
    raise CommandError(f"the lab did not come back within {BACK_WITHIN_S:g} s; its own words may say why")
