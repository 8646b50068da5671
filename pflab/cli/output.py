"""Output of the command line: results on stdout (text or JSON), errors as one line on stderr."""

from __future__ import annotations

import codecs
import errno
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer import Option

from pflab.terms.printable import CONTROLS, printable
from pflab.terms.verdict import ExitCode

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.text import Text


def cell(text: str, *, style: str = "") -> Text:
    """Return a text for a cell of a table: without control characters, and with brackets as they are."""
    return Text(printable(text), style=style)


class _Terminal(Console):
    def render_str(self, text: str, **how: Any) -> Text:
        """Render a text without its control characters."""
        return super().render_str(printable(text), **how)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError, because Rich would exit with 1, which means a violation in pflab."""
        raise BrokenPipeError(errno.EPIPE, "the reader of our output has closed the pipe")


out = _Terminal(highlight=False, soft_wrap=True)


page = _Terminal(highlight=False)
"""The console for tables and panels, which are at most as wide as the terminal. The console `out` does not wrap lines."""
err = _Terminal(stderr=True, highlight=False, soft_wrap=True)

Json = Annotated[bool, Option("--json", help="Print JSON instead of text.")]


class CommandError(Exception):
    """A user's mistake. pflab prints only `lines`, on stderr, and exits with 2."""

    def __init__(self, *lines: str) -> None:
        super().__init__("; ".join(lines))
        self.lines = lines


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Return a value as readable JSON, with escapes for characters that control a terminal or that stdout cannot encode."""
    text = json.dumps(value, indent=indent, ensure_ascii=not _writes_unicode())
    # json.dumps has already escaped the control characters below U+0020. Others occur only in strings, where escapes are valid.
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def print_json(value: Any) -> None:
    """Print one JSON document on stdout, without colours or wrapping."""
    typer.echo(json_text(value, indent=2))


def _writes_unicode() -> bool:
    """Return whether stdout encodes as UTF-8."""
    encoding = sys.stdout.encoding
    return encoding is None or codecs.lookup(encoding).name == "utf-8"  # None: a stream of text, not of bytes


def print_file(text: str) -> None:
    """Print the text of a file, such as a topology. A file or a pipe gets it as UTF-8, in which pflab reads files."""
    if sys.stdout.isatty() or _writes_unicode():
        typer.echo(text, nl=False)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())


def view_json(view: Any) -> dict[str, Any]:
    """Return a view of a store as JSON values; instants are text."""
    from traces.labtime import format_instant  # noqa: PLC0415 - only for JSON

    return {
        field.name: format_instant(value)
        if isinstance(value, int) and (field.name == "at" or field.name.endswith("_at"))
        else value
        for field in fields(view)
        for value in (getattr(view, field.name),)
    }


def print_mail(piece: bytes) -> None:
    """Print a part of a mail. A file or a pipe gets it unchanged; a terminal gets it without control characters."""
    if sys.stdout.isatty():
        sys.stdout.write(printable(piece.decode("utf-8", "replace").replace("\r\n", "\n")))
    else:
        sys.stdout.buffer.write(piece)


def print_lines(lines: Sequence[str], *, style: str | None = None) -> None:
    for line in lines:
        out.print(line, style=style, markup=False)


def print_result(document: Any, lines: Sequence[str], as_json: bool) -> int:
    """Print the result of a verb: with `--json` its document, otherwise its lines. Return the exit code."""
    if as_json:
        print_json(document)
    else:
        print_lines(lines)
    return ExitCode.GOOD


def print_change(change: Mapping[str, Any], as_json: bool) -> int:
    """Print the number of a change. Return the exit code."""
    return print_result(change, [change["number"]], as_json)


def print_texts(lines: Iterable[Text]) -> None:
    """Print lines that have styles, without the control characters in them."""
    for line in lines:
        line.plain = printable(line.plain)
        out.print(line)


def print_sentences(lines: Sequence[str], *, style: str | None = None) -> None:
    """Print lines of words. A terminal breaks them between words, and continues each line with its indentation."""
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        wrapped = wrap(line, out.width, subsequent_indent=indent, break_on_hyphens=False) if out.is_terminal else [line]
        print_lines(wrapped or [line], style=style)


@contextmanager
def progress(total: int, what: str) -> Iterator[Progress]:
    """Show a progress bar on stderr while the block runs. Show nothing if stderr is not a terminal."""
    from rich.progress import (  # noqa: PLC0415 - few verbs show a bar
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        bar.add_task(what, total=total)
        yield bar


def changed_folder_lines(result: Mapping[str, Any]) -> list[str]:
    """Return a line for each folder that an order changed, with its change number, and for each that it left out."""
    changed = [f"{number}  {path}" for path, number in zip(result["folders"], result["numbers"], strict=True)]
    unchanged = [f"{path} keeps its replicas: none would be left" for path in result["kept"]]
    return [*changed, *unchanged] or ["nothing to change"]
