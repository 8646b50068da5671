"""Verbs that run a lab or one server until the process is stopped: up, node."""

from __future__ import annotations

import asyncio
import errno
import secrets
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer
from typer import Argument, Option

from node.api.http_server import HttpServer
from node.host.whole_files import write_whole
from node.process.leash import end_with_parent
from pflab.cli import become_node
from pflab.cli.doctor.extras import how_to_install
from pflab.cli.inputs.by_name import read_topology
from pflab.cli.inputs.files import RUNS, shown_path
from pflab.cli.inputs.lab_files import check_unpacked, unpacked_run
from pflab.cli.inputs.lessons import OwnLessons, served_lessons
from pflab.cli.lab_options import run_folder
from pflab.cli.options import (
    A_TOPOLOGY,
    DEFAULT_SEED,
    PORT,
    InTls,
    KeepMails,
    Patience,
    StopWithStdin,
    rate_of,
    seed_option,
)
from pflab.cli.output import CommandError, json_text, print_lines
from pflab.cli.running_lab import check_alone, remove_lab_file, write_lab_file
from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.drivers.pulse import PATIENCE_S
from pflab.drivers.remote_lab import HttpOptions
from pflab.drivers.socket_lab import SocketOptions
from pflab.lab.histories import Histories, Orders
from pflab.lab.killed_run import end_killed
from pflab.lab.served_lab import InProcessLab, ServedLab
from pflab.runs.continued import SAVED, Earlier, continue_run
from pflab.runs.lab_state import STATE, RunSettings, read_state
from pflab.runs.recorder import MOST_HELD
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from pflab.server.extension import Extension
from pflab.server.servers import imap_shown, smtp_shown
from pflab.simulation.simulated_lab import SimulatedLab
from pflab.terms.verdict import ExitCode
from topology.model import Topology
from topology.problems import counted, one_of

EXAMPLE: Final = Path("default")
"""The example topology of `pflab up` alone."""


MAX_PORT: Final = 65_535

IMAP_PASSWORD: Final = "imap-password"
"""The file of a run folder with the password of mail programs, so that a run that continues this one has the same."""

IMAP_TOKEN_BYTES: Final = 12
"""The random bytes of the password of mail programs, which people type."""


@dataclass(frozen=True, slots=True)
class Caller:
    """How a lab behaves towards the person or program that started it.

    as_json: print one line of JSON when the lab is ready, and nothing else.
    parent_gone: a future that is done when standard input is closed; None if the lab continues then.
    imap_token: the password of mail programs, or None.
    """

    as_json: bool
    parent_gone: Future[None] | None
    imap_token: str | None = None

    def tell(self, *lines: str, style: str | None = None) -> None:
        """Print lines for a person."""
        if not self.as_json:
            print_lines(lines, style=style)

    def tell_ready(self, lab: ServedLab, url: str, folder: RunFolder) -> None:
        """Print the line for a program."""
        if self.as_json:
            smtp = {name: smtp_shown(lab, name) for name in lab.names}
            document = {"url": url, "run": lab.run, "folder": str(folder.path.resolve()), "smtp": smtp}
            if self.imap_token is not None:
                imap = {name: imap_shown(lab, name) for name in lab.names}
                document |= {"imap": imap, "imap_password": self.imap_token}
            typer.echo(json_text(document))


