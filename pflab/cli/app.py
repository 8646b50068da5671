"""The Typer application and `main`, which turns every user's mistake into one line and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer
from click.exceptions import ClickException

from pflab.cli import files, runs, stores
from pflab.cli.output import CommandError, err
from pflab.verdict import ExitCode

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
    except ClickException as error:
        error.show()
        return ExitCode.UNKNOWN
    except (KeyboardInterrupt, typer.Abort):
        err.print("pflab: stopped")
        return ExitCode.UNKNOWN
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody left to tell.
        return ExitCode.UNKNOWN
    return code if isinstance(code, int) else ExitCode.GOOD
