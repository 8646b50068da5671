"""A run folder whose traces or databases were changed or damaged is a wrong file: verbs that read it end with a result or a
line that says so, and never with an internal error.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import LOST_MAIL, play

SEEDS: Final = [*range(30), 44, 72, 100, 153, 294, 326, 414, 680, 713]
"""The seeds after 30 once found an internal error."""

LINES: Final = 8
"""How many lines of one segment are changed."""

DEEP: Final = b'{"a":' * 5000
VALUES: Final[list[Any]] = [
    *(None, True, -1, 1.5, 2**63, 2**70, 10**400, float("nan"), float("inf"), "", "x", "\ud800", "A", "1-1"),
    *("{ab}:", "{ab}:1", "{ab}:x", "{ab}:-1", "{ab}:5-1", "{ab}:" + "9" * 5000, [], {}, [1, {}], {"a": 1}),
]
VERBS: Final = [
    *(["trace"], ["explain", "A-1", "--run"], ["diff", "original"], ["state"], ["backfill"], ["log"], ["mailbox"]),
]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which a mail is lost and comes back."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return play(LOST_MAIL)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_changed_run_is_no_internal_error(
    original: Path, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever was done to the files of a run, a verb prints what it can read, or says what is wrong."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(original, "changed")
    Path("original").symlink_to(original)
    draw = random.Random(seed)
    changed = draw.choice(sorted(Path("changed/traces").iterdir()) + sorted(Path("changed").rglob("*.*")))
    changed.write_bytes(_changed(changed, draw))
    for verb in draw.sample(VERBS, 3):
        code = run([*verb, "changed"])
        assert code != ExitCode.INTERNAL, (verb, changed, capsys.readouterr().err)


def test_a_topology_without_a_server_is_a_mistake(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If somebody removes a server from the topology of a run, the line says which server."""
    shutil.copytree(original, tmp_path / "changed")
    topology = tmp_path / "changed/topology.yaml"
    topology.write_text(re.sub(r"\bC\b", "Q", topology.read_text("utf-8")), "utf-8")
    assert run(["log", "--run", str(tmp_path / "changed")]) == ExitCode.UNKNOWN
    assert "the database has the server 'C', but the topology does not" in capsys.readouterr().err


def _changed(path: Path, draw: random.Random) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".jsonl" and draw.random() < 0.8:
        lines = content.split(b"\n")
        for _ in range(LINES):
            at = draw.randrange(len(lines) - 1)
            lines[at] = DEEP if draw.random() < 0.05 else _changed_line(lines[at], draw)
        return b"\n".join(lines)
    if draw.random() < 0.3:
        return content[: draw.randrange(len(content))]
    damaged = bytearray(content)
    for _ in range(10):
        damaged[draw.randrange(len(damaged))] = draw.randrange(256)
    return bytes(damaged)


def _changed_line(line: bytes, draw: random.Random) -> bytes:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return line
    name = draw.choice(list(fields))
    if draw.random() < 0.2:
        del fields[name]
    else:
        fields[name] = draw.choice(VALUES)
    return json.dumps(fields).encode()