def up(
    topology: Annotated[
        Path | None,
        Argument(metavar="[TOPOLOGY]", help=f"{A_TOPOLOGY}; default: the example {EXAMPLE}."),
    ] = None,
    clock: Annotated[
        str | None,
        Option(
            metavar="real|RATE",
            help="How fast the clock runs: lab seconds for each real second. 0 pauses it, which is the default with "
            "--simulated; the word real, which is the default otherwise, means 1.",
        ),
    ] = None,
    processes: Annotated[bool, Option("--processes", help="Run each server in a separate process.")] = False,
    simulated: Annotated[
        bool,
        Option(
            "--simulated",
            help="Simulate the network, and keep the databases in memory. This lab is the fastest. It has no "
            "SMTP ports.",
        ),
    ] = False,
    port: Annotated[int, Option(min=0, max=65535, help="The port of the lab's HTTP API; 0 chooses a free one.")] = PORT,
    seed: Annotated[int, seed_option("The seed for GUIDs and keys.")] = DEFAULT_SEED,
    durability: Annotated[
        str | None,
        Option(
            metavar="full|normal",
            help="What a commit survives. normal, the default: a kill of the process; full: also a power failure.",
        ),
    ] = None,
    lessons: OwnLessons = None,
    tls: InTls = False,
    keep_mails: KeepMails = False,
    resume: Annotated[
        Path | None,
        Option(
            metavar="RUN",
            help="Continue this run of pflab up, which was stopped or killed. Its stores, lab time and options "
            "stay the same.",
        ),
    ] = None,
    from_file: Annotated[
        Path | None,
        Option(
            "--from",
            metavar="FILE",
            help="Continue the lab of this file, which pflab lab take has written. The other options say how it runs here.",
        ),
    ] = None,
    outside: Annotated[
        bool,
        Option("--outside", help="With --from: let the lab send mail to the mail servers outside that the file names."),
    ] = False,
    imap: Annotated[
        bool,
        Option(
            "--imap",
            help="Let mail programs read and post by IMAP. Each server listens at another address; all have the same "
            "password. Needs the extra imap.",
        ),
    ] = False,
    imap_port: Annotated[
        int,
        Option(
            min=0,
            max=65535,
            help="With --imap: the IMAP port of the first server. The other servers get the next ports. 0 "
            "chooses free ports.",
        ),
    ] = 0,
    imap_token_file: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="With --imap: a file with the password. Without this file, pflab generates a new password.",
        ),
    ] = None,
    patience: Patience = PATIENCE_S,
    stop_with_stdin: StopWithStdin = False,
    as_json: Annotated[
        bool,
        Option(
            "--json",
            help="When the lab is ready, print one line of JSON with url, run, folder and smtp, and nothing else.",
        ),
    ] = False,
) -> int:
    """Start a lab and serve it over HTTP until Ctrl-C.

    Other verbs find the lab if you start them in the same folder. A browser shows the console at the lab's address, and the
    documentation of the HTTP API at /docs.

    Example: pflab up one-site --processes --clock 60
    """
    if durability not in {"full", "normal", None}:
        raise CommandError(f"--durability {durability}: write full or normal")
    if resume is not None and (topology is not None or processes or simulated):
        raise CommandError(
            "pflab up --resume: the run decides the topology and the driver; leave out TOPOLOGY, --processes, --simulated"
        )
    _check_from(from_file, {"TOPOLOGY": topology, "--resume": resume, "--seed": seed != DEFAULT_SEED}, outside=outside)
    earlier = RunSettings(driver="simulator" if simulated else "processes" if processes else "live")
    with nullcontext(resume and _ended(resume)) if from_file is None else unpacked_run(from_file) as run:
        if resume is not None and run is not None:
            earlier = _settings_of(run)
            imap = imap or earlier.imap_port is not None
        if run is not None:
            topology, seed = run / "topology.yaml", int((run / "seed").read_text("ascii"))
        if earlier.driver == "simulator":
            clock = clock or "0"
            _check_simulated(
                {"--processes": processes, "--tls": tls, "--durability full": durability == "full", "--imap": imap}
            )
        rate = rate_of(clock or "real")
        _check_imap(imap, {"--imap-port": imap_port, "--imap-token-file": imap_token_file})
        imap_token = _imap_token(imap_token_file, run) if imap else None
        settings = RunSettings(
            driver=earlier.driver,
            durability=earlier.durability if durability is None else "full" if durability == "full" else "normal",
            tls=tls or earlier.tls,
            imap_port=(imap_port or earlier.imap_port or 0) if imap else None,
            keeps_mails=keep_mails or earlier.keeps_mails,
        )
        organization = read_topology(topology or EXAMPLE)
        if (settings.imap_port or 0) + len(organization.servers) > MAX_PORT + 1:
            raise CommandError(
                f"--imap-port {imap_port}: {counted(len(organization.servers), 'server')} need ports from this one on;"
                " choose a lower port"
            )
        if from_file is not None and run is not None:
            check_unpacked(from_file, run, organization, settings, outside=outside)
        served = served_lessons(lessons)
        check_alone()
        _check_free(port)
        folder = _new_folder(settings, imap_token)
        caller = Caller(as_json, _parent_gone() if stop_with_stdin else None, imap_token)
        caller.tell(f"starting {counted(len(organization.servers), 'server')} ...", style="dim")
        options = SocketOptions(
            seed=seed,
            durability=settings.durability,
            tls=settings.tls,
            imap_token=imap_token,
            imap_port=settings.imap_port or 0,
            earlier=None if run is None else continue_run(run, folder, from_file),
            most_events=MOST_HELD,
        )
    plan = Plan(organization, folder, settings, port, rate, served, caller, patience)
    bring_up = _processes if settings.driver == "processes" else _in_this_process
    try:
        last = asyncio.run(bring_up(plan, options))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise CommandError(_port_taken(port, error)) from error
    caller.tell(f"stopped; kept in {shown_path(last.path)}", style="dim")
    return ExitCode.GOOD


