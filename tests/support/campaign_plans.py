"""Small campaign plans for tests."""

from __future__ import annotations

from typing import Any

from pflab.campaign.plans import plan as cp
from topology.enums import ResolveMethod
from traces.labtime import HOUR_US, MINUTE_US

DOCUMENT: dict[str, Any] = {
    "servers": {"A": {}, "B": {}, "C": {}},
    "folders": {"F": {"replicas": ["A", "B", "C"], "contacts": ["kim@contoso.test"]}},
}

WORK: tuple[cp.AnyStep, ...] = (
    cp.Post(at_us=5 * MINUTE_US, on="A", folder="F", label="m1", count=3),
    cp.Post(at_us=20 * MINUTE_US, on="B", folder="F", label="m2", associated=True),
    cp.Edit(at_us=HOUR_US, on="B", message="m1.1"),
    cp.Edit(at_us=HOUR_US, on="C", message="m1.1"),
    cp.Delete(at_us=HOUR_US, on="A", message="m1.2"),
    cp.Resolve(at_us=2 * HOUR_US, on="A", message="m1.1", keep="all"),
    cp.CreateFolder(at_us=2 * HOUR_US, on="C", label="g1", title="G", under="F", replicas=("C", "A")),
    cp.Post(at_us=3 * HOUR_US, on="A", folder="g1", label="m3"),
    cp.AddReplica(at_us=3 * HOUR_US, on="A", folder="g1", store="B"),
    cp.RenameFolder(at_us=4 * HOUR_US, on="B", folder="g1", title="H"),
    cp.MoveFolder(at_us=5 * HOUR_US, on="B", folder="g1"),
    cp.ChangeFolder(
        at_us=5 * HOUR_US, on="A", folder="g1", schedule="every 1 h", resolve=ResolveMethod.LAST_WRITER_WINS
    ),
    cp.RemoveReplica(at_us=6 * HOUR_US, on="A", folder="F", store="C"),
    cp.DeleteFolder(at_us=8 * HOUR_US, on="C", folder="g1"),
)
"""Every kind of step that needs no particular organization."""


def plan(*faults: cp.AnyFault, steps: tuple[cp.AnyStep, ...] = WORK, **fields: Any) -> cp.Plan:
    given: dict[str, Any] = {"seed": 1, "length_us": 10 * HOUR_US, "topology": DOCUMENT}
    return cp.Plan(**given | fields, steps=steps, faults=faults)


A_FAULT_OF_EACH_KIND: tuple[cp.AnyFault, ...] = (
    cp.Lose(at_us=0, lasts_us=4 * HOUR_US, from_="A", type="content", count=2),
    cp.Delay(at_us=0, lasts_us=4 * HOUR_US, to="B", by_us=3 * HOUR_US),
    cp.Duplicate(at_us=0, lasts_us=8 * HOUR_US),
    cp.Reorder(at_us=0, lasts_us=8 * HOUR_US, by_us=40 * MINUTE_US),
    cp.Alter(at_us=0, lasts_us=2 * HOUR_US, how="noise", count=5),
    cp.Cut(at_us=0, lasts_us=5 * HOUR_US, between=("A", "B"), one_way=True),
    cp.Hold(at_us=0, lasts_us=5 * HOUR_US, link=("A", "B")),
    cp.Swizzle(at_us=HOUR_US, lasts_us=HOUR_US, stop=("C", "A"), start=("A", "C"), gap_us=10 * MINUTE_US),
    cp.Crash(at_us=0, lasts_us=2 * HOUR_US, server="A", point="before commit", after=1),
    cp.Stall(at_us=HOUR_US, lasts_us=HOUR_US, server="B", commits=True),
    cp.Skew(at_us=0, lasts_us=5 * HOUR_US, server="C", by_us=3 * HOUR_US),
    cp.Kill(at_us=0, lasts_us=5 * HOUR_US, server="B", kill=False),
    cp.Unstamp(at_us=9 * HOUR_US, lasts_us=HOUR_US, server="C"),
)
