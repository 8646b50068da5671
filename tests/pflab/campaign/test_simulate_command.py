"""`pflab simulate`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pflab.campaign.draw.scenario import draw_scenario
from pflab.campaign.monitor import CampaignMonitor
from pflab.campaign.reductions import work_of
from pflab.campaign.scenario_document import verb_of
from pflab.cli.app import run
from pflab.invariants.invariant import Invariant, Witnesses
from pflab.invariants.registry import INVARIANTS
from pflab.terms.event_handlers import event_handler
from pflab.terms.verdict import ExitCode
from tests.support.campaign_scenarios import document_of
from traces.events import TombstoneMade


class NoDeletion(Invariant):
    id = "planted"
    rules = ("DL-1",)
    says = "Nothing is ever deleted."

    @event_handler
    def _made(self, event: TombstoneMade) -> Witnesses:
        yield f"{event.node} deleted something"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in a folder of their own, as a user does."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every lab of this process one more invariant, which does not hold."""
    init = CampaignMonitor.__init__

    def with_planted(self: CampaignMonitor, lab: object, _invariants: Sequence[type[Invariant]] = ()) -> None:
        init(self, lab, (*INVARIANTS, NoDeletion))  # type: ignore[arg-type]

    monkeypatch.setattr(CampaignMonitor, "__init__", with_planted)


def test_seeds_that_converge(capsys: pytest.CaptureFixture[str]) -> None:
    """Good seeds are counted with exit code 0; the output names the seeds, so that they can be played again."""
    assert run(["simulate", "--seeds", "1..2", "--days", "1", "--jobs", "1"]) == ExitCode.GOOD
    captured = capsys.readouterr()
    assert captured.out == "2 of 2 seeds converged and kept every acknowledged change\n"
    assert captured.err == "seeds 1..2\n"


def test_fresh_seeds_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --seeds the command draws new seeds and prints them."""
    assert run(["simulate", "--count", "1", "--days", "1", "--faults", "none", "--jobs", "1"]) == ExitCode.GOOD
    printed = capsys.readouterr().err.split()
    assert printed[0] == "seeds"
    assert printed[1].isdigit()


def test_a_seed_is_expanded_to_its_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    """--expand prints the scenario of a seed, as YAML or as JSON, without playing it."""
    assert run(["simulate", "--seeds", "17..17", "--expand"]) == ExitCode.GOOD
    printed = document_of(capsys.readouterr().out)
    assert {key: printed[key] for key in draw_scenario(17)} == draw_scenario(17)
    assert run(["simulate", "--seeds", "17..18", "--expand", "--json", "--days", "1"]) == ExitCode.GOOD
    assert json.loads(capsys.readouterr().out) == [draw_scenario(17, days=1), draw_scenario(18, days=1)]


@pytest.mark.usefixtures("planted")
def test_a_failing_seed_is_reported_and_shrunk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A violation is printed with its witness, exit code 1; --shrink writes a small scenario that begins with the witness."""
    seed = next(seed for seed in range(1, 30) if deletes(draw_scenario(seed, days=1)))
    assert run(["simulate", "--seeds", str(seed), "--days", "1", "--jobs", "1", "--shrink"]) == ExitCode.VIOLATION
    out = capsys.readouterr().out
    assert "planted (DL-1) at 2003-10-2" in out
    (path,) = (tmp_path / "runs" / "simulate").glob("*/shrunk-*.yaml")
    assert str(path.relative_to(tmp_path)) in out
    text = path.read_text("utf-8")
    assert len(work_of(document_of(text))) == 2
    assert text.splitlines()[0].endswith("deleted something")
    assert run(["validate", str(path)]) == ExitCode.GOOD


def deletes(scenario: dict[str, object]) -> bool:
    return any(verb_of(step) == "delete" for step in work_of(scenario))


@pytest.mark.usefixtures("planted")
def test_a_seed_file(capsys: pytest.CaptureFixture[str]) -> None:
    """--seed-file plays the seeds of a file, and each that fails is printed."""
    deleting = [seed for seed in range(1, 30) if deletes(draw_scenario(seed))]
    Path("seeds.txt").write_text(f"# once failed\n{deleting[0]}\n", "utf-8")
    run(["simulate", "--seed-file", "seeds.txt", "--jobs", "1"])
    captured = capsys.readouterr()
    assert captured.err == f"seeds {deleting[0]}\n"
    assert f"seed {deleting[0]}: not converged" in captured.out
    assert f"pflab simulate --seeds {deleting[0]}" in captured.out


@pytest.mark.usefixtures("planted")
def test_the_command_that_repeats_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    """The command printed for a failing seed has every option that its scenario depends on."""
    seed = next(seed for seed in range(1, 40) if deletes(draw_scenario(seed, days=2, faults=("lose", "kill"))))
    run(["simulate", "--seeds", str(seed), "--days", "2", "--faults", "lose,kill", "--jobs", "1"])
    out = " ".join(capsys.readouterr().out.split())
    assert f"pflab simulate --seeds {seed} --days 2 --faults lose,kill;" in out


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--seed-file", "none.txt"], "none.txt: no such file or directory; name a file that can be read"),
        (["--seed-file", "empty.txt"], "empty.txt: no seeds; write a seed, or a range such as 1..20, on each line"),
        (
            ["--seed-file", "bad.txt"],
            "bad.txt:2: --seeds many: not a range of seeds; write for example 1..200, the smaller first",
        ),
        (["--seeds", "1", "--faults", "frob"], "--faults frob: unknown fault frob; write all, none, or some of "),
        (["--seeds", "1", "--jobs", "-1"], "Invalid value for '--jobs'"),
    ],
)
def test_misuse_is_one_line(args: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake gives one line that says what would be right, and exit code 2."""
    Path("empty.txt").write_text("# none\n", "utf-8")
    Path("bad.txt").write_text("3\nmany\n", "utf-8")
    assert run(["simulate", *args]) == ExitCode.UNKNOWN
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line