@dataclass(frozen=True, slots=True)
class Plan:
    """What the verb runs.

    rate: of the clock at the start.
    patience_s: see `pflab.drivers.pulse`.
    """

    topology: Topology
    folder: RunFolder
    settings: RunSettings
    port: int
    rate: float
    lessons: Extension
    caller: Caller
    patience_s: float

    def next_folder(self) -> RunFolder:
        """Return the folder of another run history of this lab."""
        return _new_folder(self.settings, self.caller.imap_token)


def _check_from(file: Path | None, options: Mapping[str, object], *, outside: bool) -> None:
    """Raise CommandError if options were given that a lab file decides, or --outside without a file."""
    wrong = [option for option, value in options.items() if value]
    if file is not None and wrong:
        raise CommandError(
            f"pflab up --from {file}: the file has the topology and the seed; leave out {', '.join(wrong)}"
        )
    if file is None and outside:
        raise CommandError("pflab up: --outside without --from; add --from, or leave it out")


def _check_simulated(options: Mapping[str, object]) -> None:
    """Raise CommandError if options were given that need processes, sockets or files."""
    wrong = [option for option, value in options.items() if value]
    if wrong:
        raise CommandError(
            f"pflab up --simulated: it has one process, no sockets and no databases on disk; leave out {', '.join(wrong)}"
        )


def _check_imap(imap: bool, options: Mapping[str, object]) -> None:
    """Raise CommandError if options of the IMAP listeners were given, but no such listeners."""
    wrong = [option for option, value in options.items() if value]
    if wrong and not imap:
        raise CommandError(
            f"pflab up: {' and '.join(wrong)} without --imap; add --imap, or leave out {'it' if len(wrong) == 1 else 'both'}"
        )


