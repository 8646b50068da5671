"""The list of verbs, and `run`, which turns the result or exception of a verb into an exit code and an error line.

The module of a verb is imported when the verb is used; `pflab --help` imports none of them.
"""

from __future__ import annotations

import errno
import gc
import os
import select
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from difflib import get_close_matches
from importlib import import_module, metadata
from keyword import iskeyword
from typing import Annotated, Any, Final, cast

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

from pflab.cli.actions import SETTINGS, commands_in, one_action
from pflab.cli.bugs import DEBUG, bug_lines
from pflab.cli.exit_codes import STOPPED
from pflab.cli.output import CommandError, err
from pflab.cli.value_names import name_values
from pflab.terms.verdict import ExitCode

GROUPS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "Lessons, scenarios and campaigns": {
        "demo": ("demo", "Play a guided lesson in a live lab: a mail is lost, and its change comes back."),
        "class": (
            "room.verb",
            "Serve a class: pupils join by an address, follow the trainer's step of a lesson, and vote.",
        ),
        "run": ("scenario", "Run scenarios and report whether each one passed."),
        "simulate": (
            "simulate",
            "Simulate labs with random work and faults, and check that all stores converge in time.",
        ),
    },
    "Labs": {
        "up": ("up", "Start a lab and serve it over HTTP until Ctrl-C."),
        "coordinate": ("containers", "Coordinate a lab whose servers run elsewhere, and serve it over HTTP."),
        "compose": ("containers", "Print a docker-compose.yml for a topology."),
        "node": ("up", "Run one server in this process; the container of each server runs this verb."),
        "lab": (
            "lab",
            "Save a lab, reset it to a saved state, take it as a file, or make it write all its events to traces.",
        ),
        "clock": ("clock", "Show, set or advance the clock of a running lab."),
        "fault": (
            "faults.verb",
            "Inject or heal faults in a running lab; stop, start, back up and restore its servers.",
        ),
        "what-if": ("forecast", "Say what a running lab will do, or what changes would make different."),
        "load": ("load", "Post, edit and delete messages in a running lab at a given rate, and report the results."),
        "top": ("events", "Watch a running lab: one line for each event, as it happens."),
        "events": ("events", "Print the events of a running lab; --follow continues with new events."),
    },
    "Messages and mail": {
        "post": ("verbs.messages.posts", "Post a message into a folder of a running lab."),
        "edit": ("verbs.messages.posts", "Change the subject or the body of a message in a running lab."),
        "delete": ("verbs.messages.posts", "Delete a message in a running lab."),
        "recover": (
            "verbs.messages.posts",
            "Recover a deleted message or folder in a running lab; without a name, list what can be recovered.",
        ),
        "resolve": ("verbs.messages.posts", "End a conflict between versions of a message in a running lab."),
        "send": ("verbs.messages.mail", "Send a mail from a folder's address, in a running lab."),
        "messages": (
            "verbs.messages.versions",
            "List the messages of the stores of a run or a running lab; show all versions of one.",
        ),
        "mailbox": ("verbs.messages.mail", "Print the mail for people that the stores of a run or a running lab keep."),
        "queue": (
            "verbs.messages.queue",
            "Print the mail that the servers of a run or a running lab still have to send; freeze, delete or return it.",
        ),
        "import": ("load", "Post the mails of an mbox, a Maildir or .eml files into a folder."),
        "export": ("verbs.messages.mail", "Write a public folder's messages as an mbox, from a run or a running lab."),
    },
    "Administration": {
        "folder": (
            "verbs.administration.folder",
            "List, create, change or delete folders in a running lab; propagate properties.",
        ),
        "content": (
            "verbs.administration.replication",
            "Suspend or resume the replication of content on all servers of a running lab.",
        ),
        "replicas": (
            "verbs.administration.replication",
            "Add, remove or replace replicas of a folder and all its subfolders in a running lab.",
        ),
        "resend": (
            "verbs.administration.replication",
            "Resend the recent changes of a folder, or of the hierarchy, from chosen servers to chosen servers.",
        ),
        "synchronize": (
            "verbs.administration.replication",
            "Make servers request the status of a folder, or of the hierarchy, from all other holders now.",
        ),
        "settings": (
            "verbs.administration.settings",
            "Print the settings of the stores of a run or a running lab; change those of a running lab.",
        ),
        "directory": (
            "verbs.administration.directory",
            "Show the directory objects of stores; delete stores and create them again; change the recipient policies.",
        ),
        "site": (
            "verbs.administration.organization",
            "Show the sites of a running lab; add and remove them.",
        ),
        "server": (
            "verbs.administration.organization",
            "Show the servers of a running lab; add and remove them.",
        ),
        "connector": (
            "verbs.administration.organization",
            "Show the connectors between the sites of a running lab; add, change and remove them.",
        ),
        "topology": (
            "verbs.administration.organization",
            "Print the organization of a running lab as it is now, as a topology file.",
        ),
        "status": (
            "state",
            "Print the replication status of each folder on each server of a run or a running lab: in sync, behind and so on.",
        ),
        "instances": (
            "state",
            "Print the replicas of each server of a run or a running lab: items, size, last change, and whether they differ.",
        ),
    },
    "State of stores, and what happened": {
        "state": ("state", "Print the replication state tables of the stores of a run or a running lab."),
        "backfill": (
            "state",
            "Print which changes each store knows to be missing, and when it will request them.",
        ),
        "explain": ("explain", "Explain what happened to a change or a mail on each store of a run or a running lab."),
        "track": (
            "verbs.messages.tracking",
            "Find mails on all servers of a run or a running lab, and say what became of them.",
        ),
        "trace": ("explain", "Print the events of a run or a running lab, one line for each."),
        "traffic": (
            "explain",
            "Print how many mails and bytes each connector has carried in a run or a running lab, by type of mail.",
        ),
        "log": ("explain", "Print the application logs of the stores of a run or a running lab."),
        "replay": (
            "replay",
            "Write a run, or a lesson, as one HTML file that shows it in a browser, moment by moment, without a server.",
        ),
        "diff": ("explain", "Show the first instant at which two runs differ, and how each run ends."),
    },
    "Verdicts from traces": {
        "check": (
            "analytics",
            "Check the traces of runs: whether they converged, and which store lacks which change.",
        ),
        "tables": (
            "analytics",
            "Write the tables of a check of these runs as Parquet, a file for each, for DuckDB, pandas, Spark and others.",
        ),
        "follow": (
            "analytics",
            "Read the traces of a running lab with Spark, and keep the verdict on the lab up to date.",
        ),
        "verdict": (
            "analytics",
            "Print the latest verdict of pflab follow on a running lab, and the lab time of the verdict.",
        ),
    },
    "Files": {
        "example": ("files", "Print a topology or a scenario that comes with pflab, as a file to begin from."),
        "validate": ("files", "Check topologies, scenarios and plans, and print every mistake with its line."),
        "analyze": (
            "verbs.administration.settings",
            "List the settings that differ from the defaults, and what they do: of a topology, a run or a running lab.",
        ),
        "decode": ("files", "Decode a replication mail, down to each property of each item."),
        "schema": ("files", "Print the JSON Schema of a kind of file, for editors."),
    },
    "Installation": {
        "doctor": (
            "doctor.verb",
            "Check whether this machine has what pflab needs, and say how to get what is missing.",
        ),
    },
}
"""The verbs in groups, as pflab --help lists them. Each verb has its module in `pflab.cli.verbs`, or in a
folder of its own beside it, and its line in the list. The function in the module, or the Typer application of a verb with
actions, has the name of the verb, with an underscore for a hyphen. If it is a keyword of Python, an underscore follows."""

