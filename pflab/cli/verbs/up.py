"""Verbs that run a lab or one server until the process is stopped: up, node."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from functools import partial
from typing import Annotated, Literal, Unpack

from typer import Argument, Option

from node.api.http_server import HttpServer
from pflab.cli import become_node
from pflab.cli.given_files import shown_path
from pflab.cli.given_topology import read_topology
from pflab.cli.lab_options import run_folder
from pflab.cli.options import DEFAULT_SEED, PORT, InTls, KeepMails, Patience, TopologyFile, rate_of, seed_option
from pflab.cli.output import CommandError, print_lines
from pflab.cli.running_lab import check_alone, remove_lab_file, write_lab_file
from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.drivers.pulse import PATIENCE_S
from pflab.drivers.socket_lab import SocketOptions
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from pflab.terms.verdict import ExitCode
from topology.model import Topology
from topology.problems import counted


def up(
    topology: TopologyFile,
    clock: Annotated[
        str, Option(metavar="real|RATE", help="The rate of the clock in lab seconds for each real second; 0: paused.")
    ] = "real",
    processes: Annotated[bool, Option("--processes", help="Run each server as a process of its own.")] = False,
    port: Annotated[int, Option(min=0, max=65535, help="The port of the lab's HTTP API; 0 chooses a free one.")] = PORT,
    seed: Annotated[int, seed_option("The seed for GUIDs and keys.")] = DEFAULT_SEED,
    durability: Annotated[
        str,
        Option(
            metavar="full|normal",
            help="normal: a commit survives a killed process; full: it survives a power failure too.",
        ),
    ] = "normal",
    tls: InTls = False,
    keep_mails: KeepMails = False,
    patience: Patience = PATIENCE_S,
) -> int:
    """Start a lab and serve it over HTTP until Ctrl-C.

    Other verbs that you start in the same folder find the lab. The lab's address shows its clock, servers and faults in a
    browser, and the page /docs there documents the HTTP API.

    Example: pflab up topology/examples/one-site.yaml --processes --clock 60
    """
    rate = rate_of(clock)
    if durability not in {"full", "normal"}:
        raise CommandError(f"--durability {durability}: write full or normal")
    kind: Literal["full", "normal"] = "full" if durability == "full" else "normal"
    organization = read_topology(topology)
    check_alone()
    _check_free(port)
    folder = run_folder("up", None, simulate=False, keep_mails=keep_mails)
    assert folder is not None, "a live run always has a folder"
    print_lines([f"starting {counted(len(organization.servers), 'server')} ..."], style="dim")
    bring_up = partial(_processes, patience_s=patience) if processes else _embedded
    try:
        asyncio.run(bring_up(organization, folder, port, rate, seed=seed, durability=kind, tls=tls))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise CommandError(_port_taken(port, error)) from error
    print_lines([f"stopped; kept in {shown_path(folder.path)}"], style="dim")
    return ExitCode.GOOD


def _check_free(port: int) -> None:
    """Raise CommandError if the port is in use. The verb checks this before it makes a run folder."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise CommandError(_port_taken(port, error)) from None


def _port_taken(port: int, error: OSError) -> str:
    return f"port {port}: {(error.strerror or str(error)).lower()}; choose another with --port, or a free one with --port 0"


async def _embedded(
    topology: Topology, folder: RunFolder, port: int, rate: float, **options: Unpack[SocketOptions]
) -> None:
    lab = LiveLab(topology, folder=folder, **options)
    server = HttpServer(app_of_live_lab(lab, lab.host_of), port=port)
    async with lab:
        host, taken = await server.start()
        try:
            await lab.coordinator.set_rate(rate)
            await _until_signal(lab, f"http://{host}:{taken}", topology, folder)
        finally:
            await server.stop()


async def _processes(
    topology: Topology,
    folder: RunFolder,
    port: int,
    rate: float,
    *,
    patience_s: float,
    **options: Unpack[SocketOptions],
) -> None:
    lab = ProcessLab(topology, folder=folder, http_port=port, patience_s=patience_s, **options)
    async with lab:
        await lab.coordinator.set_rate(rate)
        await _until_signal(lab, lab.url, topology, folder)


async def _until_signal(lab: LiveLab | ProcessLab, url: str, topology: Topology, folder: RunFolder) -> None:
    """Print the addresses of the lab and wait for Ctrl-C or SIGTERM."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    write_lab_file(url)
    try:
        print_lines([f"{topology.organization} is up: {', '.join(topology.servers)}", f"  {url}/docs"])
        listening = [
            f"{name} {':'.join(map(str, lab.smtp_of(name)))}" for name in topology.servers if lab.running(name)
        ]
        print_lines([f"  SMTP: {', '.join(listening)}"])
        print_lines([f"  traces in {shown_path(folder.path)}; Ctrl-C stops the lab"], style="dim")
        await ended.wait()
    finally:
        remove_lab_file(url)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def node(name: Annotated[str, Argument(help="The server's name.")]) -> int:
    """Run one server in this process; the container of each server runs this verb.

    pflab node --help lists the options.

    Example: pflab node A --topology lab.yaml --data /data --lab-secret-file /run/secrets/lab
    """
    become_node([name])
