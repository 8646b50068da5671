"""Verbs for a lab in containers: coordinate, compose."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import yaml
from typer import Argument, Option

from node.api.http_client import Address
from node.api.http_server import OpenToAll
from node.process.leash import end_with_parent
from node.process.main import MAX_PORT
from node.state.database import cannot_write
from pflab.cli.inputs.by_name import read_topology, topology_file
from pflab.cli.inputs.files import shown_path
from pflab.cli.inputs.lessons import OwnLessons, served_lessons
from pflab.cli.options import A_TOPOLOGY, PORT, InTls, KeepMails, Patience, StopWithStdin, TopologyFile, rate_of
from pflab.cli.output import CommandError, err, print_file, print_lines
from pflab.cli.property_options import names_in
from pflab.cli.running_lab import Lab, client_of
from pflab.client import url_at
from pflab.containers.access import default_gateways, made_or_read
from pflab.containers.compose_file import (
    LAB,
    LOOPBACK,
    TOPOLOGY_LABEL,
    ComposeOrder,
    PublishedPort,
    added_text,
    addresses_of,
    compose_text,
    digest_of,
    mail_ports,
    published_ports,
)
from pflab.containers.managed_lab import MailDoors, ManagedLab
from pflab.containers.run_history import OtherTopology, RunHistory
from pflab.containers.trace_retention import make_room
from pflab.drivers.launch import source_root
from pflab.drivers.pulse import PATIENCE_S
from pflab.drivers.remote_lab import HttpOptions
from pflab.server.servers import imap_shown, smtp_shown
from pflab.terms.verdict import ExitCode
from topology.file.load import topology_from_document
from topology.model import Topology
from topology.problems import counted
from transport.file_handles import refusal_words

log = logging.getLogger("pflab.coordinate")

MB: Final = 1_000_000
TRACES_MB: Final = 2048
"""The default space for traces. It is enough for months of light load."""

TRACES_CHECK_S: Final = 60.0
"""Real time between two checks of the size of the traces."""


def coordinate(
    topology: TopologyFile,
    data: Annotated[Path, Option(metavar="DIR", help="The folder for the lab's state and traces.")] = Path("lab"),
    secrets: Annotated[
        Path | None, Option(metavar="DIR", help="The folder of the lab's secret and token; default: DATA/secrets.")
    ] = None,
    host: Annotated[
        str, Option(metavar="HOST", help="The host name or address on which the lab's HTTP API listens.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="The port of the HTTP API; 0 chooses a free one.")] = PORT,
    known_as: Annotated[
        str | None,
        Option(
            metavar="HOST:PORT",
            help="The address at which the servers reach the HTTP API; default: the address on which it listens.",
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=HOST:PORT",
            help="The address of a server's process; default: the server's name in lower case, port 8025.",
        ),
    ] = None,
    clock: Annotated[
        str,
        Option(
            metavar="real|RATE", help="The rate of the clock at the first start, in lab seconds for each real second."
        ),
    ] = "real",
    trust_gateway: Annotated[
        bool,
        Option("--trust-gateway", help="Accept requests from the default gateway of this machine without a token."),
    ] = False,
    traces_most: Annotated[
        int,
        Option(
            "--traces-most",
            min=1,
            metavar="MB",
            help="The space for traces, in MB. When it is full, the oldest segments are deleted.",
        ),
    ] = TRACES_MB,
    imap_port: Annotated[
        int | None,
        Option(
            min=1,
            max=65535,
            metavar="PORT",
            help="Every server also listens for IMAP on this port of its machine; the password is the token for users.",
        ),
    ] = None,
    smtp_at: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=HOST:PORT",
            help="The address at which users reach a server's SMTP listener; default: where it listens.",
        ),
    ] = None,
    imap_at: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=HOST:PORT",
            help="The address at which users reach a server's IMAP listener; default: where it listens.",
        ),
    ] = None,
    added_at: Annotated[
        str | None,
        Option(
            metavar="HOST",
            help="Where users reach the listeners of a server that is added later, at the ports that pflab compose gives it; "
            "default: where they listen.",
        ),
    ] = None,
    stays: Annotated[
        bool,
        Option(
            "--stay",
            help="If the lab began with another topology, print that and wait for a signal instead of exiting. "
            "Use it where a program restarts pflab when it exits.",
        ),
    ] = False,
    lessons: OwnLessons = None,
    tls: InTls = False,
    keep_mails: KeepMails = False,
    patience: Patience = PATIENCE_S,
    stop_with_stdin: StopWithStdin = False,
) -> int:
    """Coordinate a lab whose servers run elsewhere, and serve it over HTTP.

    Docker or another program runs a process `pflab node NAME --managed` for each server, and restarts it when it ends.
    You can stop the coordinator and start it again with the same DATA. The servers keep running meanwhile, and the lab
    continues afterwards.

    Example: pflab coordinate lab.yaml --at A=10.0.0.1:8025 --at B=10.0.0.2:8025
    """
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    rate = rate_of(clock)
    organization = read_topology(topology)
    served = served_lessons(lessons)
    try:
        secret, token, users_token = made_or_read(data / "secrets" if secrets is None else secrets)
    except OSError as error:
        raise CommandError(f"{error.filename} cannot be written or read: {(error.strerror or '').lower()}") from error
    node_addresses = _addresses_given("--at", at, organization)
    doors = MailDoors(
        None if imap_port is None else (users_token, imap_port),
        _addresses_given("--smtp-at", smtp_at, organization),
        _addresses_given("--imap-at", imap_at, organization),
        added_at,
    )
    addresses = {
        **addresses_of([name for name in organization.servers if name not in node_addresses]),
        **node_addresses,
    }
    http = HttpOptions(
        host,
        port,
        token=token,
        users_token=users_token,
        known_as=None if known_as is None else _address(known_as),
        trusted=default_gateways() if trust_gateway else frozenset(),
        extension=served,
    )
    try:
        runs = RunHistory(data.absolute(), organization, secret=secret, keeps_mails=keep_mails, tls=tls, doors=doors)
        asyncio.run(_coordinate_runs(runs, addresses, http, rate, traces_most * MB, patience, stop_with_stdin))
    except OtherTopology as error:
        if not stays:
            raise
        log.error("pflab coordinate: %s", error)  # noqa: TRY400 - a line for the user
        signal.pause()
        return ExitCode.UNKNOWN
    except sqlite3.OperationalError as error:
        if not cannot_write(error):
            raise  # an internal error
        raise CommandError(
            f"{data}: the lab's state cannot be written: {refusal_words(error)}; free space, then start again"
        ) from error
    except (OSError, OpenToAll) as error:
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise CommandError(
                f"{data}: the lab's state cannot be written: {error}; free space, then start again"
            ) from error
        raise CommandError(f"{host}:{port}: {error}") from error
    return ExitCode.GOOD


async def _coordinate_runs(
    runs: RunHistory,
    addresses: Mapping[str, Address],
    http: HttpOptions,
    rate: float,
    traces_most_bytes: int,
    patience_s: float,
    stop_with_stdin: bool,
) -> None:
    """Coordinate one run after the other until SIGINT or SIGTERM, or until standard input is closed."""
    ended = asyncio.Event()
    room = asyncio.create_task(_limit_traces(runs, traces_most_bytes), name="limit traces")
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    if stop_with_stdin:
        end_with_parent(lambda: loop.call_soon_threadsafe(ended.set))
    while not ended.is_set():
        lab = runs.lab(addresses, http, patience_s)
        renewed = asyncio.Event()

        def renew(topology: Topology, renewed: asyncio.Event = renewed) -> None:
            runs.next(topology, addresses)
            renewed.set()

        def go_back(name: str, renewed: asyncio.Event = renewed) -> None:
            runs.back_to(name)
            renewed.set()

        lab.renews, lab.returns, lab.saved_runs = renew, go_back, runs.saved
        await _coordinate_run(lab, 0.0 if runs.number > 1 else rate, ended, renewed)
        http = replace(http, port=lab.http_address[1])  # later runs keep the free port that the first one chose
    if http.extension is not None:
        await http.extension.close()
    room.cancel()


async def _limit_traces(runs: RunHistory, most_bytes: int) -> None:
    while True:
        removed = await asyncio.to_thread(make_room, runs.traces, runs.name, most_bytes)
        if removed:
            log.warning("removed the %d oldest segments of the traces, to stay below --traces-most", removed)
        await asyncio.sleep(TRACES_CHECK_S)


async def _coordinate_run(lab: ManagedLab, rate: float, *ends: asyncio.Event) -> None:
    starting = asyncio.create_task(_start_lab(lab, rate))
    ending = [asyncio.create_task(event.wait()) for event in ends]
    try:
        await asyncio.wait({starting, *ending}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            await starting
            await asyncio.wait(ending, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (starting, *ending):
            task.cancel()
        await asyncio.gather(starting, *ending, return_exceptions=True)
        await lab.close()


async def _start_lab(lab: ManagedLab, rate: float) -> None:
    await lab.up()
    if not lab.continues:
        await lab.set_rate(rate)
    running = [name for name in lab.names if lab.running(name)]
    print_lines([f"{lab.topology.organization} is up: {', '.join(running)}"])
    if away := [name for name in lab.names if name not in running and lab.without_store(name) != "store deleted"]:
        print_lines([f"  not running: {', '.join(away)}"])
    print_lines([f"  SMTP: {', '.join(f'{name} {smtp_shown(lab, name)}' for name in running)}"])
    imap = [f"{name} {address}" for name in running if (address := imap_shown(lab, name)) is not None]
    if imap:
        print_lines([f"  IMAP: {', '.join(imap)}; any user name, and the token for users as the password"])
    url = url_at(lab.http_address)
    print_lines([f"  {url}/  opens the console in a browser", f"  {url}/docs"])
    sys.stdout.flush()


def _addresses_given(option: str, texts: list[str] | None, organization: Topology) -> dict[str, Address]:
    addresses = dict(map(_named_address, texts or []))
    unknown = sorted(addresses.keys() - organization.servers.keys())
    if unknown:
        raise CommandError(f"{option} {unknown[0]}: no such server; the topology has {', '.join(organization.servers)}")
    return addresses


def _named_address(text: str) -> tuple[str, Address]:
    name, _, address = text.partition("=")
    return name, _address(address, text)


def _address(text: str, whole: str | None = None) -> Address:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port[:6]) <= MAX_PORT:
        raise CommandError(f"{whole or text}: not an address; write for example {'A=' if whole else ''}a.example:8025")
    return host, int(port)


def compose(
    topology: Annotated[
        Path | None,
        Argument(
            metavar="TOPOLOGY",
            show_default=False,
            help=f"{A_TOPOLOGY}. Default with --only: the running lab's organization.",
        ),
    ] = None,
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="FILE", help="Write into this file instead of stdout.")
    ] = None,
    only: Annotated[
        str | None,
        Option(
            "--only",
            metavar="SERVER,SERVER",
            help="Only the containers of these servers, which were added to a running lab, as a second compose file.",
        ),
    ] = None,
    lab: Lab = None,
) -> int:
    """Print a docker-compose.yml for a topology.

    The file has a container for each server, one for the coordinator, and one that posts a light load. Paths in the file are
    relative to the folder of the file; without --output they are relative to the current folder.

    Example: pflab compose default
    """
    if only is not None:
        if not names_in(only):
            raise CommandError("--only names no server; write for example --only F")
        present = _organization_of(lab) if topology is None else read_topology(topology)
        return _compose_added(present, names_in(only), output)
    if topology is None:
        raise CommandError("name a topology; only with --only a running lab can give it")
    organization = read_topology(topology)
    topology = topology_file(topology)  # the lab's container reads the file at each start
    here = Path.cwd() if output is None else output.absolute().parent
    root = source_root()
    order = ComposeOrder(_relative_to(here, topology.absolute()), None if root is None else _relative_to(here, root))
    text = compose_text(organization, order)
    if output is None:
        print_file(text)
    else:
        before = _topology_of(output)
        try:
            output.write_text(text, "utf-8")
        except OSError as error:
            raise CommandError(f"{output}: {(error.strerror or str(error)).lower()}") from error
        stores = counted(len(organization.servers), "store")
        build = "" if root is None else " --build"
        print_lines([f"{shown_path(output.absolute())}: {stores}; docker compose -f {output} up{build} --wait"])
        if before not in {None, digest_of(organization)}:
            _warn(
                f"{output} was for another topology. A lab that began with it cannot continue with this one; delete its data"
                f" first: docker compose -f {output} down --volumes"
            )
    for warning in _taken_ports(published_ports(organization)):
        _warn(warning)
    return ExitCode.GOOD


def _organization_of(lab: str | None) -> Topology:
    """Return the present organization of a running lab. A new site in it may not have a connector yet, and a topology file
    with such a site would be refused."""
    with client_of(lab) as client:
        return topology_from_document(client.json("GET", "/lab/topology"))


def _compose_added(organization: Topology, servers: Sequence[str], output: Path | None) -> int:
    """Print or write a second compose file."""
    text = added_text(organization, servers)
    if output is None:
        print_file(text)
        return ExitCode.GOOD
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise CommandError(f"{output}: {(error.strerror or str(error)).lower()}") from error
    services = " ".join(yaml.safe_load(text)["services"])
    print_lines([f"{output}: docker compose -f docker-compose.yml -f {output} up -d {services}"])
    ports = mail_ports(organization)
    for warning in _taken_ports(port for name in servers for port in ports[name]):
        _warn(warning)
    return ExitCode.GOOD


def _warn(line: str) -> None:
    err.print(f"pflab compose: {line}", markup=False)


def _topology_of(file: Path) -> str | None:
    """Return the digest of the topology for which a compose file was written; None if the file is not one of ours."""
    try:
        return str(yaml.safe_load(file.read_text("utf-8"))["services"][LAB]["labels"][TOPOLOGY_LABEL])
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError):
        return None


def _taken_ports(ports: Iterable[PublishedPort]) -> Iterator[str]:
    """Yield a line for each port that the containers would publish and that is taken, with the setting that changes it."""
    number = os.environ.get(LOOPBACK, "1")
    for port in ports:
        value = os.environ.get(port.variable, "")
        chosen = int(value) if value.isdecimal() else port.default
        try:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((f"127.0.0.{number}", chosen))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                yield (
                    f"port {chosen} of 127.0.0.{number} ({port.what}) is taken, perhaps by this lab itself; {port.variable}"
                    f" chooses another port, and {LOOPBACK} another address for all ports"
                )


def _relative_to(folder: Path, path: Path) -> str:
    """Return a path relative to a folder. It begins with a dot, because Compose reads other names as volumes."""
    relative = Path(os.path.relpath(path, folder)).as_posix()
    return relative if relative.startswith(".") else f"./{relative}"
