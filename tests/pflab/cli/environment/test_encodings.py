"""Output and input in encodings other than UTF-8, as in Latin-1 locales and in the images of some CI systems."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import pflab.cli
from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import play
from topology.file.load import load_topology

FOLDER = "Büro 会議"
SUBJECT = "Grüße — 会議 😀"
TOPOLOGY = f"servers: {{A: , B: }}\nfolders: {{{FOLDER}: }}\n"
POSTED = f"""\
title: Ein Gruß — 会議
topology: t.yaml
rules: [OUT-1]
steps:
  - post: {{on: A, folder: {FOLDER}, subject: {SUBJECT}, as: it}}
  - expect: {{on: B, folder: {FOLDER}, has: it, within: 15 min}}
"""
ENCODINGS = ("cp1252", "ascii", "latin-1", "utf-16")


def printed(monkeypatch: pytest.MonkeyPatch, encoding: str, *args: str) -> bytes:
    """Return what a verb that succeeds writes to a stdout with this encoding, as Python makes it for PYTHONIOENCODING."""
    written = io.BytesIO()
    stdout = io.TextIOWrapper(written, encoding=encoding)
    with monkeypatch.context() as replaced, pytest.raises(SystemExit) as ended:
        replaced.setattr(sys, "stdout", stdout)
        pflab.cli.main(list(args))
    stdout.flush()
    assert ended.value.code == ExitCode.GOOD
    return written.getvalue()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_the_encoding_lacks_is_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], encoding: str
) -> None:
    """Every verb succeeds, prints `?` for characters that the encoding of the output lacks, and JSON that loses none."""
    Path("t.yaml").write_text(TOPOLOGY, "utf-8")
    play(POSTED)
    capsys.readouterr()
    shown = SUBJECT.encode(encoding, "replace").decode(encoding)
    for verb in (["messages"], ["messages", "show", "A-1"], ["trace"], ["explain", "A-1"]):
        told = printed(monkeypatch, encoding, *verb)
        assert shown in told.decode(encoding)
    for verb in (["messages"], ["messages", "show", "A-1"], ["trace"]):
        told = printed(monkeypatch, encoding, *verb, "--json")
        json.loads(told.decode(encoding))
        assert json.dumps(SUBJECT)[1:-1] in told.decode(encoding)
    for verb in (
        ["status"],
        ["instances"],
        ["state"],
        ["backfill"],
        ["log"],
        ["queue"],
        ["mailbox"],
        ["settings"],
        ["directory"],
        ["analyze", "t.yaml"],
        ["validate", "t.yaml", "played.yaml"],
        ["run", "played.yaml", "--simulate"],
    ):
        printed(monkeypatch, encoding, *verb)
    assert capsys.readouterr().err.count("internal error") == 0


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_files_that_are_printed_are_utf_8(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    """The output of a verb that prints a file can be written into a file and given to pflab again, in every locale."""
    Path("t.yaml").write_text(TOPOLOGY, "utf-8")
    play(POSTED)
    Path("seed.yaml").write_bytes(printed(monkeypatch, encoding, "simulate", "t.yaml", "--seeds", "1", "--expand"))
    assert FOLDER in Path("seed.yaml").read_text("utf-8")
    assert run(["validate", "seed.yaml"]) == ExitCode.GOOD
    Path("example.yaml").write_bytes(printed(monkeypatch, encoding, "example", "one-site"))
    load_topology(Path("example.yaml"))
    assert "services:" in printed(monkeypatch, encoding, "compose", "t.yaml").decode("utf-8")
    assert run(["export", FOLDER, "-o", "out.mbox"]) == ExitCode.GOOD
    assert printed(monkeypatch, encoding, "export", FOLDER) == Path("out.mbox").read_bytes()


def test_a_body_that_is_not_text_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A body from stdin in another encoding is refused in one line, before anything is posted."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Grüße".encode("latin-1")), encoding="utf-8"))
    args = ["post", FOLDER, "--server", "A", "--subject", "x", "--body", "-", "--lab", "http://127.0.0.1:1"]
    assert run(args) == ExitCode.UNKNOWN
    assert capsys.readouterr().err == "stdin is not text in utf-8; convert it, or set PYTHONIOENCODING\n"
