"""A recorded run, played again as a lab: each export writes more of its segments, in a seeded order, some late, some twice."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, Self

from traces.segments import SegmentName, read_end, read_lines, write_segment

RUN = "run"
"""The id of the run, and the name of the folder of its traces."""

_REPEATED = 0.2
"""The share of segments whose last event is also in the next segment."""


@dataclass(frozen=True, slots=True)
class Written:
    """What one export adds: segments (name, lines), and the stores whose segments are not there yet."""

    segments: Sequence[tuple[SegmentName, Sequence[bytes]]]
    away: Sequence[str]


def in_exports(traces: Path, exports: int, seed: int) -> list[Written]:
    """Divide the segments of a run into this many exports.

    Every node's events are cut into segments at random places. One store is away for a while, and its segments of this time
    come later and out of order. Some events are in two segments.
    """
    chosen = random.Random(seed)
    nodes = {path.name.partition("-")[0] for path in traces.glob("*.jsonl")}
    added: list[list[tuple[SegmentName, Sequence[bytes]]]] = [[] for _ in range(exports)]
    away = chosen.choice(sorted(nodes - {"lab"}))
    leaves = chosen.randrange(exports // 3)
    returns = chosen.randrange(2 * exports // 3, exports)
    for node in sorted(nodes):
        lines = _lines(traces, node)
        cuts = sorted(chosen.sample(range(1, len(lines)), min(exports, len(lines)) - 1))
        for index, (begin, end) in enumerate(pairwise([0, *cuts, len(lines)])):
            repeated = end < len(lines) and chosen.random() < _REPEATED  # the first event of the next segment
            part = lines[begin : end + repeated]
            at = index * exports // (len(cuts) + 1)
            if node == away and leaves <= at < returns:
                at = chosen.randrange(returns, exports)
            first = json.loads(part[0])
            added[at].append((SegmentName(node, first["incarnation"], first["seq"]), part))
    return [Written(part, (away,) if leaves <= at < returns else ()) for at, part in enumerate(added)]


def _lines(traces: Path, node: str) -> list[bytes]:
    paths = [path for path in traces.glob("*.jsonl") if path.name.partition("-")[0] == node]
    lines = [line for path in paths for line in read_lines(path) if read_end(line) is None]
    return sorted(lines, key=lambda line: int(json.loads(line)["seq"]))


class ReplayedLab:
    """Answers `pflab follow` as a lab does. `url` is its address inside the `with` block.

    Each export writes the next segments below `traces`; after the last one, exports add nothing. `verdicts` are those that
    were sent back.
    """

    def __init__(self, traces: Path, exports: Iterable[Written]) -> None:
        self.folder = traces / RUN
        self.folder.mkdir(parents=True)
        self.verdicts: list[dict[str, Any]] = []
        self.left = list(exports)
        self._away: Sequence[str] = ()
        self._events = 0
        self._exports = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def export(self) -> dict[str, Any]:
        """Write the next segments, and say where they are."""
        if self.left:
            written = self.left.pop(0)
            self._away = written.away
            self._exports += 1
            for name, lines in written.segments:
                self._events += len(lines)
                write_segment(self.folder, name, [b"".join(line + b"\n" for line in lines)])
        return {
            "run": RUN,
            "traces": RUN,
            "at": f"export {self._exports}",
            "events": self._events,
            "away": list(self._away),
        }


def _handler(lab: ReplayedLab) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._body()
            self._answer(lab.export())

        def do_PUT(self) -> None:
            lab.verdicts.append(self._body())
            self._answer({"run": RUN})

        def _body(self) -> dict[str, Any]:
            found: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            return found

        def _answer(self, document: dict[str, Any]) -> None:
            content = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    return Handler
