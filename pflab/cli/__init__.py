"""The command line `pflab`: one module per group of verbs.

Nothing is imported here before `main` runs, so that `main` can handle Ctrl-C, SIGTERM and SIGHUP from the start.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from pflab.cli.exit_codes import STOPPED
from pflab.home import enter
from pflab.systems import ELSEWHERE, is_supported

__all__ = ["STOPPED", "become_node", "main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line. Raises SystemExit with one of the exit codes.

    SIGTERM and SIGHUP stop every verb as Ctrl-C does: systemd, a CI system or a terminal that is closed sends them.
    """
    arguments = sys.argv[1:] if args is None else list(args)
    _open_closed_streams()
    if not is_supported() and arguments[:1] != ["doctor"]:
        from pflab.terms.verdict import ExitCode  # noqa: PLC0415 - Ctrl-C may come during this import

        print(f"pflab: {ELSEWHERE}", file=sys.stderr)
        sys.exit(ExitCode.UNKNOWN)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # after nohup, SIGHUP is ignored
            signal.signal(number, signal.default_int_handler)
    _replace_what_cannot_be_encoded()
    enter()
    if arguments[:1] == ["node"]:
        become_node(arguments[1:])
    try:
        from pflab.cli.app import run  # noqa: PLC0415 - Ctrl-C may come during this import
        from transport.resources import raise_most_open_files  # noqa: PLC0415 - as above

        raise_most_open_files()
        code = run(arguments)
    except KeyboardInterrupt:
        code = STOPPED
    except Exception as error:  # in an import
        if arguments[:1] == ["doctor"]:  # which says what is wrong
            from pflab.cli.doctor.report import print_report  # noqa: PLC0415 - as above

            sys.exit(print_report(as_json="--json" in arguments))
        from pflab.cli.bugs import bug_lines  # noqa: PLC0415 - as above
        from pflab.terms.verdict import ExitCode  # noqa: PLC0415 - as above

        print(*bug_lines(error), sep="\n", file=sys.stderr)
        code = ExitCode.INTERNAL
    sys.exit(code)


def _open_closed_streams() -> None:
    """Open /dev/null in place of each standard stream that was closed when the process was started (`>&-`). Otherwise the next
    file that is opened, for example a database, would have its number, and what a library prints would go there."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDWR)
        if opened == number:
            os.set_inheritable(number, True)
        else:
            os.dup2(opened, number)
            os.close(opened)
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


def _replace_what_cannot_be_encoded() -> None:
    """Let stdout write `?` for what its encoding lacks, such as Japanese in Latin-1. On stderr, Python writes escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in {"strict", "surrogateescape"}:
        sys.stdout.reconfigure(errors="replace")


def become_node(args: Sequence[str]) -> NoReturn:
    """Replace this process with a node's process, which does not import the command line."""
    from pflab.drivers.launch import node_environment, node_order  # noqa: PLC0415 - as above

    order = node_order(*args)
    os.execve(order[0], order, node_environment())
