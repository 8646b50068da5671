"""An outsider's text cannot control a terminal, and a forged trace is only a wrong file."""

from __future__ import annotations

import io
import json
import sys

import pytest

from pflab.cli.output import _Terminal, json_text, print_mail
from pflab.terms import number_sets as sets
from pflab.terms.printable import printable
from tests.support.smtp_peers import ListenerHarness
from traces.errors import SetTextError

CONTROLS = ["\x1b[2J", "\x07", "\x9b1m", "\u202e", "\x00", "\x7f", "\r", "\ud800", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("line", [b"MAIL FROM:<\x1b[2J@x.test>\r\n", b"EHLO \x07\r\n", b"MAIL FROM:<a\0@x.test>\r\n"])
async def test_a_command_with_a_control_character_is_refused(harness: ListenerHarness, line: bytes) -> None:
    """Outsiders' names and addresses, which logs and traces repeat, cannot contain control characters."""
    client = await harness.client()
    assert (await client.say(line)).startswith("500")


@pytest.mark.parametrize("control", CONTROLS)
def test_printed_text_has_no_terminal_controls(control: str) -> None:
    """Subjects and names are printed without characters that control a terminal."""
    written = io.StringIO()
    _Terminal(file=written, highlight=False, soft_wrap=True).print(f"makes a{control}b", markup=False)
    told = written.getvalue()
    assert told.startswith("makes a\ufffd")
    assert told.endswith("b\n")
    assert not set(control[:1]) & set(told)


@pytest.mark.parametrize("control", [*CONTROLS, "\n", "\u2066"])
def test_printed_json_has_no_terminal_controls(control: str) -> None:
    """--json also holds outsiders' texts: characters that control a terminal are escaped, including C1 and changes of
    direction."""
    told = json_text([{f"a{control}": f"b{control}ü"}])
    assert not set(control[:1]) & set(told)
    assert told.isprintable()
    assert "ü" in told
    assert json.loads(told) == [{f"a{control}": f"b{control}ü"}]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_mail_is_bytes_for_a_file_and_text_for_a_person(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    """export and mailbox show write the mail byte for byte to a file, and without control characters to a terminal."""
    mail = b"Subject: \x1b[2J\r\n\r\n\xc2\x9b1m \xff g\xc3\xbct\r\n"
    written = io.BytesIO()
    stdout = io.TextIOWrapper(written, encoding="utf-8", newline="")
    monkeypatch.setattr(stdout, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stdout", stdout)
    print_mail(mail)
    stdout.flush()
    if is_terminal:
        assert written.getvalue().decode() == "Subject: \ufffd[2J\n\n\ufffd1m \ufffd güt\n"
    else:
        assert written.getvalue() == mail


def test_lines_stay_lines() -> None:
    """Text of several lines is still printed as several lines."""
    assert printable("a\n\tb ünï") == "a\n\tb ünï"


@pytest.mark.parametrize("text", ["{ab}:1-x", "{ab}:", "x", "{ab}:1,,2", "{ab}:" + "9" * 5000, "{ab}:5-1"])
def test_an_invalid_set_in_a_trace_is_one_line(text: str) -> None:
    """A trace from elsewhere may contain anything; commands that read it say in one line what is wrong."""
    with pytest.raises(SetTextError, match="is not a set of change numbers"):
        sets.parse_traced(text)
