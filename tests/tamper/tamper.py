"""Alter clean traces in many ways, and count which alterations `pflab check` notices.

    python -m tests.tamper.tamper                        500 cases from the scenarios and from seeds 101 to 110
    python -m tests.tamper.tamper --cases 2000 --seed 7
    python -m tests.tamper.tamper --cases 0              each field of each event type once, and nothing else

The cases are drawn from the seed. Each is a copy of one trace with one alteration of one of these kinds:

    field       one field of one event has another value of its type
    removed     an event is deleted, and the later events of its node are renumbered
    repeated    an event occurs once more at a later place, and the later events of its node are renumbered
    recipients  the recipients of a mail event are changed
    cut         the last tenth of a run is missing, except the last event of each node
    shifted     all events of one store are an hour later

Each field of each event type is altered at least once. The segments get a new checksum, so that only what the events say can
show the alteration. A case is noticed if the verdict on it is not clean. The untampered traces are judged too. The exit status
is 1 if the two engines differ, if an untampered trace is not clean, or if the alteration of a field stays clean that
docs/reference/events/ calls evidence.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from analytics.evidence.agreement.fields import FIELDS, Worth
from analytics.evidence.agreement.fields import HEADER as HEADER_FIELDS
from analytics.verdicts.conclusion import MAX_RUNS
from analytics.verdicts.judgements import CONVERGED
from tests.agreement.run import judge, play
from tests.support.scenario_traces import BROKEN_ON_PURPOSE, SCENARIOS, play_scenario
from tests.support.trace_faults import Line, Trace, read_trace, renumber, write_trace

HEADER: Final = frozenset({"type", "run", "node", "incarnation", "seq", "lamport", "at", "v"})
SEEDS: Final = range(101, 111)
HOUR_US: Final = 3_600_000_000
ENDS: Final = ("node.stopped", "run.ended")


@dataclass(frozen=True, slots=True)
class Case:
    """What was altered: the kind, the source trace, and the event with the field, as `type.field`."""

    kind: str
    source: str
    what: str


def events_of(trace: Trace) -> Iterator[Line]:
    for node in sorted(trace):
        yield from trace[node]


# -- alterations: each changes a trace in place and returns what it changed, or "" if the trace has nothing of the kind


def other_value(value: Any, rng: random.Random, names: list[str]) -> Any:
    """Return another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + rng.choice([-1, 1, 1000])
        case str() if value in names:
            return rng.choice([name for name in names if name != value])
        case str() if value and value[-1].isdigit():
            return value[:-1] + str((int(value[-1]) + 1) % 10)
        case str():
            return value + "x"
        case [] | {}:
            return None
        case list():
            at = rng.randrange(len(value))
            return [*value[:at], *value[at + 1 :]] if rng.random() < 0.5 else replaced(value, at, rng, names)
        case dict():
            return replaced(value, rng.choice(sorted(value)), rng, names)
    return None


def replaced(value: Any, key: Any, rng: random.Random, names: list[str]) -> Any:
    made = copy.deepcopy(value)
    made[key] = other_value(made[key], rng, names)
    return made


def fields_of(event: Line) -> list[str]:
    """Return the fields of an event that have a value that can be altered."""
    return sorted(name for name in event.keys() - HEADER if event[name] not in (None, "", [], {}))


def alter_field(trace: Trace, rng: random.Random) -> str:
    """Alter a field. All types have the same chance, and all fields of a type."""
    kind = rng.choice(sorted({event["type"] for event in events_of(trace)}))
    fields = sorted({field for event in events_of(trace) if event["type"] == kind for field in fields_of(event)})
    return alter_one(trace, rng, kind, rng.choice(fields)) if fields else ""


def alter_one(trace: Trace, rng: random.Random, kind: str, field: str) -> str:
    """Alter that field of some event of this type."""
    event = rng.choice([each for each in events_of(trace) if each["type"] == kind and field in fields_of(each)])
    event[field] = other_value(event[field], rng, sorted(trace))
    return f"{kind}.{field}"


def every_field(sources: dict[str, Trace]) -> dict[tuple[str, str], list[str]]:
    """Return the sources of each field of each event type, so that each can be altered at least once."""
    found: dict[tuple[str, str], set[str]] = {}
    for source, trace in sources.items():
        for event in events_of(trace):
            for field in fields_of(event):
                found.setdefault((event["type"], field), set()).add(source)
    return {key: sorted(found[key]) for key in sorted(found)}


def remove(trace: Trace, rng: random.Random) -> str:
    events = trace[rng.choice(sorted(trace))]
    if len(events) < 3:
        return ""
    gone = events.pop(rng.randrange(1, len(events) - 1))
    renumber(events)
    return str(gone["type"])


def repeat(trace: Trace, rng: random.Random) -> str:
    events = trace[rng.choice(sorted(trace))]
    if len(events) < 3:
        return ""
    at = rng.randrange(1, len(events) - 1)
    later = rng.randrange(at + 1, len(events))
    again = copy.deepcopy(events[at])
    again.update({name: events[later - 1][name] for name in ("at", "lamport", "incarnation")})
    events.insert(later, again)
    renumber(events)
    return str(again["type"])


def alter_recipients(trace: Trace, rng: random.Random) -> str:
    mails = [event for event in events_of(trace) if event.get("recipients")]
    if not mails:
        return ""
    event = rng.choice(mails)
    event["recipients"] = other_value(event["recipients"], rng, sorted(trace))
    return f"{event['type']}.recipients"


