"""The tables that `pflab check --tables` keeps: their documented columns, and the notebook that starts from them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analytics.published.tables import PUBLISHED
from analytics.rules.catalogue import chosen
from analytics.verdicts.result import short
from pflab.analytics import judge
from pflab.cli.output import CommandError
from pflab.cli.verbs.analytics import tables
from tests.support.judged_traces import Judged, rows_in

ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "examples" / "notebook" / "tables.ipynb"


def documented() -> dict[str, dict[str, str]]:
    """Return the columns of each table in docs/reference/tables.md, and their types."""
    page = (ROOT / "docs" / "reference" / "tables.md").read_text("utf-8")
    every: dict[str, dict[str, str]] = {}
    for section in page.split("\n## ")[1:]:
        rows = re.findall(r"^\| ([\w, ]+) \| ([^|]+) \|.*\|$", section, re.MULTILINE)
        columns = {name: kind for names, kind in rows for name in names.split(", ") if kind != "type"}
        every[section.partition("\n")[0]] = columns
    return every


def columns(file: str) -> dict[str, str]:
    """Return the columns of a table and their types as the page has them: without the fields of structures."""
    with duckdb.connect() as connection:
        described = connection.execute(f"DESCRIBE SELECT * FROM '{file}'").fetchall()
    names = {"VARCHAR": "string", "BIGINT": "bigint", "INTEGER": "int", "BOOLEAN": "boolean"}
    names |= {"TIMESTAMP": "timestamp", "VARCHAR[]": "list of strings"}
    names |= {"MAP(VARCHAR, BIGINT)": "map of string to bigint"}
    return {
        name: names.get(kind) or re.sub(r"STRUCT\(.*\)\[\]", "list of structs", kind) for name, kind, *_ in described
    }


@pytest.mark.parametrize("name", documented())
def test_the_page_has_every_column(judged: Judged, name: str) -> None:
    """docs/reference/tables.md has each column of the tables that it describes, with its type, and no other."""
    assert columns(f"{judged.tables}/{name}/*.parquet") == documented()[name]


def test_every_table_is_on_the_page(judged: Judged) -> None:
    """All tables are described, in the order in which they are declared."""
    assert list(documented()) == list(PUBLISHED)
    assert {path.name for path in judged.tables.iterdir() if not path.name.startswith(".")} == PUBLISHED.keys()


def test_the_verdict_on_a_run_is_that_of_the_check(judged: Judged) -> None:
    """The table `runs` has the judgement and the violations of each run as `pflab check` prints them."""
    said = {each["trace"]: (each["judgement"], each["violations"]) for each in judged.document["runs"]}
    rows = {short(row.trace): (row.judgement, row.violations) for row in judged.rows("runs")}
    assert {name: rows[name] for name in said} == said


@pytest.mark.long
def test_tables_of_chosen_checks(judged: Judged, tmp_path: Path) -> None:
    """`pflab tables --select` writes only results of chosen checks, and the verdict of `pflab check --select` on each run. The
    other tables stay the same. A word that names no check is refused before anything is judged."""
    place = judged.place("stories/reissued")
    assert tables([place], tmp_path, select=["cn"], deselect=["CN-1"]) == 0
    checks = chosen(["cn"], ["CN-1"])
    rows = {name: set(map(str, rows_in(f"{tmp_path}/{name}.parquet"))) for name in PUBLISHED}
    kept = {name: judged.rows(name, f"trace LIKE '{place}#%'") for name in PUBLISHED}
    kept["rules"] = [row for row in kept["rules"] if row.rule_check in checks]
    assert {name for name in PUBLISHED if rows[name] != set(map(str, kept[name]))} == {"runs"}
    (run,) = rows_in(f"{tmp_path}/runs.parquet")
    verdict = judge(place, select="cn", deselect=["CN-1"])
    assert (run.judgement, run.violations) == (verdict.judgement, verdict.document["violations"])
    assert run.violations < kept["runs"][0].violations
    with pytest.raises(CommandError, match="'BX-9' is not a check"):
        tables(["nowhere"], tmp_path, deselect=["BX-9"])


def test_the_notebook_gives_the_results_that_it_shows(
    judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each cell of examples/notebook/tables.ipynb runs, in order, on the tables of `pflab tables`, and prints what the notebook
    has as its output.

    With PFLAB_NOTEBOOK=1 the outputs are written instead.
    """
    monkeypatch.chdir(tmp_path)
    assert tables([judged.place("suite/lost-mail")], Path("tables")) == 0
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
