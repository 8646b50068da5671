"""How the command line speaks: results on stdout (text or JSON), errors as one clear line on stderr."""

from __future__ import annotations

import errno
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.text import Text


_STEERING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal would obey, or could not show: subjects and names come from strangers."""


def harmless(text: str) -> str:
    """A text as it may be printed: lines and tabs stay, nothing else in it steers a terminal."""
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", text)


class _Terminal(Console):
    def render_str(self, text: str, **how: Any) -> Text:
        """A text of anybody, on its way to a terminal."""
        return super().render_str(harmless(text), **how)

    def on_broken_pipe(self) -> None:
        """Rich would end the process with 1, which here means a violation."""
        raise BrokenPipeError(errno.EPIPE, "the reader of our output has gone")


out = _Terminal(highlight=False, soft_wrap=True)


page = _Terminal(highlight=False)
"""For tables and panels, which fit themselves to the terminal; `out` lets long lines be long."""
err = _Terminal(stderr=True, highlight=False, soft_wrap=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


class CommandError(Exception):
    """A user's mistake; `lines` are printed on stderr, nothing else, and the exit code is 2."""

    def __init__(self, *lines: str) -> None:
        super().__init__("; ".join(lines))
        self.lines = lines


def json_text(value: Any, *, indent: int | None = None) -> str:
    """A value as JSON that a terminal may show too: readable, and what would steer it escaped, which in JSON means the
    same."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    # Python escapes what lies below a space; all that is left stands inside of texts.
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def print_json(value: Any) -> None:
    """One JSON document on stdout, never coloured or wrapped."""
    typer.echo(json_text(value, indent=2))


def print_mail(piece: bytes) -> None:
    """A part of a mail on stdout: to the byte into a file or a pipe; before a person, as text that steers no terminal."""
    if sys.stdout.isatty():
        sys.stdout.write(harmless(piece.decode("utf-8", "replace").replace("\r\n", "\n")))
    else:
        sys.stdout.buffer.write(piece)


def print_lines(lines: Sequence[str], *, style: str | None = None) -> None:
    for line in lines:
        out.print(line, style=style, markup=False)


@contextmanager
def progress(total: int, what: str) -> Iterator[Progress]:
    """A bar on stderr over `total` things, gone at the end; silent where stderr is not a terminal."""
    from rich.progress import (  # noqa: PLC0415 - only what shows a bar needs it
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
