"""A finished run as one HTML file: the console with all its modules and styles, and the events of the run inside.

The file works from a disk, without a server and without a network. A page from a disk cannot load modules from other files. So
each module is in an import map under its own name, as a data: URL, and its relative imports are rewritten to these names.
The run itself is compressed JSON in base 64, which no text of a run can end early. The policy of the page allows only scripts
that are inside the file.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Final

from node.seeded_ids import setup_guid
from pflab.errors import LabError
from pflab.replay.console_events import lexicon_of, with_words
from pflab.replay.console_files import RELATIVE_IMPORT, START, read_text, resolved, script_paths, style_paths

if TYPE_CHECKING:
    from pflab.runs.events import RunEvents

_NAME: Final = "pflab:/"
"""How the name of a module begins in the import map."""


def replay_file(run: RunEvents, *, title: str) -> str:
    """Return the HTML of a file that shows this run.

    title: names the run in the title of the window. Raises LabError if the topology of the run cannot be read.
    """
    if run.topology is None:
        raise LabError(
            f"{run.path}: its topology cannot be read, so nothing can be drawn; {'; '.join(run.problems[:1])}"
        )
    imports = {f"{_NAME}{path}": _data_url(_with_absolute_imports(path)) for path in script_paths()}
    import_map = json.dumps({"imports": imports})
    start = f'import "{_NAME}{START}";'
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
            f"<title>{escape(title)}</title>",
            *(f"<style>{read_text(path)}</style>" for path in style_paths()),
            '</head><body><div id="console"><p class="loading">Loading the run …</p></div>',
            f'<script type="application/octet-stream" id="run">{_packed(run)}</script>',
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
    return RELATIVE_IMPORT.sub(lambda found: f"{found[1]}{_NAME}{resolved(path, found[2])}{found[3]}", read_text(path))


def _packed(run: RunEvents) -> str:
    return b64encode(gzip.compress(run_document(run), mtime=0)).decode()


def run_document(run: RunEvents) -> bytes:
    """Return the run as JSON: its topology, and its events in causal order, with words. It must have a topology."""
    assert run.topology is not None
    names = lexicon_of(run.topology)
    guid = setup_guid(run.topology.organization).hex()
    events = b",\n".join(with_words(event, names) for event in run.events)
    return b'{"setup":"%b","topology":%b,"events":[%b]}' % (guid.encode(), run.topology.as_json().encode(), events)
