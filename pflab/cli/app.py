"""The command line's shell: which verbs there are, and `run`, which turns each end into an exit code and at most a line.

A verb's module is imported when the verb is used; `pflab --help` needs none of them.
"""

from __future__ import annotations

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
from typer.core import TyperCommand, TyperGroup

from pflab.cli.bugs import DEBUG, bug_lines
from pflab.cli.exit_codes import STOPPED
from pflab.cli.output import CommandError, err
from pflab.cli.value_names import name_values
from pflab.terms.verdict import ExitCode

VERBS: Final[Mapping[str, tuple[str, str]]] = {
    "demo": ("pflab.cli.verbs.demo", "Play a guided lesson in the default lab, live: a mail is lost and comes back."),
    "run": ("pflab.cli.verbs.scenario", "Run scenarios and say whether each of them passed."),
    "simulate": (
        "pflab.cli.verbs.simulate",
        "Play many seeds in the simulator: work and faults, then heal, then all must converge within the bound.",
    ),
    "up": ("pflab.cli.verbs.up", "Bring a lab up and serve it over HTTP until Ctrl-C."),
    "node": ("pflab.cli.verbs.up", "Run one server as this process: what a container runs."),
    "coordinate": ("pflab.cli.verbs.containers", "Lead servers that run elsewhere, and serve their lab over HTTP."),
    "compose": ("pflab.cli.verbs.containers", "Print a docker-compose.yml for a topology."),
    "post": ("pflab.cli.verbs.lab", "Post a message into a folder of a running lab."),
    "folder": ("pflab.cli.verbs.lab", "List, create, change or delete folders in a running lab."),
    "clock": ("pflab.cli.verbs.lab", "Show or move the clock of a running lab."),
    "fault": ("pflab.cli.verbs.lab", "Let something go wrong in a running lab, or heal it; stop and start servers."),
    "content": (
        "pflab.cli.verbs.administer",
        "Suspend or resume the replication of content in a running lab, on all its servers.",
    ),
    "directory": ("pflab.cli.verbs.administer", "Delete a store from the directory of a running lab, for good."),
    "events": ("pflab.cli.verbs.lab", "What has happened in a running lab, or happens now."),
    "top": ("pflab.cli.verbs.top", "Watch a running lab: one line an event, as it happens."),
    "load": ("pflab.cli.verbs.load", "Post, edit and delete in a running lab at a rate, and say how it went."),
    "validate": ("pflab.cli.verbs.files", "Check a topology or a scenario: every mistake with its line."),
    "import": ("pflab.cli.verbs.mail", "Post the mails of an mbox, a Maildir or .eml files into a folder."),
    "export": ("pflab.cli.verbs.mail", "Write the messages of a folder of a run or of a running lab as an mbox."),
    "mailbox": ("pflab.cli.verbs.mail", "Print the mail to people that a run's or a running lab's stores have."),
    "analyze": (
        "pflab.cli.verbs.explain",
        "List the settings of a topology that are not the default, and what they do.",
    ),
    "explain": (
        "pflab.cli.verbs.explain",
        "Tell the life of a change or of a mail across the stores of a run or a running lab, in words.",
    ),
    "diff": ("pflab.cli.verbs.explain", "Say where two runs part, and what came of it."),
    "check": (
        "pflab.cli.verbs.analytics",
        "Judge runs from their traces alone, with Spark: converged or not, and who lacks what.",
    ),
    "lab": (
        "pflab.cli.verbs.containers",
        "Keep a running lab in containers as it stands, or bring it back to that; or write its traces up to now.",
    ),
    "follow": (
        "pflab.cli.verbs.analytics",
        "Keep a verdict on a running lab current, from its traces alone, with Spark.",
    ),
    "verdict": (
        "pflab.cli.verbs.analytics",
        "Print what the analysis that follows a running lab says of it, and up to which instant.",
    ),
    "trace": ("pflab.cli.verbs.explain", "Print what happened in a run or in a running lab, one line an event."),
    "log": ("pflab.cli.verbs.explain", "Print the application logs of a run's or a running lab's stores."),
    "decode": ("pflab.cli.verbs.files", "Take a replication mail apart, down to each property of each item."),
    "schema": ("pflab.cli.verbs.files", "Print the JSON Schema of a kind of file, for editors."),
    "state": ("pflab.cli.verbs.state", "Print the replication state tables of a run's or a running lab's stores."),
    "backfill": ("pflab.cli.verbs.state", "Print what stores know to be missing, and when they ask for it."),
}
"""Verb to the module that has it as a function of that name (a word of Python's own with an underscore behind it), and
what the list of verbs says of it."""

DEBUG_HELP: Final = f"Print the traceback of an internal error (a bug of pflab); {DEBUG}=1 does the same."

READER_GONE: Final = 141
"""The exit code when whoever read our output has gone: 128 and SIGPIPE, as shells count."""

