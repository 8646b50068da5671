"""A few runs in detail: where they ran, when, with which faults, how many mails at which time, and what was found in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analytics.drawing import organization_map, timeline
from analytics.drawing.lab_time import day_time, step_for
from analytics.drawing.mail_types import kind_of
from analytics.drawing.spacetime import Fault
from analytics.drawing.svg import natural
from analytics.rows import Answers, Row


@dataclass(frozen=True, slots=True)
class Found:
    """Something that was found wrong in a run.

    title: the rule check, or the folder.
    times: how often.
    text: the first one, in words, with ids instead of names.
    at: when it was, if that is known.
    folder: the id of a folder that has not converged, '' for a violated rule.
    """

    trace: str
    title: str
    times: int
    text: str
    at: int | None
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A run.

    trace: its id in the tables.
    end_at: its end, or its last event.
    format: the version of its trace format.
    settings: its options. organization: its topology at the end, as the trace has it.
    """

    trace: str
    start_at: int
    end_at: int
    seed: str
    format: str
    settings: Mapping[str, str]
    topology: Mapping[str, Any]
    faults: tuple[Fault, ...]
    behind: Mapping[str, int]
    findings: tuple[Found, ...]
    slots: tuple[timeline.Slot, ...] = ()
    width_us: int = 1

    @property
    def servers(self) -> list[str]:
        return sorted(_mapping(self.topology.get("servers")), key=natural)


def runs(answers: Answers, traces: Sequence[str]) -> list[Run]:
    """Return these runs, in this order."""
    names = {"runs": [(trace,) for trace in traces]}
    lab, mails, wrong, broken = (
        answers(query, names) for query in ("lab_events", "mail_slots", "differing_stores", "violated_checks")
    )
    return [_run(trace, *(_of(trace, rows) for rows in (lab, mails, wrong, broken))) for trace in traces]


def _of(trace: str, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.trace == trace]


def _run(trace: str, lab: Sequence[Any], mails: Sequence[Any], wrong: Sequence[Any], broken: Sequence[Any]) -> Run:
    started = next((row for row in lab if row.type == "run.started"), None)
    changed = next((row for row in lab if row.type == "organization.changed"), started)
    ended = next((row for row in lab if row.type == "run.ended"), None)
    times = [row.at for row in mails] + [row.at for row in lab]
    start_at = started.at if started else min(times, default=0)
    end_at = max(ended.at if ended else max(times, default=start_at), start_at)
    width = max(step_for(end_at - start_at, timeline.BARS), 1)
    return Run(
        trace=trace,
        start_at=start_at,
        end_at=end_at,
        seed=(started.seed or "") if started else "",
        format=(started.version or "") if started else "",
        settings=dict(sorted((started.settings or {}).items())) if started else {},
        topology=_parsed(changed.topology) if changed else {},
        faults=tuple(faults(lab)),
        behind={store: sum(row.many for row in wrong if row.store == store) for store in {row.store for row in wrong}},
        findings=(*_folders(trace, wrong), *_checks(trace, broken)),
        slots=_slots(mails, start_at, end_at, width),
        width_us=width,
    )


def _folders(trace: str, wrong: Sequence[Any]) -> list[Found]:
    findings = []
    for folder in sorted({row.folder for row in wrong}):
        rows = [row for row in wrong if row.folder == folder]
        timed = [row for row in rows if row.first_at is not None]
        first = min(timed, key=lambda row: (row.first_at, row.store), default=None)
        text = f"{first.store} differs in {first.number}" if first else f"{rows[0].store} differs"
        findings.append(
            Found(trace, rows[0].path, sum(row.many for row in rows), text, first.first_at if first else None, folder)
        )
    return sorted(findings, key=lambda finding: natural(finding.title))


def _checks(trace: str, broken: Sequence[Any]) -> list[Found]:
    ordered = sorted(broken, key=lambda row: (row.at is None, row.at, row.check))
    return [Found(trace, row.check, row.violations, row.witness or "", row.at) for row in ordered]