def _imap_token(file: Path | None, resume: Path | None) -> str:
    """Return the password of mail programs: that of the file, that of the run to continue, or a new one. Raise CommandError if
    the file has none, or if the extra imap is not installed."""
    try:
        import_module("pymap")
    except ImportError:
        raise CommandError(f"pflab up --imap: pymap is not installed; {how_to_install('imap')}") from None
    if file is None and resume is not None and (resume / IMAP_PASSWORD).exists():
        file = resume / IMAP_PASSWORD
    if file is None:
        return secrets.token_urlsafe(IMAP_TOKEN_BYTES)
    try:
        token = file.read_text("utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise CommandError(f"--imap-token-file {file}: {getattr(error, 'strerror', None) or error}") from None
    if not (token.isprintable() and token):
        raise CommandError(f"--imap-token-file {file}: write the password into it, on one line")
    return token


def _ended(resume: Path) -> Path:
    """Return the run folder that a user named, after ending its run if the lab was killed."""
    _check_exists(resume)
    run = resume.resolve()  # runs/latest will be another run
    end_killed(run)
    return run


def _settings_of(run: Path) -> RunSettings:
    """Return how a lab ran that pflab up continues."""
    settings = read_state(run).settings
    if settings.driver == "managed":
        raise CommandError(f"--resume {run}: this is a run of pflab coordinate; start it again with the same --data")
    return settings


def _check_exists(run: Path) -> None:
    """Raise CommandError, with the runs that can be continued, if there is no such run folder."""
    if run.is_dir():
        return
    states = [*RUNS.glob(f"*/*/{STATE}"), *RUNS.glob(f"*/*/{SAVED}/[!.]*/{STATE}")]
    names = sorted((str(state.parent) for state in states), reverse=True)
    raise CommandError(
        f"--resume {run}: no such run; {one_of(names) if names else f'no run below {RUNS} can be continued'}"
    )


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


async def _in_this_process(plan: Plan, options: SocketOptions) -> RunFolder:
    """Run a lab whose servers run in this process. The HTTP server stays the same after a reset. Return the last run folder."""

    def make(folder: RunFolder, earlier: Earlier | None) -> InProcessLab:
        if plan.settings.driver == "live":
            return LiveLab(plan.topology, folder=folder, **_with_earlier(options, earlier))
        seed, most = options["seed"], options["most_events"]
        return SimulatedLab(plan.topology, folder=folder, seed=seed, earlier=earlier, most_events=most)

    histories = Histories(plan.folder, make, plan.next_folder, options.pop("earlier"))
    server = HttpServer(app_of_live_lab(lambda: histories.lab, plan.lessons), port=plan.port)

    async def close() -> None:
        await histories.lab.close()

    async with AsyncExitStack() as ends:
        ends.push_async_callback(plan.lessons.close)
        ends.push_async_callback(close)
        host, port = await server.start()
        ends.push_async_callback(server.stop)  # before the lab, so no request finds a lab that ends
        await histories.lab.up()
        if plan.rate != histories.lab.rate:
            await histories.lab.set_rate(plan.rate)
        url = f"http://{host}:{port}"
        ends.enter_context(_announced(url, histories.orders, plan.caller))
        plan.caller.tell_ready(histories.lab, url, plan.folder)

        def tell() -> None:
            _tell_addresses(plan.caller, histories.lab, url, histories.folder)

        tell()
        await histories.follow(tell)
    return histories.folder


def _with_earlier(options: SocketOptions, earlier: Earlier | None) -> SocketOptions:
    """Return the options of a lab that continues an earlier one. Only that lab has them, because they hold many events."""
    full_options = options.copy()
    full_options["earlier"] = earlier
    return full_options


async def _processes(plan: Plan, options: SocketOptions) -> RunFolder:
    """Run a lab of processes, which has its own HTTP server, also after a reset. Return the last run folder."""
    door: socket.socket | None = None
    """The socket of the HTTP server: it listens also between two labs, so that a client waits in place of being refused."""

    def make(folder: RunFolder, earlier: Earlier | None) -> ProcessLab:
        listener = None if door is None else door.dup()
        http = HttpOptions(port=plan.port, listener=listener, extension=plan.lessons)
        more = _with_earlier(options, earlier)
        return ProcessLab(plan.topology, folder=folder, http=http, patience_s=plan.patience_s, **more)

    histories = Histories(plan.folder, make, plan.next_folder, options.pop("earlier"))
    async with AsyncExitStack() as ends:
        ends.push_async_callback(plan.lessons.close)
        while True:
            async with histories.lab as lab:
                if door is None:
                    door = ends.enter_context(lab.share_listener())
                if histories.folder == plan.folder:  # after a reset the clock is paused
                    await lab.set_rate(plan.rate)
                    ends.enter_context(_announced(lab.url, histories.orders, plan.caller))
                    plan.caller.tell_ready(lab, lab.url, plan.folder)
                _tell_addresses(plan.caller, lab, lab.url, histories.folder)
                if not await histories.next():
                    return histories.folder


def _new_folder(settings: RunSettings, imap_token: str | None) -> RunFolder:
    folder = run_folder("up", None, simulate=False, keep_mails=settings.keeps_mails)
    assert folder is not None, "a lab of this verb always has a folder"
    if imap_token is not None:
        write_whole(folder.path / IMAP_PASSWORD, f"{imap_token}\n".encode(), mode=0o600)
    return folder


@contextmanager
def _announced(url: str, orders: Orders, caller: Caller) -> Iterator[None]:
    """Let other verbs find the lab, and order its end at the first Ctrl-C or SIGTERM; the next one ends the process. Order its
    end too when standard input is closed, if the caller wants this."""
    loop = asyncio.get_running_loop()

    def release() -> None:
        remove_lab_file(url)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    def end() -> None:
        release()
        orders.put_nowait(None)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    if caller.parent_gone is not None:
        caller.parent_gone.add_done_callback(lambda _: _in_loop(loop, end))
    write_lab_file(url)
    try:
        yield
    finally:
        release()


def _parent_gone() -> Future[None]:
    """Return what is done when standard input is closed, also while the lab starts."""
    end: Future[None] = Future()
    end_with_parent(lambda: end.set_result(None))
    return end


def _in_loop(loop: asyncio.AbstractEventLoop, end: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the lab has ended already
        loop.call_soon_threadsafe(end)


def _tell_addresses(caller: Caller, lab: ServedLab, url: str, folder: RunFolder) -> None:
    running = [name for name in lab.names if lab.running(name)]
    listening = [f"{name} {address}" for name in running if (address := smtp_shown(lab, name)) is not None]
    caller.tell(
        f"{lab.topology.organization} is up: {', '.join(running)}",
        f"  {url}/  opens the console in a browser",
        f"  {url}/docs",
        f"  SMTP: {', '.join(listening) or 'no ports; the lab is simulated'}",
        *(f"  note: {notice}" for notice in lab.organization.notices()),
    )
    if caller.imap_token is not None:
        served = ", ".join(f"{name} {imap_shown(lab, name)}" for name in running)
        caller.tell(f"  IMAP: {served}; any user name, and the password {caller.imap_token}")
    caller.tell(f"  traces in {shown_path(folder.path)}; Ctrl-C stops the lab", style="dim")


def node(name: Annotated[str, Argument(help="The server's name.")]) -> int:
    """Run one server in this process; the container of each server runs this verb.

    pflab node --help lists the options.

    Example: pflab node A --topology lab.yaml --data /data --lab-secret-file /run/secrets/lab
    """
    become_node([name])
