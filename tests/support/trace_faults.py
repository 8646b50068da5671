"""Traces with a planted fault: ways to change one thing in a trace, and the traces with that change."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traces.segments import close_segment

Line = dict[str, Any]
Trace = dict[str, list[Line]]
"""Node to its events in order, as their JSON objects."""

Fault = tuple[str, Callable[[Trace], None]]
"""The scenario whose trace is changed, and the change."""


@dataclass(frozen=True, slots=True)
class Planted:
    """The expected result: the judgement of a folder, and words of its witness or doubt.

    raw     lines added as they are
    damage  what happens to the files after they were written
    """

    source: str
    change: Callable[[Trace], None]
    path: str
    judgement: str
    said: str
    raw: str = ""
    damage: Callable[[bytes], bytes] | None = None


def read_trace(folder: Path) -> Trace:
    found: Trace = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines()[:-1]:
            event = json.loads(line)
            found.setdefault(event["node"], []).append(event)
    for events in found.values():
        events.sort(key=lambda event: int(event["seq"]))
    return found


def read_source(root: Path, source: str) -> Trace:
    """Return the trace of a scenario of the suite; `stories/NAME`: of a run of `tests.support.extra_runs`."""
    return read_trace(root / (source if "/" in source else f"suite/{source}") / "traces")


def write_trace(folder: Path, trace: Trace, raw: str = "") -> None:
    folder.mkdir(parents=True)
    for node, events in trace.items():
        lines = [json.dumps(event) for event in events]
        path = folder / f"{node}-1-1.jsonl"
        path.write_text(raw + "\n".join(lines) + "\n", encoding="utf-8")
        close_segment(path)


def renumber(events: list[Line]) -> None:
    """Close the gaps in the numbers, so that removed events have never existed."""
    for seq, event in enumerate(events, start=1):
        event["seq"] = seq


def find(trace: Trace, node: str, kind: str, nth: int = 0, **fields: Any) -> Line:
    wanted = {"type": kind, **fields}
    return [event for event in trace[node] if wanted.items() <= event.items()][nth]


def nth(trace: Trace, kind: str, nth: int = 0, *, where: Callable[[Line], bool] = lambda _: True) -> Line:
    """Return the n-th event of that type, node by node; -1 is the last."""
    return [event for node in sorted(trace) for event in trace[node] if event["type"] == kind and where(event)][nth]


def set_(
    kind: str, *, where: Callable[[Line], bool] = lambda _: True, n: int = 0, **fields: Any
) -> Callable[[Trace], None]:
    return lambda trace: nth(trace, kind, n, where=where).update(fields)


def shift(
    kind: str, name: str, by: int, *, where: Callable[[Line], bool] = lambda _: True, n: int = 0
) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        nth(trace, kind, n, where=where)[name] += by

    return change


def without(kind: str, *, where: Callable[[Line], bool] = lambda _: True) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        event = nth(trace, kind, where=where)
        trace[event["node"]].remove(event)
        renumber(trace[event["node"]])

    return change


def again_at_the_end(
    kind: str, *, where: Callable[[Line], bool] = lambda _: True, **fields: Any
) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        event = nth(trace, kind, where=where)
        events = trace[event["node"]]
        events.insert(len(events) - 1, {**event, "at": events[-1]["at"], **fields})
        renumber(events)

    return change


def of_type(*types: int) -> Callable[[Line], bool]:
    return lambda event: event["message_type"] in types


def in_folder(**fields: str) -> Callable[[Line], None]:
    return lambda event: event["folders"][0].update(fields)


def mail(types: tuple[int, ...], alter: Callable[[Line], Any]) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        alter(nth(trace, "mail.submitted", where=of_type(*types)))

    return change


def _without(node: str, kind: str, *, closed: bool) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        trace[node].remove(find(trace, node, kind))
        if closed:
            renumber(trace[node])

    return change


def _without_all(node: str, kind: str, **fields: Any) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        wanted = {"type": kind, **fields}
        trace[node] = [event for event in trace[node] if not wanted.items() <= event.items()]
        renumber(trace[node])

    return change


def _ends_early(node: str, kind: str) -> Callable[[Trace], None]:
    """The run ends before the first such event: the node has no later event except its stop."""

    def change(trace: Trace) -> None:
        events = trace[node]
        at = events.index(find(trace, node, kind))
        trace[node] = [*events[:at], events[-1]]
        renumber(trace[node])

    return change


def _altered(node: str, kind: str, **fields: Any) -> Callable[[Trace], None]:
    return lambda trace: find(trace, node, kind).update(fields)


def _drop_last(node: str) -> Callable[[Trace], None]:
    return lambda trace: trace[node].pop() and None


def _drop_first(node: str) -> Callable[[Trace], None]:
    return lambda trace: trace[node].pop(0) and None


def _again_otherwise(node: str, kind: str) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        event = find(trace, node, kind)
        trace[node].append({**event, "lamport": event["lamport"] + 1000})

    return change


def _again(node: str, kind: str) -> Callable[[Trace], None]:
    return lambda trace: trace[node].append(dict(find(trace, node, kind)))


def _without_node(node: str) -> Callable[[Trace], None]:
    return lambda trace: trace.pop(node) and None


def _both(first: Callable[[Trace], None], then: Callable[[Trace], None]) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        first(trace)
        then(trace)

    return change


def _nothing(_: Trace) -> None:
    return


PLANTED: dict[str, Planted] = {
    "gap": Planted("edit", _without("B", "version.applied", closed=False), "Projects", "unknown", "events of B are missing"),
    "gap-in-lab": Planted("edit", _without("lab", "clock.changed", closed=False), "Projects", "unknown", "events of lab"),
    "gap-of-a-hop": Planted("edit", _without("A", "hop.sent", closed=False), "Projects", "unknown", "events of A"),
    "first-missing": Planted("edit", _drop_first("C"), "Projects", "unknown", "events of C"),
    "last-missing": Planted("edit", _drop_last("C"), "Projects", "unknown", "C end without a stop"),
    "killed-only": Planted(
        "stories/orphan", _both(_without_all("A", "store.deleted"), _without_all("B", "store.deleted")),
        "Projects", "unknown", "C end without a stop"
    ),
    "deleted-only": Planted(
        "stories/orphan", _without_all("lab", "fault.injected"), "Projects", "unknown", "C end without a stop"
    ),
    "end-missing": Planted("edit", _drop_last("lab"), "Projects", "unknown", "run has no end"),
    "malformed": Planted("edit", _nothing, "Projects", "unknown", "cannot be read", raw='{"type":"change.made","run":\n'),
    "no-event": Planted("edit", _nothing, "Projects", "unknown", "cannot be read", raw='[1,2]\n'),
    "incomplete": Planted(
        "edit", lambda trace: find(trace, "A", "change.made").pop("number") and None, "Projects", "unknown", "cannot be read"
    ),
    "other-version": Planted(
        "edit", _altered("A", "mail.submitted", v=2), "Projects", "unknown", "cannot be read"
    ),
    "cut": Planted("edit", _nothing, "Projects", "unknown", "A-1-1.jsonl is cut", damage=lambda file: file[:-10]),
    "touched": Planted(
        "edit", _nothing, "Projects", "unknown", "C-1-1.jsonl was changed after it was written",
        damage=lambda file: file.replace(b": ", b":", 1)
    ),
    "twofold": Planted("edit", _again_otherwise("A", "mail.submitted"), "Projects", "unknown", "twice with different content"),
    "copied": Planted("edit", _again("A", "mail.submitted"), "Projects", "converged", ""),
    "unknown-type": Planted("edit", _altered("A", "hop.sent", type="hop.teleported"), "Projects", "converged", ""),
    "stopped": Planted("edit", _altered("C", "node.stopped", at=1066694400000000), "Projects", "unknown", "C is stopped"),
    "never-applied": Planted(
        "new-post", _without("B", "version.applied", closed=True), "Projects", "not converged", "B lacks A-1"
    ),
    "lost-for-good": Planted(
        "lost-mail", _ends_early("B", "entry.made"), "Projects", "not converged", "was lost at 2003-10-21T00:15:00Z (fault F1)"
    ),
    "asked-in-vain": Planted(
        "lost-mail", _without("B", "version.applied", closed=True),
        "Projects", "not converged", "requested from A at 2003-10-22T06:15:00Z"
    ),
    "other-bytes": Planted(
        "new-post", _altered("C", "version.applied", digest="0" * 64), "Projects", "not converged", "C has other bytes for A-1"
    ),
    "stranger": Planted(
        "new-post", _altered("C", "version.applied", object="ab:9", number="ab:7", pcl="ab:7"),
        "Projects", "not converged", "which nobody made"
    ),
    "not-deleted": Planted(
        "delete", _altered("B", "version.applied", deleted=False), "Projects", "converged", ""
    ),
    "guid-twice": Planted(
        "new-post", _altered("C", "version.applied", pcl="ab:1;ab:2"), "Projects", "converged", ""
    ),
    "no-topology": Planted(
        "new-post", _altered("lab", "run.started", topology="servers"),
        "1-1", "unknown", "topology in run.started cannot be read"
    ),
    "two-topologies": Planted(
        "new-post", _altered("lab", "run.started", topology='{"servers": {"A": {}}} {}'),
        "1-1", "unknown", "topology in run.started cannot be read"
    ),
    "no-instant": Planted(
        "new-post", _both(_without("B", "version.applied", closed=True), _altered("B", "mail.received", at=2**62)),
        "Projects", "not converged", "arrived at 4611686018427387904 us"
    ),
    "gap-and-lack": Planted(
        "new-post", _both(_without("B", "version.applied", closed=True), _drop_last("lab")),
        "Projects", "unknown", "run has no end"
    ),
    "no-store": Planted("new-post", _without_node("C"), "Projects", "unknown", "C is not in the trace"),
    "no-site": Planted(
        "new-post", _altered("lab", "run.started", topology='{"servers": {"A": {}, "B": null}, "connectors": [null]}'),
        "1-1", "converged", ""
    ),
    "hierarchy-late": Planted(
        "hierarchy-change", _without_all("B", "version.applied", folder="1-1"), "1-1", "not converged", "B lacks the deletion"
    ),
}  # fmt: skip


def plant_all(root: Path) -> dict[str, Planted]:
    """Write `root/planted/<name>/traces`, from `root/suite` and `root/stories`."""
    for name, planted in PLANTED.items():
        trace = read_source(root, planted.source)
        planted.change(trace)
        folder = root / "planted" / name / "traces"
        write_trace(folder, trace, planted.raw)
        for path in folder.iterdir() if planted.damage else ():
            path.write_bytes(planted.damage(path.read_bytes()))
    remove_each(root / "suite" / "edit" / "traces", root / "removed")
    return PLANTED


def remove_each(source: Path, place: Path) -> None:
    """Write a copy of the trace without its n-th event for each n, in one file each."""
    lines = [json.dumps(event) for events in read_trace(source).values() for event in events]
    for number in range(len(lines)):
        folder = place / f"{number}" / "traces"
        folder.mkdir(parents=True)
        path = folder / "all-1-1.jsonl"
        path.write_text("\n".join([*lines[:number], *lines[number + 1 :]]) + "\n", encoding="utf-8")
        close_segment(path)