def _slots(mails: Sequence[Any], start_at: int, end_at: int, width: int) -> tuple[timeline.Slot, ...]:
    """Return the bars of the timeline, from small slots."""
    copies: dict[int, dict[str, int]] = {}
    lost: dict[int, int] = {}
    for row in mails:
        slot = (min(max(row.at, start_at), end_at) - start_at) // width
        kinds = copies.setdefault(slot, {})
        kind = kind_of(row.message_type)
        kinds[kind] = kinds.get(kind, 0) + row.copies
        lost[slot] = lost.get(slot, 0) + row.lost
    return tuple(timeline.Slot(start_at + slot * width, copies[slot], lost[slot]) for slot in sorted(copies))


def faults(lab: Iterable[Any]) -> list[Fault]:
    """Return the faults of a run, each from its injection to its healing. A fault that is not healed has no end."""
    injections: dict[str, Any] = {}
    run_faults = []
    for row in sorted(lab, key=lambda row: (row.at, row.type != "fault.injected")):
        if row.type == "fault.injected":
            injections.setdefault(row.fault, row)
        elif row.type == "fault.healed" and row.fault in injections:
            run_faults.append(_fault(injections.pop(row.fault), row.at))
    return run_faults + [_fault(row, None) for row in injections.values()]


def _fault(row: Any, end_at: int | None) -> Fault:
    details = dict(row.details or {})
    server = details.get("server", "") if row.kind in {"kill", "stop", "crash"} else ""
    ends = " → ".join(part for part in (details.pop("from", ""), details.pop("to", "")) if part)
    parts = [
        f"{value}" if key in {"server", "type", "between"} else f"{key} {value}"
        for key, value in details.items()
        if value and (key, value) != ("count", "1")
    ]
    words = " ".join(part for part in (row.kind, ends, *sorted(parts)) if part)
    return Fault(row.fault, words, row.at, end_at, server or "")


def organization(run: Run) -> organization_map.Organization:
    """Return the map of a run's organization, with the number of differences at each store that has some."""
    sites: dict[str, list[organization_map.Server]] = {}
    for name, of in _mapping(run.topology.get("servers")).items():
        about = _mapping(of)
        behind = run.behind.get(name, 0)
        trouble = f"{behind} difference{'s' if behind != 1 else ''}" if behind else ""
        server = organization_map.Server(name, str(about.get("version", "")), trouble)
        sites.setdefault(str(about.get("site", "")), []).append(server)
    connectors = []
    for connector in run.topology.get("connectors") or ():
        about = _mapping(connector)
        between = list(about.get("between") or [])
        if len(between) == 2:
            words = [f"cost {about.get('cost', '?')}"]
            words += [str(about["schedule"])] if about.get("schedule") not in {None, "always"} else []
            words += [str(about["latency"])] if about.get("latency") else []
            pair = str(between[0]), str(between[1])
            connectors.append(organization_map.Connector(str(about.get("name", "")), pair, ", ".join(words)))
    return organization_map.Organization(sites, connectors)


def line_of(run: Run, anchors: Mapping[int, str]) -> timeline.Timeline:
    """Return the timeline of a run. `anchors` maps the place of a finding in `run.findings` to its anchor on the page."""
    marks = tuple(
        timeline.Mark(finding.at, f"{finding.title} ({day_time(finding.at, run.start_at)})", anchors[index])
        for index, finding in enumerate(run.findings)
        if finding.at is not None and index in anchors
    )
    return timeline.Timeline(run.start_at, run.end_at, run.width_us, run.slots, run.faults, marks)


def _parsed(topology: str | None) -> dict[str, Any]:
    """Return the topology of a trace; {} if it is damaged."""
    try:
        return _mapping(json.loads(topology or "{}"))
    except ValueError:
        return {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
