"""A finished run as one HTML file: the console with all its modules and styles, and the run with its contents inside.

The file works from a disk, without a server and without a network. A page from a disk cannot load modules from other files. So
each module is in an import map under its own name, as a data: URL, and its relative imports are rewritten to these names.
The run itself is compressed JSON in base 64, which no text of a run can end early. The policy of the page allows only scripts
that are inside the file, and nothing from a network. Any page may show the file in a frame.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any, Final

import msgspec

from node.seeded_ids import setup_guid
from pflab.replay.console_events import lexicon_of, with_words
from pflab.replay.console_files import RELATIVE_IMPORT, START, read_text, resolved, script_paths, style_paths
from pflab.replay.contents import Contents
from topology.problems import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topology.model import Topology
    from traces.events import Event

NAME: Final = "pflab:/"
"""How the name of a module begins in the import map."""


NOTES: Final = "notes"
"""The key of what only the presenter of a lesson sees, in each of its texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What the file of a replay shows.

    title: names the run.
    topology: its organization.
    events: all of its events, each after its causes.
    contents: its posts and mails.
    lesson: the lesson that was played, as the API gives it (`pflab.lessons.played_lesson`).
    description: what the run shows, in a sentence, for previews.
    address: where the file will be on the web; '' if that is not known.
    """

    title: str
    topology: Topology
    events: Sequence[Event]
    contents: Contents = field(default_factory=Contents)
    lesson: Mapping[str, Any] | None = None
    description: str = ""
    address: str = ""


def replay_file(replay: Replay) -> str:
    """Return the HTML of a file that shows a run."""
    imports = {f"{NAME}{path}": _data_url(_with_absolute_imports(path)) for path in script_paths()}
    import_map = json.dumps({"imports": imports})
    start = f'import "{NAME}{START}";'
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_allowed(import_map)} {_allowed(start)} data:",
            "style-src 'unsafe-inline'",
            "img-src data:",
        ]
    )
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(replay.title)}</title>",
            *_preview(replay),
            *(f"<style>{read_text(path)}</style>" for path in style_paths()),
            '</head><body><div id="console"><p class="loading">Loading the run …</p></div>',
            f'<script type="application/octet-stream" id="run">{_packed(replay)}</script>',
            f'<script type="importmap">{import_map}</script>',
            f'<script type="module">{start}</script>',
            "</body></html>\n",
        ]
    )


def _allowed(script: str) -> str:
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


def _data_url(script: str) -> str:
    return f"data:text/javascript;base64,{b64encode(script.encode()).decode()}"


def _with_absolute_imports(path: str) -> str:
    return RELATIVE_IMPORT.sub(lambda found: f"{found[1]}{NAME}{resolved(path, found[2])}{found[3]}", read_text(path))


def _preview(replay: Replay) -> list[str]:
    """Return what programs read that show a preview of a link. A picture must have an address of its own (Open Graph)."""
    properties = {
        "og:type": "website",
        "og:title": replay.title,
        "og:description": replay.description or _summary(replay),
    }
    if replay.address:
        properties |= {
            "og:url": replay.address,
            "og:image": picture_beside(replay.address),
            "twitter:card": "summary_large_image",
        }
    return [
        f'<link rel="icon" href="data:image/svg+xml;base64,{b64encode(read_text("icon.svg").encode()).decode()}">',
        f'<meta name="description" content="{escape(properties["og:description"])}">',
        *(f'<meta property="{name}" content="{escape(text)}">' for name, text in properties.items()),
    ]


def picture_beside(file: str) -> str:
    """Return the name or the address of the picture for previews that is beside the file of a replay."""
    return f"{file.removesuffix('.html')}.png"


def _summary(replay: Replay) -> str:
    servers, folders = len(replay.topology.servers), len(replay.topology.folders)
    return (
        f"Public folder replication, moment by moment: {counted(servers, 'server')}, {counted(folders, 'folder')},"
        f" {counted(len(replay.events), 'event')}."
    )


def _packed(replay: Replay) -> str:
    return b64encode(gzip.compress(run_document(replay), mtime=0)).decode()


def run_document(replay: Replay) -> bytes:
    """Return the run as JSON: its topology, its events with words, its contents, and the lesson."""
    names = lexicon_of(replay.topology)
    document = {
        "setup": setup_guid(replay.topology.organization).hex(),
        "topology": msgspec.Raw(replay.topology.as_json().encode()),
        "events": [msgspec.Raw(with_words(event, names)) for event in replay.events],
        "contents": replay.contents,
        "lesson": replay.lesson,
    }
    return msgspec.json.encode(document)


def as_handout(lesson: Mapping[str, Any], *, after: int = 0, notes: bool = False) -> dict[str, Any]:
    """Return a played lesson for readers who answer its questions themselves.

    after: how many events came before those of the file.
    notes: whether readers see the presenter's notes.
    """
    texts = [
        {**beat, "given": None, "seq": max(0, beat["seq"] - after), NOTES: beat[NOTES] if notes else None}
        for beat in lesson["beats"]
    ]
    return {**lesson, "beats": texts}
