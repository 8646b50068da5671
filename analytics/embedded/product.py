"""The statements of all tables and queries, as the build wrote them into `judge.sql`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from analytics.ingest import arrow_lines, lines, routes

JUDGE: Final = Path(__file__).with_name("judge.sql")
FUNCTIONS: Final = Path(__file__).with_name("functions.sql")

RULES: Final = "rules/"
"""The layer of the tables with the results of the checks of one evidence table each."""

GOLD_RULES: Final = "gold/rules"
"""All results of checks: the union of these tables."""

GIVEN: Final = "given/"
"""The layer of the small tables that a query is given."""

_HEAD: Final = "-- Made by `make sql` from the tables in PySpark. Do not edit.\n"
_SHAPE: Final = "-- shape "
_GIVEN: Final = "-- given "
_KINDS: Final = ("table", "finding", "figure", "detail", "published")
_PART: Final = re.compile(rf"^-- ({'|'.join(_KINDS)}) (\S+)(?: needs (\S+))?\n(?:-- columns (.+)\n)?", re.MULTILINE)


Rules = Mapping[str, Collection[str]]
"""The checks that a user has chosen: their ids, by the names of their evidence tables."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The SELECT of a table or of a query.

    needs: it is empty unless an event of one of these types occurs; () if it is always computed.
    columns: those of a table, with their types.
    """

    name: str
    sql: str
    needs: tuple[str, ...] = ()
    columns: str = ""


@dataclass(frozen=True, slots=True)
class Product:
    """shape: the fields of all events, as DuckDB reads them from JSON.
    given: the columns of the tables that queries get as input.
    tables: in the order in which they are computed.
    findings: the queries of a verdict.
    figures, details: those of a report (`analytics.report.queries`).
    published: the tables for other programs.
    """

    shape: dict[str, object]
    given: dict[str, str]
    tables: tuple[Statement, ...]
    findings: tuple[Statement, ...]
    figures: tuple[Statement, ...]
    details: tuple[Statement, ...]
    published: tuple[Statement, ...] = ()

    @property
    def statements(self) -> tuple[tuple[Statement, ...], ...]:
        """Return all statements, by kind."""
        return self.tables, self.findings, self.figures, self.details, self.published

    def tables_for(self, rules: Rules | None) -> tuple[Statement, ...]:
        """Return the tables that a verdict and the published tables need, in the order in which they are computed.

        rules: the chosen checks; None for all tables.
        """
        if rules is None:
            return self.tables
        needed: list[Statement] = []
        for table in reversed(self.tables):
            if (
                table.name.removeprefix(RULES) in rules
                if table.name.startswith(RULES)
                else any(f'"{table.name}"' in statement.sql for statement in (*self.findings, *self.published, *needed))
            ):
                needed.append(table)
        return tuple(reversed(needed))

    def query(self, name: str) -> str:
        """Return the SQL of a query of the verdict or of a report."""
        return next(
            statement.sql for statement in (*self.findings, *self.figures, *self.details) if statement.name == name
        )

    def text(self) -> str:
        """Return the content of the file."""
        parts = [_HEAD, f"{_SHAPE}{json.dumps(self.shape)}\n", f"{_GIVEN}{json.dumps(self.given)}\n"]
        for kind, statements in zip(_KINDS, self.statements, strict=True):
            for statement in statements:
                needs = f" needs {','.join(statement.needs)}" if statement.needs else ""
                columns = f"-- columns {statement.columns}\n" if statement.columns else ""
                parts.append(f"\n-- {kind} {statement.name}{needs}\n{columns}{statement.sql};\n")
        return "".join(parts)

    @classmethod
    def parse(cls, text: str) -> Product:
        """Return the product in the content of a file."""
        head, *parts = _PART.split(text)
        shape, given = (json.loads(_after(start, head)) for start in (_SHAPE, _GIVEN))
        statements: dict[str, list[Statement]] = {kind: [] for kind in _KINDS}
        for kind, name, needs, columns, sql in zip(*(parts[place::5] for place in range(5)), strict=True):
            types = tuple(needs.split(",")) if needs else ()
            statements[kind].append(Statement(name, sql.strip().removesuffix(";"), types, columns or ""))
        return cls(shape, given, *map(tuple, statements.values()))


@cache
def version() -> str:
    """Return a text that changes with everything on which the tables of a trace depend."""
    engine_files = (file for file in Path(__file__).parent.iterdir() if file.suffix in {".py", ".sql"})
    ingest_files = (Path(str(module.__file__)) for module in (arrow_lines, lines, routes))
    contents = b"".join(file.read_bytes() for file in sorted([*engine_files, *ingest_files]))
    return hashlib.sha256(contents).hexdigest()[:16]


@cache
def product() -> Product:
    """Return the statements that the build wrote."""
    return Product.parse(JUDGE.read_text("utf-8"))


def _after(start: str, text: str) -> str:
    """Return the rest of the line that starts so."""
    return next(line for line in text.splitlines() if line.startswith(start)).removeprefix(start)
