"""Each field of each event is declared in one table, which docs/reference/events/ shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from analytics.evidence.agreement.facts import DERIVED, LISTS, STATEMENTS
from analytics.evidence.agreement.fields import FIELDS, HEADER, Worth
from analytics.evidence.agreement.lifecycles import AUTOMATA, BEGIN, END
from traces.events import EVENT_TYPES, Event


def test_each_field_is_declared() -> None:
    """The table names each event type and each field of its own, and no other."""
    header = {field.name for field in msgspec.structs.fields(Event)}
    assert HEADER.keys() == header
    assert FIELDS.keys() == EVENT_TYPES.keys()
    for tag, event in EVENT_TYPES.items():
        own = {field.name for field in msgspec.structs.fields(event)} - header
        assert FIELDS[tag].keys() - {"mail"} == own, tag


def test_each_statement_is_about_fields_of_its_event() -> None:
    """A statement names an event type, and its plain parts are fields of that event."""
    for statement in STATEMENTS:
        fields = {field.name for field in msgspec.structs.fields(EVENT_TYPES[statement.event])}
        items = LISTS[statement.items][0] if statement.items else ()
        parts = {*statement.key.split(), *statement.says.split()} - {"-", *DERIVED, *items}
        assert parts <= fields, statement


def test_a_field_that_a_statement_compares_is_no_information_only() -> None:
    """What an event states in common with another is not declared as informational."""
    for each in STATEMENTS:
        for name in {*each.key.split(), *each.says.split()} & FIELDS[each.event].keys():
            assert FIELDS[each.event][name][0] is not Worth.INFORMATIONAL, (each.event, name)


def test_each_state_is_reached_and_is_an_event() -> None:
    """Each state of an automaton is an event with a detail, follows some other state, and says what may follow it."""
    for name, automaton in AUTOMATA.items():
        reached = {state for states in automaton.follow.values() for state in states} - {END}
        assert reached == automaton.follow.keys() - {BEGIN}, name
        assert {state.partition(" ")[0] for state in reached} <= EVENT_TYPES.keys(), name


@pytest.mark.parametrize("generator", ["events_page.py", "event_types.py"])
def test_what_is_written_from_the_events_is_up_to_date(project_root: Path, generator: str) -> None:
    """docs/reference/events/ and console/state/events.d.ts are what their generators write."""
    done = subprocess.run(
        [sys.executable, str(project_root / "docs" / generator), "--check"],
        cwd=project_root, env={"PYTHONPATH": str(project_root)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
