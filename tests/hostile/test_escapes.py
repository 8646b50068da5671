"""No text of a stranger reaches a terminal as more than text, and no trace is more than a wrong file."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator

import pytest

from pflab import oracle_sets as sets
from pflab.cli.output import harmless, terminal_to
from tests.unit.test_smtp_store_verbs import Desk
from traces.errors import SetTextError

CONTROLS = ["\x1b[2J", "\x07", "\x9b1m", "\u202e", "\x00", "\x7f", "\r", "\ud800"]


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    yield desk
    for client in desk.clients:
        await client.close()
    if desk.listener is not None:
        await desk.listener.stop()


@pytest.mark.parametrize("line", [b"MAIL FROM:<\x1b[2J@x.test>\r\n", b"EHLO \x07\r\n", b"MAIL FROM:<a\0@x.test>\r\n"])
async def test_a_command_with_a_control_character_is_none(desk: Desk, line: bytes) -> None:
    """Names and addresses of strangers, which logs and traces repeat, have no control characters in them."""
    client = await desk.client()
    assert (await client.say(line)).startswith("500")


@pytest.mark.parametrize("control", CONTROLS)
def test_what_is_printed_steers_no_terminal(control: str) -> None:
    """Subjects and names are printed without what a terminal would obey."""
    written = io.StringIO()
    terminal_to(written).print(f"makes a{control}b", markup=False)
    told = written.getvalue()
    assert told.startswith("makes a\ufffd")
    assert told.endswith("b\n")
    assert not set(control[:1]) & set(told)


def test_lines_stay_lines() -> None:
    """What is printed over several lines still is."""
    assert harmless("a\n\tb ünï") == "a\n\tb ünï"


@pytest.mark.parametrize("text", ["{ab}:1-x", "{ab}:", "x", "{ab}:1,,2", "{ab}:" + "9" * 5000, "{ab}:5-1"])
def test_a_set_that_is_none_is_told_in_one_line(text: str) -> None:
    """A trace of somebody else may hold anything; whoever reads it is told what is wrong with it."""
    with pytest.raises(SetTextError, match="is no set of change numbers"):
        sets.parse_traced(text)
