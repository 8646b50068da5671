"""The examples of the pages work: complete files pass, and a failure that a page shows is the one that pflab reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from tests.support.played_page import Played, blocks

DOCS = Path(__file__).parents[3] / "docs"


def examples(page: str, kind: str) -> list[str]:
    return [text for each, _, text in blocks((DOCS / page).read_text("utf-8")) if each == kind]


def test_the_scenario_of_the_page_passes(tmp_path: Path) -> None:
    """The example in docs/reference/scenarios.md passes in the simulator."""
    (example,) = examples("reference/scenarios.md", "yaml")
    (tmp_path / "example.yaml").write_text(example, "utf-8")
    assert run(["run", str(tmp_path / "example.yaml"), "--simulate"]) == ExitCode.GOOD


def test_the_failure_of_the_page_is_what_pflab_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The example in docs/reference/scenarios.md fails as the page shows, if B must have the message at once."""
    (example,) = examples("reference/scenarios.md", "yaml")
    head = example.partition("  - until")[0]
    early = f"{head}  - expect: {{on: B, folder: Projects, has: hello, within: 15 min}}\n"
    (tmp_path / "example.yaml").write_text(early, "utf-8")
    assert run(["run", str(tmp_path / "example.yaml"), "--simulate"]) == ExitCode.VIOLATION
    printed = capsys.readouterr().out
    (shown,) = [text for text in examples("reference/scenarios.md", "") if "failed:" in text]
    assert Played("pflab run", shown, printed).as_shown, printed


def test_the_scenario_of_the_page_of_campaigns_holds(tmp_path: Path) -> None:
    """The example in docs/how-to/campaigns.md is a scenario, and no invariant fails when it is played."""
    (example,) = examples("how-to/campaigns.md", "yaml")
    (tmp_path / "seed.yaml").write_text(example, "utf-8")
    assert run(["run", str(tmp_path / "seed.yaml"), "--simulate"]) == ExitCode.GOOD
