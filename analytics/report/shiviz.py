"""Write a trace for ShiViz, a viewer of space-time diagrams: for each event a line with its node and vector clock, and a line
of text.

Vector clocks follow from the order of the events of a node and from the mails between nodes. They are computed for one trace
and a limited number of its events, in the order of Lamport numbers, which puts causes first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from analytics.drawing.lab_time import instant
from analytics.rows import Answers, Findings
from analytics.verdicts.conclusion import worst_folders


def write_worst(answers: Answers, findings: Findings, file: Path) -> int:
    """Write the run of the worst folder, and return the number of events; 0 if there is no run."""
    worst = worst_folders(findings)[:1]
    rows = answers("clocked_events", {"runs": [(row.trace,) for row in worst]})
    events = sorted(rows, key=lambda row: (row.lamport, row.node, row.seq))
    file.write_text("".join(f"{line}\n" for line in clocked(events)), encoding="utf-8")
    return len(events)


def clocked(rows: Iterable[Any]) -> Iterable[str]:
    """Yield two lines for each event, in the given order, in which causes must come before effects."""
    clocks: dict[str, dict[str, int]] = {}
    mail_clocks: dict[str, dict[str, int]] = {}
    for row in rows:
        clock = clocks.setdefault(row.node, {})
        if row.type == "mail.received":
            for node, count in mail_clocks.get(row.mail, {}).items():
                clock[node] = max(clock.get(node, 0), count)
        clock[row.node] = clock.get(row.node, 0) + 1
        if row.type == "mail.submitted":
            mail_clocks[row.mail] = dict(clock)
        yield f"{row.node} {json.dumps(clock, sort_keys=True)}"
        yield _words(row)


def _words(row: Any) -> str:
    parts = [instant(row.at), row.type]
    if row.type.startswith("mail."):
        parts.append(f"<{row.mail}>")
    elif row.number:
        parts.append(row.number)
    parts += [value for value in (row.source, row.folder) if value]
    return " ".join(parts)
