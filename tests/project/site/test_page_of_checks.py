"""The page that explains how a check is made shows what is in the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explanation" / "checks.md").read_text("utf-8")


def block(language: str, nth: int) -> str:
    """Return a block of code of the page."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[nth]


@pytest.mark.parametrize(
    ("code", "file"),
    [
        (block("python", 0), "analytics/evidence/changes.py"),
        (block("python", 1), "analytics/rules/change_numbers.py"),
        (block("sql", 0), "analytics/embedded/judge.sql"),
    ],
)
def test_the_page_shows_the_code_as_it_is(code: str, file: str) -> None:
    """Each block of code on the page is in the file that the page names, in lines of any length."""
    assert "".join(code.split()) in "".join((ROOT / file).read_text("utf-8").split())
