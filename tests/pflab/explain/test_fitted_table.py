"""Tables on narrow terminals: every text can be read, and nothing is wider than the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from pflab.cli.app import run
from pflab.cli.output import page
from pflab.client import Client
from pflab.explain.fitted_table import FittedGrid, FittedTable
from pflab.terms.verdict import ExitCode
from tests.support.running_lab import lab_up

WIDTHS = (40, 60, 80)

CELLS = (
    "A rather long subject of a mail\n(3210 bytes)",
    "B-IS@contoso.test\nC-IS@contoso.test",
    "2003-10-22T06:15:00Z",
    "no",
)
HEADINGS = ("Mail", "To", "Next attempt", "Tried")

VERBS = (
    ("state",),
    ("backfill",),
    ("status",),
    ("status", "Projects/A folder with a long name"),
    ("instances",),
    ("queue",),
    ("messages",),
    ("fault",),
    ("settings",),
    ("directory",),
    ("folder", "list", "--on", "A"),
    ("log",),
)


EMPTY = {"From", "Note"}
"""Headings of columns without a cell that has a text, which are left out on a narrow terminal."""


def shown(table: FittedTable | FittedGrid, width: int) -> str:
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(table)
    return out.getvalue()


@pytest.mark.parametrize("width", [20, 30, *WIDTHS, 120])
def test_no_word_is_broken_that_fits(width: int) -> None:
    """Each word is whole on a line, and no line is wider than the terminal. On a narrow one, each cell follows its heading."""
    table = FittedTable("A title", HEADINGS, show_lines=True)
    for _ in range(2):
        table.add_texts(*CELLS)
    text = shown(table, width)
    assert max(map(cell_len, text.splitlines())) <= width
    for word in (word for cell in (*CELLS, *HEADINGS) for word in cell.split() if len(word) <= width - 4):
        assert word in text, (word, text)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_last_column_of_a_grid_has_room(width: int) -> None:
    """If little room is left beside the other columns, the last one goes below them."""
    grid = FittedGrid(2)
    grid.add_row(Text("A's table of the folder hierarchy, row of B:"), Text("A-1 to A-20 received"))
    text = shown(grid, width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert "A-1 to A-20 received" in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a lab with entries in every table."""
    place = tmp_path_factory.mktemp("narrow")
    with lab_up(place, "--simulated") as url, Client(url) as client:
        client.json("POST", "/nodes/A/folders", {"path": "Projects/A folder with a long name", "replicas": ["A", "B"]})
        client.advance("1 h")
        client.inject("lose", from_="A", to="B", type="content", count=1)
        for number in range(3):
            client.post("A", "Projects", subject=f"A subject of a message that is rather long, number {number}")
        client.advance("25 h")
        client.stop("B")
        client.post("A", "Projects", subject="It waits in the queue")
        client.advance("30 min")
        yield place


def words(text: str) -> set[str]:
    """Return the words of a text that fit on any of the terminals."""
    return {word.strip(":") for word in re.sub("[│┃┏┓┗┛└┘┌┐├┤┡┩━─┬┴┼┳┻╇╈]", " ", text).split() if len(word) <= 20}


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_the_tables_of_all_verbs_fit(
    verb: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 40, 60 and 80 columns a verb prints the words that it prints on a wide terminal, and no table is wider."""
    printed: dict[int, str] = {}
    monkeypatch.chdir(folder)
    for width in (*WIDTHS, 200):
        monkeypatch.setattr(page, "_width", width)
        assert run(verb) in {ExitCode.GOOD, ExitCode.VIOLATION}, capsys.readouterr().err
        printed[width] = capsys.readouterr().out
    assert printed[200].strip()
    for width in WIDTHS:
        tables = [line for line in printed[width].splitlines() if "│" in line or "━" in line]
        assert all(cell_len(line) <= width for line in tables), printed[width]
        if verb[0] != "status":  # its matrix has marks in place of words if it is narrow
            assert words(printed[200]) - EMPTY <= words(printed[width]), printed[width]
