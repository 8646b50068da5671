"""Tables that can be read on a terminal of any width.

A table with lines is divided so that no word is broken. If the terminal is too narrow for this, each row becomes a list of its
cells, each cell after its heading:

    Mail queue of Server A
    Mail: Folder Content
      (3210 bytes)
    To: B-IS@contoso.test

A grid has no lines and no headings. Only its last column is wrapped. If little room is left for it, it goes below the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pflab.terms.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

MOST_WORD: Final = len("2003-10-22T06:15:00Z")
"""The longest word that is never broken. Longer ones, such as paths and addresses, may be."""

LEAST_LAST: Final = 24
"""The least room for the last column of a grid beside the others."""


class FittedTable(Table):
    """A table with a title, lines and headings.

    right: the headings of the columns that are aligned to the right.
    """

    def __init__(
        self, title: str, headings: Iterable[str], *, show_lines: bool = False, right: Sequence[str] = ()
    ) -> None:
        super().__init__(title=Text(printable(title)), title_justify="left", title_style="bold", show_lines=show_lines)
        for heading in headings:
            self.add_column(heading, overflow="fold", justify="right" if heading in right else "left")

    def add_texts(self, *cells: str | Text) -> None:
        """Add a row. Texts have no markup, and lose the characters that control a terminal."""
        self.add_row(*map(_text, cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        texts = [[_text(str(column.header)), *map(_plain, column.cells)] for column in self.columns]
        least = [max(_longest(text.plain.split()) for text in column) for column in texts]
        widest = [max(_longest(text.plain.split("\n")) for text in column) for column in texts]
        least = [min(width, MOST_WORD) for width in least]
        room = options.max_width - 3 * len(self.columns) - 1  # the lines between the columns, and a space on each side
        if sum(least) > room:
            yield from self._records(texts)
            return
        for column, width in zip(self.columns, _widths(least, widest, room), strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)

    def _records(self, columns: Sequence[Sequence[Text]]) -> Iterable[Text | Padding]:
        yield Text(str(self.title), style="bold")
        headings, *rows = zip(*columns, strict=True)
        for number, row in enumerate(rows):
            if number:
                yield Text()
            for heading, cell in zip(headings, row, strict=True):
                first, *lines = cell.split("\n") or [Text()]
                if first.plain or lines:
                    yield Text.assemble((f"{heading.plain}: ", "dim"), first, overflow="fold")
                yield from (Padding(_folded(line), (0, 0, 0, 2)) for line in lines)


class FittedGrid(Table):
    """A table without lines. Only its last column is wrapped."""

    def __init__(self, columns: int) -> None:
        super().__init__(box=None, show_header=False, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
        for number in range(1, columns + 1):
            self.add_column(no_wrap=number < columns, overflow="fold")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        *before, last = [list(map(_plain, column.cells)) for column in self.columns]
        before_width = sum(2 + max((cell_len(text.plain) for text in column), default=0) for column in before)
        width = max((_longest(text.plain.split("\n")) for text in last), default=0)
        if before_width + min(width, LEAST_LAST) <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        for *names, ending in zip_longest(*before, last, fillvalue=Text()):
            labels = [name for name in names if name.plain]
            if labels:
                yield _folded(Text("  ").join(labels))
            yield Padding(_folded(ending), (0, 0, 0, 2))


def _text(content: str | Text) -> Text:
    if isinstance(content, str):
        return Text(printable(content))
    content.plain = printable(content.plain)
    return content


def _plain(content: object) -> Text:
    return content if isinstance(content, Text) else _text(str(content))


def _folded(text: Text) -> Text:
    text.overflow = "fold"
    return text


def _longest(words: Iterable[str]) -> int:
    return max(map(cell_len, words), default=0)


def _widths(least: Sequence[int], widest: Sequence[int], room: int) -> list[int]:
    """Return the width of each column: at least the least, and more for the column that needs it most, while there is room."""
    widths = list(least)
    for _ in range(room - sum(least)):
        needs = [wants - width for wants, width in zip(widest, widths, strict=True)]
        if max(needs) <= 0:
            break
        widths[needs.index(max(needs))] += 1
    return widths