VERBS: Final = {verb: how for group in GROUPS.values() for verb, how in group.items()}

DEBUG_HELP: Final = f"Print the traceback of an internal error (a bug of pflab); {DEBUG}=1 does the same."

BROKEN_PIPE: Final = 141
"""The exit code when the program that reads pflab's output has closed the pipe: 128 + SIGPIPE, as in shells."""

_REFUSED_BY_SYSTEM: Final = frozenset({errno.EACCES, errno.ENAMETOOLONG, errno.ENOSPC, errno.EROFS})
"""Errors of the system that are never a bug of pflab, such as a file name that is too long, or a full disk."""


class _Stopped(Exception):
    """Raised for Ctrl-C in place of KeyboardInterrupt, because Typer does not convert this exception."""


class _BrokenPipe(Exception):
    """Raised when the program that reads pflab's output has closed the pipe, so that nothing can be printed any more."""


def application_of(verb: str) -> typer.Typer:
    """Return the Typer application of a verb, after importing the verb's module."""
    place = VERBS[verb][0]
    gc.disable()  # what modules make stays, so looking for garbage would take a sixth of the time of the import
    try:
        module = import_module(f"pflab.cli.{place}" if "." in place else f"pflab.cli.verbs.{place}")
    finally:
        gc.enable()
    defined = getattr(module, f"{verb}_" if iskeyword(verb) else verb.replace("-", "_"))
    return defined if isinstance(defined, typer.Typer) else one_action(verb, defined)


