"""The ledger of an endless campaign: what it keeps, and what a kill leaves of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pflab.campaign.ledger import Ledger, LedgerError
from pflab.campaign.seed import SeedResult
from pflab.campaign.seeds import CampaignResult
from pflab.cli.app import run
from pflab.terms.verdict import ExitCode, Judgement
from tests.support.samples import sampled


def block(first: int, count: int, *bad: int, differing: tuple[int, ...] = ()) -> CampaignResult:
    """Return the result of a block of seeds, of which those in `bad` did not converge."""
    judged = {True: Judgement.NOT_CONVERGED, False: Judgement.CONVERGED}
    results = (SeedResult(seed, judged[seed in bad]) for seed in range(first, first + count))
    return CampaignResult(tuple(results), differing=differing)


def test_a_ledger_goes_on_where_it_ended(tmp_path: Path) -> None:
    """Each block counts, and a new process reads the totals and the last seed."""
    path = tmp_path / "kept" / "ledger.jsonl"
    with Ledger.opened(path) as ledger:
        ledger.append(7, block(7, 100, 9), 1.0)
        ledger.append(107, block(107, 3, differing=(108,)), 1.0)
        ledger.append(110, block(110, 0), 1.0)
    with Ledger.opened(path) as ledger:
        totals = ledger.totals
    assert (totals.seeds, totals.last_seed, totals.findings, totals.found) == (103, 109, 2, [9, 108])
    assert len(totals.codes) == 1


def test_a_kill_loses_at_most_the_block_that_was_being_written(tmp_path: Path) -> None:
    """Wherever the file ends, whole blocks count, and a finding counts only with its block; the next block can be appended."""
    path = tmp_path / "ledger.jsonl"
    with Ledger.opened(path) as ledger:
        ledger.append(1, block(1, 2), 1.0)
        first = path.stat().st_size
        ledger.append(3, block(3, 2, 3, 4), 1.0)
    whole = path.read_bytes()
    for size in range(first, len(whole)):
        path.write_bytes(whole[:size])
        with Ledger.opened(path) as ledger:
            assert (ledger.totals.seeds, ledger.totals.last_seed, ledger.totals.findings) == (2, 2, 0)
            assert path.stat().st_size == first
    with Ledger.opened(path) as ledger:
        ledger.append(3, block(3, 2, 3, 4), 1.0)
        assert (ledger.totals.seeds, ledger.totals.findings) == (4, 2)


def test_two_processes_cannot_append_to_one_ledger(tmp_path: Path) -> None:
    """A ledger that is open is refused in one line."""
    path = tmp_path / "ledger.jsonl"
    with Ledger.opened(path), pytest.raises(LedgerError, match="another process appends"), Ledger.opened(path):
        pass


@pytest.mark.parametrize("content", ["hello", "hello\n", '{"a": 1}', '{"seeds": 1}\n', '{"finding": {}}\n', "[]\n"])
def test_another_file_is_refused_and_unchanged(tmp_path: Path, content: str) -> None:
    """A file that is no ledger is not cut."""
    path = tmp_path / "mine.json"
    path.write_text(content, "utf-8")
    with pytest.raises(LedgerError, match=r"mine\.json:1: not a line of a ledger"), Ledger.opened(path):
        pass
    assert path.read_text("utf-8") == content


def test_the_command_plays_the_seeds_that_come_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--ledger with --count plays new seeds once, and continues after them the next time."""
    monkeypatch.chdir(tmp_path)
    again = [
        "simulate",
        "--ledger",
        "l.jsonl",
        "--count",
        "2",
        "--days",
        "1",
        "--faults",
        "none",
        "--verify-share",
        "0",
    ]
    for _ in range(2):
        assert run([*again, "--jobs", "1"]) == ExitCode.GOOD
    lines = [json.loads(line) for line in Path("l.jsonl").read_text("utf-8").splitlines()]
    (first, _), (third, _) = (line["seeds"] for line in lines)
    assert third == first + 2
    assert (lines[0]["days"], lines[0]["faults"]) == (1, [])
    assert "4 seeds played by 1 version of the code, no finding" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--forever --seeds 1..2", "leave out --seeds"),
        ("--forever --count 3", "leave out --count"),
        ("--ledger l.jsonl --traces kept --shrink", "leave out --shrink and --traces"),
    ],
)
def test_what_does_not_go_together(options: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A ledger decides which seeds are played, and keeps no traces."""
    assert run(["simulate", *options.split()]) == ExitCode.UNKNOWN
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("number", sampled([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], 3))
def test_a_campaign_without_an_end_keeps_what_it_played(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C, SIGTERM or SIGHUP ends the campaign with exit code 0; the seeds that were played are in the ledger."""
    begin = "from pflab.cli import main; main()"
    command = ["-P", "-c", begin, "simulate", "--forever", "--ledger", "l.jsonl", "--days", "1", "--jobs", "1"]
    with subprocess.Popen([sys.executable, *command], cwd=tmp_path, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(number)
        assert process.wait(60) == 0
    with Ledger.opened(tmp_path / "l.jsonl") as ledger:
        assert ledger.totals.findings == 0
