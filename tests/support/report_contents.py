"""Contents of a report that no run gives at a wish: a thousand runs, and texts that would break a careless page."""

from __future__ import annotations

from analytics.drawing.spacetime import Diagram, Event, Fault, Mail
from analytics.drawing.timeline import Slot
from analytics.report.contents import Contents, Traffic
from analytics.report.runs import Found, Run
from analytics.report.runs_by_rule import Line, arranged
from analytics.report.who_had_what import Cell, Matrix
from analytics.rules.catalogue import CHECKS
from analytics.verdicts.judgements import BROKEN, CONVERGED, NOT_CONVERGED, UNKNOWN
from analytics.verdicts.result import CheckResult, FolderVerdict, RuleResult, RunVerdict
from traces.labtime import DAY_US, HOUR_US

START = 1_066_694_400_000_000
HOSTILE = (
    "</title></style></text>\"'><script>alert(1)</script>\u2028\u202egnol\x00\ud800<img src=x onerror=alert(1)>"
    + "x" * 5000
)
"""A subject with markup, a line separator, a mark that turns the writing round, a surrogate, and too many characters."""


def hostile() -> Contents:
    """Return the contents of one run in which every text from the trace is HOSTILE."""
    name = f"{HOSTILE}/00001"
    mail = Mail(HOSTILE, HOSTILE, "B", 4, START + HOUR_US, "lost", START + HOUR_US)
    fault = Fault(HOSTILE, HOSTILE, START, None, HOSTILE)
    event = Event("B", START + HOUR_US, HOSTILE, HOSTILE)
    found = Found(f"file:/x/{name}#1", HOSTILE, 215, HOSTILE, START + HOUR_US, "")
    topology = {
        "organization": HOSTILE,
        "servers": {HOSTILE: {"site": HOSTILE, "version": HOSTILE}, "B": {"site": "B", "version": "2003"}},
        "connectors": [{"name": HOSTILE, "between": [HOSTILE, "B"], "cost": HOSTILE, "schedule": HOSTILE}],
    }
    run = Run(
        found.trace, START, START + DAY_US, HOSTILE, HOSTILE, {HOSTILE: HOSTILE}, topology, (fault,), {"B": 3}, (found,),
        (Slot(START, {"content": 3}, 1),), HOUR_US,
    )  # fmt: skip
    folder = FolderVerdict(
        name, "1:1", HOSTILE, NOT_CONVERGED, (HOSTILE,), (HOSTILE, "lost at 2003-10-22T00:15:00.004Z")
    )
    result = CheckResult(
        1, 9, {HOSTILE: 1}, {NOT_CONVERGED: 1}, (folder,), (HOSTILE,), (HOSTILE,), 3, _rules(1), 215,
        (RunVerdict(name, NOT_CONVERGED, 1, 1, 0, 215),),
    )  # fmt: skip
    diagram = Diagram(START, (HOSTILE, "B"), (mail,), (event,), (fault,), START + HOUR_US, event)
    matrix = Matrix(name, False, HOSTILE, 0, (HOSTILE,), ((HOSTILE, HOSTILE, (Cell(HOSTILE, "lacks"),)),))
    return Contents(
        result, (run,), ((HOSTILE,),), {(0, 0): diagram}, None, (matrix,), (), ((HOSTILE, 1),),
        (Traffic(HOSTILE, 1, 1, 1, 0, 1, 0),), HOSTILE,
    )  # fmt: skip


def many(traces: int) -> Contents:
    """Return the contents of a check of many runs: one in four is wrong, each of these in its own way."""
    wrong = traces // 4
    violated = [check.id for check in CHECKS]
    lines = tuple(
        Line(
            f"campaign/run-{nth}",
            nth % 3,
            nth % 2,
            0,
            False,
            {violated[(nth * 7 + k) % 90]: 10**k for k in range(nth % 6)},
        )
        for nth in range(60)
    )
    judgements = [NOT_CONVERGED] * (wrong // 2) + [BROKEN] * (wrong - wrong // 2) + [UNKNOWN] * 3
    judgements += [CONVERGED] * (traces - len(judgements))
    runs = tuple(RunVerdict(f"campaign/run-{nth}", judged, 0, 0, 0, 0) for nth, judged in enumerate(judgements))
    told = tuple(
        FolderVerdict(f"campaign/run-{nth}", f"1:{nth}", f"F{nth}", NOT_CONVERGED, ("A", "B"), (f"B lacks A-{nth}",))
        for nth in range(200)
    )
    result = CheckResult(
        traces, traces * 1000, {}, {NOT_CONVERGED: wrong, CONVERGED: traces * 8}, told, rules=_rules(40), violations=9000,
        runs=runs[:2000],
    )  # fmt: skip
    return Contents(result, (), (), {}, arranged(lines, set(violated), wrong, traces), (), (), (), (), "4")


def _rules(violated: int) -> tuple[RuleResult, ...]:
    return tuple(
        RuleResult(
            check.id,
            check.rules,
            9 - nth % 3 * 4,
            215 if nth < violated else 0,
            f"{HOSTILE}: {HOSTILE}" * (nth < violated),
        )
        for nth, check in enumerate(CHECKS)
    )
