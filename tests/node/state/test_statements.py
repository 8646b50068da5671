"""Statements of SQL are named constants, and each one fits the tables."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import sqlalchemy

import node
import transport.mta
from node.state.tables import metadata as store_tables
from transport.mta.tables import metadata as mta_tables

AGENT = (
    "administration",
    "agent",
    "backfill",
    "broadcasts",
    "mail",
    "objects",
    "replicas",
    "state",
    "status",
    "store",
    "user_mail",
)
"""The folders of `node` whose modules run statements."""

PUT_TOGETHER = {
    "database.py": "it opens and closes transactions, and runs no statement on a table",
    "timers.py": "one parameter for each kind of timer",
    "version_rows.py": "one parameter for each object",
    "application_log_texts.py": "one parameter for each object",
    "queries.py": "the conditions of a reader of the log",
}
"""Modules that put a statement together for a call, and why."""

_STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")
_TEXT = re.compile(r"'[^']*'")


def modules() -> Iterator[ModuleType]:
    names = [f"{node.__name__}.{folder}" for folder in AGENT] + [transport.mta.__name__]
    for name in names:
        package = importlib.import_module(name)
        yield from (importlib.import_module(f"{name}.{each.name}") for each in pkgutil.iter_modules(package.__path__))


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, tuple):
        for each in value:
            yield from texts_in(each)


STATEMENTS = sorted(
    {
        (f"{module.__name__}.{name}", text)
        for module in modules()
        for name, value in vars(module).items()
        if name.isupper()
        for text in texts_in(value)
        if _STATEMENT.match(text) and "{" not in text
    }
)


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    """An empty database with the tables of a store and of its MTA."""
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as conn:
        store_tables.create_all(conn)
        mta_tables.create_all(conn)
        raw = conn.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        yield raw


@pytest.mark.parametrize(("name", "statement"), STATEMENTS, ids=[name for name, _ in STATEMENTS])
def test_each_statement_fits_the_tables(database: sqlite3.Connection, name: str, statement: str) -> None:
    """SQLite prepares each statement: its tables and columns exist, and its syntax is right."""
    parameters = _TEXT.sub("", statement).count("?")
    database.execute(f"EXPLAIN {statement}", (None,) * parameters).fetchall()


def test_statements_were_found() -> None:
    """The search finds the statements of all folders that run some."""
    assert len(STATEMENTS) > 200


def literals(path: Path) -> Iterator[int]:
    """Yield the lines on which a module runs a statement that is not a constant of a module."""
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        runs = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "exec_driver_sql"
        if isinstance(call, ast.Call) and runs and isinstance(call.args[0], ast.Constant | ast.JoinedStr | ast.BinOp):
            yield call.lineno


@pytest.mark.parametrize("folder", AGENT)
def test_no_statement_stands_at_its_call(project_root: Path, folder: str) -> None:
    """A statement is a named constant beside the others of its subject; no call builds one."""
    places = {
        path.name: lines
        for path in sorted((project_root / "node" / folder).glob("*.py"))
        if path.name not in PUT_TOGETHER and (lines := list(literals(path)))
    }
    assert places == {}
