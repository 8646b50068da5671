"""Hand-written pages say how things are, and keep long texts out of tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NOT_HERE = ("CHANGELOG.md", "docs/reference/events/", "docs/reference/rules/")
"""The history, and pages that are made from other files."""
PAGES = sorted(
    page
    for paths in (ROOT.glob("*.md"), *((ROOT / folder).rglob("*.md") for folder in ("docs", "examples")))
    for page in (path.relative_to(ROOT).as_posix() for path in paths)
    if not page.startswith(NOT_HERE)
)
MOST_WORDS = 25
"""A table compares short values; more words than this are prose."""
DIARY = re.compile(
    r"\b(?:the version before|earlier (?:version of the|measurement)|an hour in all|(?:has been|was|were) tried|mended|testers"
    r"|at first (?:it|they) (?:was|were|found|had)|since then|until (?:now|recently))\b",
    re.IGNORECASE,
)
"""Phrases that tell the history of the project, which belongs to CHANGELOG.md."""


DIVIDED = [ROOT / "docs" / "reference" / subject for subject in ("events", "rules", "sources")]
"""The folders whose pages are parts of one long reference."""
MOST_WORDS_OF_A_PAGE = 2500


def text_of(page: str) -> str:
    """Return a page without its fenced blocks of code."""
    return re.sub(r"^```.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_a_table_cell_is_short(page: str) -> None:
    """No cell of a table has more than 25 words."""
    rows = re.findall(r"^\|(.*)\|$", text_of(page), re.MULTILINE)
    cells = [cell.strip() for row in rows for cell in re.split(r"(?<!\\)\|", row)]
    assert [cell for cell in cells if len(cell.split()) > MOST_WORDS] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_no_diary(page: str) -> None:
    """A page describes the present program; what changed belongs to the changelog."""
    assert DIARY.findall(" ".join(text_of(page).split())) == []


@pytest.mark.parametrize("folder", DIVIDED, ids=lambda folder: folder.name)
def test_a_divided_reference_has_pages_of_readable_length(folder: Path) -> None:
    """Each part has at most 2,500 words, and the first page leads to each of the others."""
    pages = {path.name: path.read_text("utf-8") for path in folder.glob("*.md")}
    assert {name: len(text.split()) for name, text in pages.items() if len(text.split()) > MOST_WORDS_OF_A_PAGE} == {}
    assert {*re.findall(r"\]\((\w+\.md)\)", pages["index.md"])} == pages.keys() - {"index.md"}