def cut(trace: Trace, rng: random.Random) -> str:
    times = sorted(event["at"] for event in events_of(trace))
    until = times[len(times) * 9 // 10]
    for events in trace.values():
        events[:] = [event for event in events if event["at"] < until or event is events[-1]]
        renumber(events)
    return "last tenth"


def shift(trace: Trace, rng: random.Random) -> str:
    store = rng.choice(sorted(trace.keys() - {"lab"}))
    for event in trace[store]:
        event["at"] += HOUR_US
    return "an hour later"


KINDS: Final[dict[str, tuple[int, Callable[[Trace, random.Random], str]]]] = {
    "field": (70, alter_field),
    "removed": (8, remove),
    "repeated": (8, repeat),
    "recipients": (8, alter_recipients),
    "cut": (3, cut),
    "shifted": (3, shift),
}
"""Each kind with its share of the cases."""

# -- the campaign


def write_sources(place: Path) -> dict[str, Trace]:
    """Play the scenarios and the seeds into `place/<name>/traces`, and return their traces."""
    for path in SCENARIOS:
        if path.stem not in BROKEN_ON_PURPOSE:
            play_scenario(path, place)
    play(SEEDS, place)
    return {each.parent.name: read_trace(each) for each in sorted(place.glob("*/traces"))}


def draw_cases(sources: dict[str, Trace], number: int, seed: int, place: Path) -> dict[str, Case]:
    """Write each case into `place/<name>/traces`, and return the cases by name."""
    rng = random.Random(f"tamper {seed}")
    weights = [weight for weight, _ in KINDS.values()]
    cases: dict[str, Case] = {}
    size = {name: sum(map(len, trace.values())) for name, trace in sources.items()}
    # Where there is a choice, a smaller trace says as much in less time.
    once = [
        (min(rng.choices(having, k=3), key=size.__getitem__), *field) for field, having in every_field(sources).items()
    ]
    while once or len(cases) < number:
        source, *field = once.pop() if once else (min(rng.choices(sorted(sources), k=2), key=size.__getitem__),)
        trace = copy.deepcopy(sources[source])
        kind = "field" if field else rng.choices(list(KINDS), weights)[0]
        what = alter_one(trace, rng, *field) if field else KINDS[kind][1](trace, rng)
        if not what or trace == sources[source]:
            continue
        name = f"case-{len(cases) + 1}"
        write_trace(place / name / "traces", trace)
        cases[name] = Case(kind, source, what)
    return cases


def write_few(trace: Trace, place: Path) -> list[str]:
    """Write `place/<type.field>/traces` for every sixth evidence field of a trace, and return their names."""
    named = [f"{kind}.{field}" for kind, field in every_field({"": trace})]
    few = [what for what in named if worth_of(what) is Worth.EVIDENCE][::6]
    for what in few:
        altered = copy.deepcopy(trace)
        kind, _, field = what.rpartition(".")
        alter_one(altered, random.Random(what), kind, field)
        write_trace(place / what / "traces", altered)
    return few


def worth_of(what: str) -> Worth:
    """Return what a field is worth as evidence; `what` is `type.field`."""
    kind, _, field = what.rpartition(".")
    worth, _ = FIELDS[kind].get(field) or HEADER_FIELDS[field]
    return worth


def tally(cases: dict[str, Case], judgements: dict[str, str], key: Callable[[Case], str]) -> dict[str, list[int]]:
    """Return for each key how many cases there are, and how many of them stay clean."""
    number = Counter(key(case) for case in cases.values())
    clean = Counter(key(case) for name, case in cases.items() if judgements[name] == CONVERGED)
    return {name: [number[name], clean[name]] for name in sorted(number)}


def main() -> int:
    parser = argparse.ArgumentParser(description="Alter clean traces, and count what pflab check notices.")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--keep", metavar="FOLDER", help="write the traces into this folder and keep them")
    asked = parser.parse_args()
    if asked.cases > MAX_RUNS:
        parser.error(f"--cases: at most {MAX_RUNS}, because a check returns no more verdicts")
    with nullcontext(asked.keep) if asked.keep else tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        sources = write_sources(place / "sources")
        alarmed = [name for name, judgement in judge(place / "sources").judgements.items() if judgement != CONVERGED]
        cases = draw_cases(sources, asked.cases, asked.seed, place / "cases")
        verdicts = judge(place / "cases")
    judgements = verdicts.judgements
    kinds = tally(cases, judgements, lambda case: case.kind)
    fields = tally(
        {name: case for name, case in cases.items() if case.kind == "field"}, judgements, lambda case: case.what
    )
    unseen_evidence = {
        name: counts for name, counts in fields.items() if worth_of(name) is Worth.EVIDENCE and counts[1]
    }
    by_worth = tally(
        {name: case for name, case in cases.items() if case.kind == "field"},
        judgements,
        lambda case: worth_of(case.what),
    )
    if asked.json:
        clean = {name: f"{case.source}: {case.what}" for name, case in cases.items() if judgements[name] == CONVERGED}
        document = {
            "alarmed": alarmed,
            "engines": verdicts.engines,
            "kinds": kinds,
            "worth": by_worth,
            "fields": fields,
            "clean": clean,
        }
        print(json.dumps(document, indent=1))
    else:
        for line in verdicts.engines:
            print(line)
        for name in alarmed:
            print(f"alarmed although untampered: {name}")
        for kind, (number, unseen) in kinds.items():
            print(f"{kind:12} {number:5} cases, {unseen:5} stay clean")
        for worth, (number, unseen) in by_worth.items():
            print(f"fields that are {worth:14} {number:5} cases, {unseen:5} stay clean")
        for field, (number, unseen) in fields.items():
            if unseen or worth_of(field) is Worth.EVIDENCE:
                print(f"  {worth_of(field):14} {field:36} {unseen} of {number} stay clean")
    return int(bool(alarmed or unseen_evidence or verdicts.engines))


if __name__ == "__main__":
    sys.exit(main())
