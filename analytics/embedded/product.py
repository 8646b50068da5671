"""The statements of all tables and queries, as the build wrote them into `judge.sql`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

JUDGE: Final = Path(__file__).with_name("judge.sql")
FUNCTIONS: Final = Path(__file__).with_name("functions.sql")

RULES: Final = "rules/"
"""The layer of the tables with the results of the checks of one evidence table each."""

GOLD_RULES: Final = "gold/rules"
"""All results of checks: the union of these tables."""

_HEAD: Final = "-- Made by `make sql` from the tables in PySpark. Do not edit.\n"
_SHAPE: Final = "-- shape "
_PART: Final = re.compile(r"^-- (table|query) (\S+)(?: needs (\S+))?\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statement:
    """The SELECT of a table. needs: it is empty unless an event of one of these types occurs; () if it is always computed."""

    name: str
    sql: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Product:
    """shape: the fields of all events, as DuckDB reads them from JSON. tables: in the order in which they are computed."""

    shape: dict[str, object]
    tables: tuple[Statement, ...]
    queries: tuple[Statement, ...]

    def text(self) -> str:
        """Return the content of the file."""
        parts = [_HEAD, f"{_SHAPE}{json.dumps(self.shape)}\n"]
        for kind, statements in (("table", self.tables), ("query", self.queries)):
            for each in statements:
                needs = f" needs {','.join(each.needs)}" if each.needs else ""
                parts.append(f"\n-- {kind} {each.name}{needs}\n{each.sql};\n")
        return "".join(parts)

    @classmethod
    def parse(cls, text: str) -> Product:
        """Return the product in the content of a file."""
        shape = next(line for line in text.splitlines() if line.startswith(_SHAPE)).removeprefix(_SHAPE)
        _, *parts = _PART.split(text)
        groups = list(zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=True))
        return cls(json.loads(shape), tuple(_of("table", groups)), tuple(_of("query", groups)))


@cache
def product() -> Product:
    """Return what the build wrote."""
    return Product.parse(JUDGE.read_text("utf-8"))


def _of(kind: str, groups: Iterable[tuple[str, str, str | None, str]]) -> Iterable[Statement]:
    for of, name, needs, sql in groups:
        if of == kind:
            yield Statement(name, sql.strip().removesuffix(";"), tuple(needs.split(",")) if needs else ())
