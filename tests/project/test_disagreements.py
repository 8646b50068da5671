"""docs/reference/disagreements.md names only scenarios that exist."""

from __future__ import annotations

import re
from pathlib import Path


def test_every_scenario_on_the_page_exists(project_root: Path) -> None:
    """Each case of docs/reference/disagreements.md names the scenarios that show it."""
    page = (project_root / "docs" / "reference" / "disagreements.md").read_text("utf-8")
    cases = re.split(r"^### \d+\. ", page, flags=re.MULTILINE)[1:]
    known = {path.stem for path in (project_root / "scenarios").glob("*.yaml")}
    assert len(cases) > 15
    for case in cases:
        named = set(re.findall(r"`([\w-]+)`", case.partition("*Shown by:*")[2]))
        assert named and named <= known, case
