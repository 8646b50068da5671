"""The options of `python -m bench`, and its medians, spreads and ratios. No benchmark runs here."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from bench.__main__ import Job, installed, jobs_of, names, parsed, print_table, ratios_of
from bench.peers import inn
from bench.summary import Outcome, median, ratios, shown, shown_spread, spread

if TYPE_CHECKING:
    from collections.abc import Sequence


def test_without_options_each_benchmark_runs_once() -> None:
    """The default is one run with a durability that depends on the peers, and without peers."""
    options = parsed([])
    assert (options.names, options.runs, options.durability, options.beside) == ([], 1, None, [])
    assert parsed(["--beside", "inn, postfix", "processes"]).beside == ["inn", "postfix"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nothing"], "no benchmark is named nothing; there are: ceilings"),
        (["--beside", "inn,sendmail"], "no peer is named sendmail; there are: inn, postfix"),
        (["--runs", "0"], "--runs 0: write at least 1"),
        (["--durability", "some"], "--durability: invalid choice"),
    ],
)
def test_a_wrong_option_is_refused(arguments: Sequence[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong option ends the command with status 2 and the reason."""
    with pytest.raises(SystemExit) as ended:
        parsed(arguments)
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


def test_a_peer_runs_beside_the_benchmark_with_its_durability() -> None:
    """The benchmark `processes` runs once more with the durability of the peer, unless a durability was stated."""
    assert jobs_of(["cnset"], ["postfix"], None) == [
        Job("bench_cnset"),
        Job("bench_processes", "full"),
        Job("peers.postfix", "full"),
    ]
    assert jobs_of(["processes"], ["inn", "postfix"], "normal") == [
        Job("bench_processes"),
        Job("peers.inn"),
        Job("peers.postfix"),
    ]


def test_a_peer_has_a_benchmark_to_be_compared_with() -> None:
    """Peers are no benchmarks, and the benchmark that they are compared with exists."""
    assert names("peers.") == ["inn", "postfix"]
    assert "processes" in names() and not set(names()) & set(names("peers."))


def test_a_peer_that_is_not_installed_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says why, and the other benchmarks run."""
    monkeypatch.setattr(inn, "BIN", Path("/nonexistent"))
    assert installed(["inn"]) == []
    assert capsys.readouterr().err == "inn is left out: innd not installed (Debian's package inn2)\n"


def test_the_middle_of_several_runs_is_their_median() -> None:
    """The median and the spread are those of the numbers; a text has no spread."""
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert median([1.0, 2.0]) == 1.5
    assert median(["a", "b"]) == "b"
    assert spread([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert spread([3.0]) is None and spread(["a", "b"]) is None
    assert (shown(12_345.6), shown(1.2345), shown_spread([1, 2000]), shown_spread([1])) == (
        "12,346",
        "1.23",
        "1 .. 2,000",
        "",
    )


def test_ratios_compare_the_values_of_the_same_run() -> None:
    """Each run has its own ratio, because the machine's load is the same for both only within a run."""
    assert ratios([10.0, 30.0], [5.0, 10.0]) == [2.0, 3.0]


def _outcomes(changes: Sequence[float], mails: Sequence[float]) -> dict[Job, Outcome]:
    pflab, postfix = Outcome("processes"), Outcome("postfix")
    for number in changes:
        pflab.add({"8 users: changes/s visible": number})
    for number in mails:
        postfix.add({"mails/s delivered, 8 in flight": number})
    return {Job("bench_processes", "full"): pflab, Job("peers.postfix", "full"): postfix}


def test_the_ratio_to_a_peer_is_printed_with_its_spread() -> None:
    """The table ends with the ratio, pflab first, and names both figures and the durability."""
    outcomes = _outcomes([100.0, 150.0, 300.0], [200.0, 300.0, 200.0])
    (found,) = ratios_of(outcomes)
    assert (found.peer, found.durability, found.values) == ("postfix", "full", [0.5, 0.5, 1.5])
    console = Console(file=io.StringIO(), width=200)
    print_table(list(outcomes.values()), [found], 3, console)
    assert isinstance(console.file, io.StringIO)
    line = next(line for line in console.file.getvalue().splitlines() if "pflab : postfix" in line)
    assert "0.5" in line and "0.5 .. 1.5" in line and "durability: full" in line


def test_a_failed_peer_has_no_ratio() -> None:
    """If either side failed in one run, their runs cannot be compared."""
    outcomes = _outcomes([100.0, 150.0], [200.0])
    outcomes[Job("peers.postfix", "full")].failure = "CalledProcessError"
    assert ratios_of(outcomes) == []