_SETTINGS: Final[dict[str, Any]] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Stopped(Exception):
    """Ctrl-C, in a form that Typer does not make something else of."""


class _ReaderGone(Exception):
    """The reader of our output has gone; there is nobody left to tell."""


def function_of(verb: str) -> Any:
    """The function behind a verb, its module imported."""
    return getattr(import_module(VERBS[verb][0]), f"{verb}_" if iskeyword(verb) else verb)


class Verbs(TyperGroup):
    """The verbs, each imported when it is used."""

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
            verb = typer.Typer(**_SETTINGS)
            function = function_of(cmd_name)
            verb.command(cmd_name)(function)
            self.commands[cmd_name] = typer.main.get_command(verb)
            name_values(self.commands[cmd_name], function)
            debug = copy(next(each for each in self.params if "--debug" in each.opts))
            debug.expose_value = False  # the verb's function knows nothing of it
            self.commands[cmd_name].params.append(debug)
        return self.commands[cmd_name]

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        # A shell that asks which verbs there are does not wait for all of them to be imported.
        self._only_named = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._only_named = False

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, told) for name, (_, told) in VERBS.items()])

    def make_context(self, *args: Any, **more: Any) -> Any:
        with _own_ends():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        with _own_ends():
            return super().invoke(ctx)


@contextmanager
def _own_ends() -> Iterator[None]:
    """What Typer would turn into exit codes of its own."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise _Stopped from error
    except BrokenPipeError as error:
        if not _has_no_reader():
            raise  # it was another pipe
        raise _ReaderGone from error


app = typer.Typer(
    name="pflab",
    cls=Verbs,
    help="A live lab of public folder stores that replicate by mail, as Exchange 5.5 to 2007 did.",
    epilog="Exit status: 0 good, 1 a violation or a failed expectation, 2 misuse or unknown, 70 an internal error of"
    " pflab (a bug), 130 stopped by Ctrl-C.",
    **{**_SETTINGS, "add_completion": True},
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pflab {metadata.version('pflab')}")
        raise typer.Exit


def _debug(wanted: bool) -> None:
    if wanted:
        os.environ[DEBUG] = "1"  # child processes inherit it


@app.callback(invoke_without_command=True)
def _no_verb(
    ctx: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="Print the version and end.")
    ] = False,
    __: Annotated[bool, typer.Option("--debug", callback=_debug, help=DEBUG_HELP)] = False,
) -> int:
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
    return ExitCode.UNKNOWN


# Typer brings click along, older ones from outside and newer ones within; its usage error is found from what it shows
# of it.
_USAGE_ERROR = cast(type[Exception], typer.BadParameter.__base__)


def run(args: Sequence[str]) -> int:
    """The command line as a function: the exit code, everything else printed."""
    try:
        code = app(args=list(args), prog_name="pflab", standalone_mode=False)
    except (_Stopped, KeyboardInterrupt):
        return _stopped()
    except _ReaderGone:
        return _reader_gone()
    except typer.Abort:
        err.print("pflab: the input ended")
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
        return _reader_gone()
    return code if isinstance(code, int) else ExitCode.GOOD


def _stopped() -> int:
    err.print("pflab: stopped")
    return STOPPED


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether it came of tidying up after Ctrl-C."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _lines_of(error: Exception) -> Sequence[str] | None:
    """Return the lines of a user's mistake; None for an internal error."""
    if isinstance(error, CommandError):
        return error.lines
    # Whoever can raise these has imported them.
    from node.errors import NodeError  # noqa: PLC0415
    from pflab.client import ClientError  # noqa: PLC0415
    from pflab.errors import LabError  # noqa: PLC0415
    from topology.problems import ProblemsError  # noqa: PLC0415
    from traces.errors import TraceError  # noqa: PLC0415

    if isinstance(error, ClientError) and error.internal:
        return None
    if isinstance(error, ProblemsError):
        return str(error).splitlines()
    return [f"pflab: {error}"] if isinstance(error, LabError | NodeError | ClientError | TraceError) else None


def _usage_line(error: Any) -> str:
    """Click's several lines in one: what is wrong, and where help is."""
    path = error.ctx.command_path if error.ctx is not None else "pflab"
    text = " ".join(str(error.format_message()).split())
    text = text.replace("Value error, ", "").rstrip(".")  # a word of the library that checks the values
    return f"{path}: {text}; {path} --help says what is right"


# --- whoever reads what we print


def _has_no_reader() -> bool:
    """Whether nobody is at the other end of what we print into."""
    if not hasattr(select, "poll"):
        return True
    pipes = select.poll()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            pipes.register(stream.fileno(), select.POLLERR)
    return any(state & (select.POLLERR | select.POLLHUP) for _, state in pipes.poll(0))


def _reader_gone() -> int:
    """Python writes what is left at its end; let that go nowhere, in peace."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return READER_GONE
