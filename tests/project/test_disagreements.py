"""docs/reference/disagreements.md names only scenarios that exist."""

from __future__ import annotations

from pathlib import Path


def test_every_scenario_on_the_page_exists(project_root: Path) -> None:
    """The last column of docs/reference/disagreements.md has names of scenarios, or a dash."""
    page = (project_root / "docs" / "reference" / "disagreements.md").read_text("utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| ") and line[2].isdigit()]
    known = {path.stem for path in (project_root / "scenarios").glob("*.yaml")}
    assert len(rows) > 15
    for row in rows:
        named = [each.strip() for each in row[-2].split(",")]
        assert named == ["-"] or set(named) <= known, row[1]
