"""The verb `class`: serve one class until Ctrl-C."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Final

import typer
from typer import Argument, Option

from node.api.access import LOOPBACK_NAMES
from node.api.http_server import HttpServer
from node.process.leash import end_with_parent
from pflab.cli.doctor.extras import how_to_install
from pflab.cli.inputs.lessons import lessons_in
from pflab.cli.options import StopWithStdin
from pflab.cli.output import CommandError, json_text, print_file, print_lines
from pflab.lessons.classroom import Classroom, LessonUnknown
from pflab.room.access import Access
from pflab.room.app import LIMITS, app_of_class
from pflab.room.qr import qr_text
from pflab.room.room import COMMON_LABS, MOST_FORKS, Room
from pflab.terms.verdict import ExitCode
from transport.resources import raise_most_open_files

PORT: Final = 8026
"""The port of a class: the one after that of `pflab up`, so that both can run on one machine."""

MOST_LABS: Final = 100
"""The largest number for --labs. Each lab needs about 20 MB."""


def class_(
    course: Annotated[
        Path | None,
        Argument(
            metavar="[COURSE]",
            help="A folder with your own lessons (*.yaml), and maybe your course (course.yaml); default: the lessons of pflab.",
        ),
    ] = None,
    lesson: Annotated[
        str | None, Option(metavar="NAME", help="Begin with this lesson; default: the trainer's page chooses.")
    ] = None,
    host: Annotated[
        str,
        Option(help="The address at which the server listens. 0.0.0.0 lets the network reach it, which a class needs."),
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="The port; 0 chooses a free one.")] = PORT,
    address: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="What pupils open, if it is not http://HOST:PORT: the address of a reverse proxy, such as "
            "https://class.example.",
        ),
    ] = None,
    labs: Annotated[
        int,
        Option(min=0, max=MOST_LABS, help="How many pupils may have labs of their own on this server at once."),
    ] = MOST_FORKS,
    site: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="The folder that make site has built. Labs of pupils then run in their own browsers, any number of them.",
        ),
    ] = None,
    stop_with_stdin: StopWithStdin = False,
    as_json: Annotated[
        bool,
        Option(
            "--json",
            help="When the server is ready, print one line of JSON with url, trainer and key, and nothing else.",
        ),
    ] = False,
) -> int:
    """Serve a class: pupils join by an address, follow the trainer's step of a lesson, and vote.

    The verb prints two addresses: one for the trainer alone, and one for the pupils, also as a QR code. Each pupil may take the
    lab of the moment as a copy and explore it. A class on a network needs --host, and behind a reverse proxy, which adds TLS,
    --address. Ctrl-C ends the class.

    Example: pflab class --lesson lost-mail --host 0.0.0.0
    """
    if address is not None and not address.startswith(("http://", "https://")):
        raise CommandError(f"--address {address}: write a whole address, such as https://class.example")
    classroom = Classroom(lessons_in(course), most=COMMON_LABS + labs)
    tab = None if site is None else site / "lab"
    if tab is not None and not (tab / "index.html").is_file():
        raise CommandError(f"--site {site}: there is no lab in this folder; build it with make site")
    room = Room(classroom, forks=labs, tab=tab)
    raise_most_open_files()
    try:
        asyncio.run(_serve(room, lesson, (host, port), address, stop_with_stdin=stop_with_stdin, as_json=as_json))
    except LessonUnknown as error:
        raise CommandError(f"--lesson {lesson}: {error}") from None
    except OSError as error:
        wrong = {errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES, None}
        if error.errno not in wrong and not isinstance(error, socket.gaierror):
            raise
        raise CommandError(
            f"--host {host} --port {port}: {(error.strerror or str(error)).lower()}; choose another host or port"
        ) from error
    if not as_json:
        print_lines(["the class has ended"], style="dim")
    return ExitCode.GOOD


async def _serve(
    room: Room, lesson: str | None, place: tuple[str, int], address: str | None, *, stop_with_stdin: bool, as_json: bool
) -> None:
    """Serve the class until a signal, or until standard input is closed."""
    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end.set)
    if stop_with_stdin:
        end_with_parent(lambda: loop.call_soon_threadsafe(end.set))
    async with AsyncExitStack() as ends:
        server = HttpServer(app_of_class(room), host=place[0], port=place[1], check=Access(room), limits=LIMITS)
        ends.push_async_callback(room.close)
        _, port = await server.start()
        ends.push_async_callback(server.stop)
        if lesson is not None:
            await room.begin(lesson)
        url = f"http://{_in_address(_reachable(place[0]))}:{port}"
        room.invitation = f"{(address or url).rstrip('/')}/class#{room.key}"
        trainer = f"{(address or url).rstrip('/')}/class?trainer#{room.trainer_token}"
        if as_json:
            here = f"http://127.0.0.1:{port}" if place[0] == "0.0.0.0" else url
            typer.echo(
                json_text({"url": here, "trainer": room.trainer_token, "key": room.key, "pupils": room.invitation})
            )
        else:
            _tell(trainer, room.invitation, place[0])
        await end.wait()


def _tell(trainer: str, pupils: str, host: str) -> None:
    """Print the addresses."""
    print_lines(["the class is open; Ctrl-C ends it", f"  the trainer, and nobody else, opens  {trainer}"])
    print_lines([f"  pupils open                          {pupils}"])
    picture = qr_text(pupils)
    if picture is None:
        print_lines([f"  for a QR code, {how_to_install('class')}"], style="dim")
    else:
        print_file(picture)
    if host in LOOPBACK_NAMES:
        print_lines(["  only this machine reaches the class; --host 0.0.0.0 opens it to the network"], style="dim")
    else:
        print_lines(
            [
                f"  The network reaches this server at {host}. Who has the pupils' address may join, read the lab of the",
                "  lesson, and have a lab here; who has the trainer's may do everything. Without TLS, others can read both.",
            ]
        )


def _reachable(host: str) -> str:
    """Return the address by which others reach a server that listens at all addresses."""
    if host not in {"0.0.0.0", "::"}:
        return host
    family, far = (socket.AF_INET, "192.0.2.1") if host == "0.0.0.0" else (socket.AF_INET6, "2001:db8::1")
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((far, 9))  # sends nothing: the system chooses the address from which it would send
        except OSError:
            return socket.gethostname()
        return str(probe.getsockname()[0])


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
