"""The Typer application and `main`, which turns every user's mistake into one line and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, cast

import typer

from node.errors import NodeError
from pflab.cli import files, runs, stores
from pflab.cli.output import CommandError, err
from pflab.lab import LabError
from pflab.verdict import ExitCode
from topology import ProblemsError

app = typer.Typer(
    name="pflab",
    help="A live lab of public folder stores that replicate by mail, as Exchange 5.5 to 2007 did.",
    epilog="Exit codes: 0 good, 1 a violation or a failed expectation, 2 unknown or misuse.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (runs, files, stores):
    module.register(app)


# Typer brings click along, older ones from outside and newer ones within; its usage error is found from what it shows
# of it.
_USAGE_ERROR = cast(type[Exception], typer.BadParameter.__base__)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; leaves by SystemExit with one of the exit codes."""
    sys.exit(run(sys.argv[1:] if args is None else list(args)))


def run(args: Sequence[str]) -> int:
    """The command line as a function: the exit code, everything else printed."""
    try:
        code = app(args=list(args), prog_name="pflab", standalone_mode=False)
    except CommandError as error:
        for line in error.lines:
            err.print(line, markup=False)
        return ExitCode.UNKNOWN
    except (LabError, NodeError, ProblemsError) as error:
        err.print(f"pflab: {error}" if not isinstance(error, ProblemsError) else str(error), markup=False)
        return ExitCode.UNKNOWN
    except _USAGE_ERROR as error:
        err.print(_usage_line(error), markup=False)
        return ExitCode.UNKNOWN
    except (KeyboardInterrupt, typer.Abort):
        err.print("pflab: stopped")
        return ExitCode.UNKNOWN
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody left to tell.
        return ExitCode.UNKNOWN
    return code if isinstance(code, int) else ExitCode.GOOD


def _usage_line(error: Any) -> str:
    """Click's several lines in one: what is wrong, and where help is."""
    path = error.ctx.command_path if error.ctx is not None else "pflab"
    text = " ".join(str(error.format_message()).split())
    return f"{path}: {text.rstrip('.')}; {path} --help says what is right"