class Verbs(TyperGroup):
    """The group of all verbs. It imports the module of a verb when the verb is used."""

    _only_named = False

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            near = get_close_matches(cmd_name, VERBS, n=1)
            if near:
                raise CommandError(f"pflab: no verb {cmd_name!r}; did you mean {near[0]!r}?")
            return None
        if self._only_named:
            return TyperCommand(cmd_name, help=VERBS[cmd_name][1])
        if cmd_name not in self.commands:
            self.commands[cmd_name] = typer.main.get_command(application_of(cmd_name))
            debug = copy(next(param for param in self.params if "--debug" in param.opts))
            debug.expose_value = False  # the functions have no parameter for this option
            for _, command in commands_in(cmd_name, self.commands[cmd_name]):
                name_values(command)
                command.params.append(debug)
        return self.commands[cmd_name]

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        # A shell that completes a verb must not wait until the modules of all verbs are imported.
        self._only_named = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._only_named = False

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        widest = max(map(len, VERBS))  # all groups have the same columns
        for group, verbs in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:<{widest}}", summary) for name, (_, summary) in verbs.items()])

    def make_context(self, *args: Any, **more: Any) -> Any:
        with _own_exceptions():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        with _own_exceptions():
            return super().invoke(ctx)


@contextmanager
def _own_exceptions() -> Iterator[None]:
    """Replace exceptions that Typer would turn into exit codes of its own."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise _Stopped from error
    except BrokenPipeError as error:
        if not _output_is_closed():
            raise  # the error is about another pipe
        raise _BrokenPipe from error


app = typer.Typer(
    name="pflab",
    cls=Verbs,
    help="Run a lab of public folder stores that replicate by mail, as Exchange 5.5 to 2007 did.",
    epilog="Exit status: 0 success, 1 a violation or a failed expectation, 2 wrong usage or no verdict, 70 an internal"
    " error (a bug of pflab), 130 stopped by Ctrl-C, SIGTERM or SIGHUP (a campaign of pflab simulate: 2, with --forever 0).",
    **{**SETTINGS, "add_completion": True},
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"pflab {metadata.version('pflab')}")
        raise typer.Exit


def _debug(value: bool) -> None:
    if value:
        os.environ[DEBUG] = "1"  # child processes inherit it


@app.callback(invoke_without_command=True)
def _no_verb(
    ctx: typer.Context,
    _: Annotated[
        bool, Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
    __: Annotated[bool, Option("--debug", callback=_debug, help=DEBUG_HELP)] = False,
) -> int:
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
    return ExitCode.UNKNOWN


# Older versions of Typer depend on click and newer ones contain it. Both export BadParameter, a subclass of click's usage
# error.
_USAGE_ERROR = cast(type[Exception], typer.BadParameter.__base__)


def run(args: Sequence[str]) -> int:
    """Run the command line and return its exit code. Errors are printed, not raised."""
    try:
        code = app(args=list(args), prog_name="pflab", standalone_mode=False)
    except (_Stopped, KeyboardInterrupt):
        return _stopped()
    except _BrokenPipe:
        return _discard_output()
    except typer.Abort:
        err.print("pflab: the input ended too early")
        return ExitCode.UNKNOWN
    except _USAGE_ERROR as error:
        err.print(_usage_line(error), markup=False)
        return ExitCode.UNKNOWN
    except Exception as error:
        if _was_interrupted(error):
            return _stopped()
        lines = _lines_of(error)
        for line in bug_lines(error) if lines is None else lines:
            err.print(line, markup=False)
        return ExitCode.INTERNAL if lines is None else ExitCode.UNKNOWN
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _discard_output()
    return code if isinstance(code, int) else ExitCode.GOOD


def _stopped() -> int:
    err.print("pflab: stopped")
    return STOPPED


def _was_interrupted(error: BaseException | None) -> bool:
    """Return whether the error or one of its causes is Ctrl-C."""
    ids: set[int] = set()  # an error that is raised again can be among its own causes
    while error is not None and id(error) not in ids:
        if isinstance(error, KeyboardInterrupt):
            return True
        ids.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _lines_of(error: Exception) -> Sequence[str] | None:
    """Return the lines to print for a user's mistake, or None if the error is internal."""
    if isinstance(error, CommandError):
        return error.lines
    # These imports cost no time if a verb raised one of these errors, because it has imported the modules already.
    from node.errors import NodeError  # noqa: PLC0415
    from pflab.client import ClientError  # noqa: PLC0415
    from pflab.errors import LabError  # noqa: PLC0415
    from topology.problems import ProblemsError  # noqa: PLC0415
    from traces.errors import TraceError  # noqa: PLC0415

    if isinstance(error, ClientError) and error.internal:
        return None
    if isinstance(error, ProblemsError):
        return error.lines
    # SQLite's error has a name here, because an import would cost every verb its time.
    if (type(error).__module__, type(error).__name__) == ("sqlite3", "OperationalError") or (
        isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}
    ):
        from node.state.database import cannot_write  # noqa: PLC0415 - as above
        from transport.file_handles import refusal_words  # noqa: PLC0415 - as above

        return [f"pflab: {refusal_words(error)}"] if cannot_write(error) else None
    if isinstance(error, OSError) and error.errno in _REFUSED_BY_SYSTEM:
        where = f"{error.filename}: " if error.filename is not None else ""
        return [f"pflab: {where}{(error.strerror or str(error)).lower()}"]
    return [f"pflab: {error}"] if isinstance(error, LabError | NodeError | ClientError | TraceError) else None


def _usage_line(error: Any) -> str:
    """Return click's usage error as one line: what is wrong, and which command prints help."""
    path = error.ctx.command_path if error.ctx is not None else "pflab"
    text = " ".join(str(error.format_message()).split())
    for words, plain in _PLAIN.items():
        text = text.replace(words, plain)
    text = text.rstrip(".")
    return f"{path}: {text}; see {path} --help"


_PLAIN: Final = {
    "Value error, ": "",
    "Input should be greater than or equal to": "it must be at least",
    "Input should be less than or equal to": "it must be at most",
    "Input should be a valid integer, unable to parse string as an integer": "it must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "it must be a number",
}
"""Phrases in error texts of pydantic, which checks values for Typer, and the plain words that replace them."""


# --- output to a closed pipe


def _output_is_closed() -> bool:
    """Return whether stdout or stderr is a pipe whose reader has closed it."""
    if not hasattr(select, "poll"):
        return True
    pipes = select.poll()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            pipes.register(stream.fileno(), select.POLLERR)
    return any(state & (select.POLLERR | select.POLLHUP) for _, state in pipes.poll(0))


def _discard_output() -> int:
    """Redirect stdout and stderr to /dev/null, so that Python's flush at exit does not fail. Return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return BROKEN_PIPE
