"""The hooks of MkDocs: pages that are made when the site is built, and links that leave docs/.

ARCHITECTURE.md, CHANGELOG.md and CONTRIBUTING.md stay at the top of the tree, where readers of a repository look for them; the
site has them as pages. If the site has the lab, a link to the file of a lesson begins the lesson there. A link to any other
file of the tree becomes the name of that file, because the site has no copy of it. Pages have replays of lessons (`replays`).
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pages import GENERATED
from replays import LAB, files_of_replays, with_frames

from pflab.scenario.load import files_of_course

ROOT: Final = Path(__file__).resolve().parents[2]

OUTSIDE: Final = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "explanation/architecture.md",
    "CONTRIBUTING.md": "explanation/contributing.md",
    "CHANGELOG.md": "reference/changelog.md",
}
"""The pages of the site that stand for files at the top of the tree."""

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)")
_ROW = re.compile(r"^\|.*$", re.MULTILINE)
_CODE = re.compile(r"`[^`]+`")
_NAMED = re.compile(r"^(\[[^\]]+\]: )(?!https?:|#)([^\s#]+)(#\S*)?$", re.MULTILINE)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that no file in docs/ has."""
    for name, uri in OUTSIDE.items():
        if files.get_file_from_path(uri) is None:
            files.append(File.generated(config, uri, content=(ROOT / name).read_text("utf-8")))
    for uri, render in GENERATED.items():
        files.append(File.generated(config, uri, content=render()))
    for uri, content in files_of_replays():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let each link lead to a page of the site."""
    at = page.file.src_uri
    source = next((name for name, uri in OUTSIDE.items() if uri == at and at != "index.md"), f"docs/{at}")
    lessons = {f"scenarios/{file.name}": file.stem for file in files_of_course()} if config.extra["lab"] else {}
    known = {each.src_uri for each in files}

    def target(path: str) -> str | None:
        """Return the path from this page to the page or picture of a link, or None if the site does not have it."""
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        uri = OUTSIDE.get(found, found.removeprefix("docs/"))
        return posixpath.relpath(uri, posixpath.dirname(at) or ".") if uri in known else None

    def link(match: re.Match[str]) -> str:
        text, path, anchor = match.groups("")
        if lesson := lessons.get(posixpath.normpath(posixpath.join(posixpath.dirname(source), path))):
            lab = posixpath.relpath(LAB, posixpath.dirname(at) or ".")
            return f'<a href="{lab}/?lesson={lesson}">{text}</a>'
        to = target(path)
        return f"[{text}]({to}{anchor})" if to else text if text.startswith("`") else f"`{text}`"

    def named(match: re.Match[str]) -> str:
        start, path, anchor = match.groups("")
        return f"{start}{target(path) or path}{anchor}"

    def cell(match: re.Match[str]) -> str:
        return match[0].replace("\\|", "|")  # GitHub needs the backslash, MkDocs shows it

    markdown = with_frames(markdown, at, lab=config.extra["lab"])
    markdown = _ROW.sub(lambda row: _CODE.sub(cell, row[0]), markdown)
    pieces = _FENCED.split(markdown)
    blocks = [*_FENCED.findall(markdown), ""]
    return "".join(
        _NAMED.sub(named, _LINK.sub(link, piece)) + block for piece, block in zip(pieces, blocks, strict=True)
    )
