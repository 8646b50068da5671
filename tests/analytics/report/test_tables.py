"""The tables that `pflab check --tables` keeps: their documented columns, and the notebook that starts from them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.judged_traces import Judged

ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "examples" / "notebook" / "tables.ipynb"


def documented() -> dict[str, dict[str, str]]:
    """Return the columns of each table in docs/reference/tables.md, and their types."""
    page = (ROOT / "docs" / "reference" / "tables.md").read_text("utf-8")
    tables: dict[str, dict[str, str]] = {}
    for section in page.split("\n## ")[1:]:
        rows = re.findall(r"^\| ([\w, ]+) \| ([^|]+) \|.*\|$", section, re.MULTILINE)
        columns = {name: kind for names, kind in rows for name in names.split(", ") if kind != "type"}
        tables[section.partition("\n")[0]] = columns
    return tables


def kind(simple: str) -> str:
    """Return a type of Spark as the page has it: without the fields of structures."""
    return re.sub(r"struct<.*>", "struct>", simple) if "struct<" in simple else simple


@pytest.mark.parametrize("name", documented())
def test_the_page_has_every_column(judged: Judged, name: str) -> None:
    """docs/reference/tables.md has each column of the tables that it describes, with its type, and no other."""
    schema = judged.table(name).schema
    assert {field.name: kind(field.dataType.simpleString()) for field in schema} == documented()[name]


def test_every_table_of_the_verdict_is_on_the_page(judged: Judged) -> None:
    """All tables of the layers gold and organization are described."""
    kept = {f"{layer}/{path.name}" for layer in ("gold", "organization") for path in (judged.tables / layer).iterdir()}
    assert kept <= set(documented())


def test_the_notebook_gives_the_results_that_it_shows(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell of examples/notebook/tables.ipynb runs, in order, and prints what the notebook has as its output.

    With PFLAB_NOTEBOOK=1 the outputs are written instead.
    """
    monkeypatch.chdir(judged.tables.parent)
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    names: dict[str, Any] = {}
    for nth, cell in enumerate([each for each in notebook["cells"] if each["cell_type"] == "code"], start=1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), names)
        output = {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        if os.environ.get("PFLAB_NOTEBOOK"):
            cell |= {"execution_count": nth, "outputs": [output]}
        assert cell["outputs"] == [output]
    if os.environ.get("PFLAB_NOTEBOOK"):
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
