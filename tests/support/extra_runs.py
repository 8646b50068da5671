"""Runs that end badly or lose something, and so are no scenarios of the suite; they are played as scenarios are."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pflab.faults.fault import Lose, Skew, Stall
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulator import Simulator
from tests.support.scenario_traces import play_scenario
from tests.support.trace_faults import nth, read_trace, write_trace
from topology.file.load import topology_from_text
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

_BEGINNING = """
title: {title}
topology:
  organization: Contoso
  domain: contoso.test
  start: 2003-10-21T00:00Z
"""

_HEAD = (
    _BEGINNING
    + """\
  sites: [SEA]
  servers: {{A: {{site: SEA{settings}}}, B: {{site: SEA}}, C: {{site: SEA}}}}
  folders: {{Projects: {{replicas: [A, B, C]}}}}
steps:
"""
)

# The new number is the one that others have for another post: equal sets of numbers, unequal contents (RP-4, CN-1).
_REISSUED = """
  - post: {on: A, folder: Projects, subject: Before}
  - advance: 20 min
  - backup: {on: A, as: nightly}
  - post: {on: A, folder: Projects, subject: After}
  - advance: 15 min
  - restore: {on: A, backup: nightly}
  - post: {on: A, folder: Projects, subject: Anew}
  - advance: 3 d
"""
# What nobody else had goes with the store (DU-1).
_GONE = """
  - backup: {on: A, as: nightly}
  - post: {on: A, folder: Projects, subject: Gone}
  - advance: 1 min
  - restore: {on: A, backup: nightly}
  - advance: 3 d
"""
# A post is missed and a view comes, in whose set the post's number is a hole that A has closed (CN-6, CN-9).
_HOLE_OF_A_POST = """
  - lose: {from: A, to: B, type: content, count: 1}
  - post: {on: A, folder: Projects, subject: Post}
  - advance: 20 min
  - post: {on: A, folder: Projects, subject: View, associated: true}
  - advance: 15 min
  - post: {on: B, folder: Projects, subject: Other}
  - advance: 3 d
"""

_AWAY = (
    _BEGINNING
    + """\
  sites: [SEA, NYC]
  connectors: [{{between: [SEA, NYC], cost: 10}}]
  settings: {settings}
  servers:
    A: {{site: NYC, settings: {{Age Limit: 1 h, Replication Expiry: 1 h, Maintenance Schedule: always}}}}
    B: {{site: {near}}}
    C: {{site: {home}}}
  folders: {{Projects: {{replicas: [A, B]}}}}
steps:
"""
)
# B hears from A that the item has expired there, and accounts for it. C then hears from B only that B accounts for it (DL-3).
_EXPIRED = """
  - lose: {from: A, to: B, type: content, count: 1}
  - post: {on: A, folder: Projects, subject: Short}
  - advance: 3 d
  - replica: {folder: Projects, add: C, on: B}
  - advance: 4 d
"""
# A no longer has the record that the item expired, and tells C only that it accounts for it; B still has the item (DL-3).
_FORGOTTEN = """
  - post: {on: A, folder: Projects, subject: Short}
  - advance: 3 d
  - replica: {folder: Projects, add: C, on: B}
  - advance: 4 d
"""
# Nothing says which lists A knew before it was restored (RP-6).
_FORCED = """
  - backup: {on: A, as: nightly}
  - advance: 1 h
  - restore: {on: A, backup: nightly}
  - advance: 1 d
  - stop: C
  - directory: {delete: C, on: A, force: true}
  - advance: 3 d
"""
# C is deleted while it waits for a change, and a list that A makes at the same time still names it (RP-6).
_DELETED = """
  - lose: {from: A, to: C, type: content, count: 1}
  - post: {on: A, folder: Projects, subject: Missed}
  - advance: 20 min
  - post: {on: A, folder: Projects, subject: Arrived}
  - advance: 20 min
  - folder: {on: B, create: News, replicas: [C, B]}
  - stop: C
  - directory: {delete: C, on: A, force: true}
  - advance: 3 d
"""
# C breaks down with the lists of all folders on it, and is deleted. The suite has the same in 2,900 events.
_ORPHAN = """
  - post: {on: A, folder: Projects, subject: Hello}
  - advance: 20 min
  - kill: C
  - directory: {delete: C, on: A, force: true}
  - advance: 1 d
"""
# A is killed before it asks for statuses, and asks a day and a half later (RP-1).
_KILLED = """
  - advance: 2 min
  - folder: {on: A, create: News, replicas: [A, B]}
  - kill: A
  - advance: 36 h
  - start: A
  - advance: 3 d
"""
# B's new post comes to C after C has asked whether it may leave. The answer comes from A, which lacks this post. B lacks the
# old post (RP-2).
_LEAVING = """
  - lose: {from: C, to: B, type: content, count: 1}
  - post: {on: C, folder: Projects, subject: Old}
  - advance: 20 min
  - lose: {from: B, to: A, type: content, count: 1}
  - delay: {from: A, to: B, type: hierarchy, count: 1, by: 1 min}
  - post: {on: B, folder: Projects, subject: New}
  - replica: {folder: Projects, remove: C, on: A}
  - advance: 3 d
"""
# Moved lies below a deleted folder in one of its versions, so nothing says what must exist in it. The item has expired on A,
# and B accounts for it (CV-2, DL-3).
_DOUBTFUL = """
  - folder: {on: A, create: Moved, replicas: [A]}
  - advance: 1 h
  - folder: {on: A, move: Moved, under: Projects}
  - advance: 1 h
  - folder: {on: A, move: Projects/Moved, under: /}
  - advance: 1 h
  - folder: {on: B, delete: Projects}
  - post: {on: A, folder: Moved, subject: Short}
  - advance: 1 d
  - replica: {folder: Moved, add: B, on: A}
  - advance: 2 d
"""
# The run ends before B requests the lost item.
_DOUBTFUL_AND_LOST = (
    _DOUBTFUL
    + """\
  - lose: {from: A, to: B, type: content, count: 1}
  - post: {on: A, folder: Moved, subject: Lost}
  - advance: 20 min
"""
)
# The run ends while one mail waits in a queue, before the next broadcast, and before a store requests what it lacks.
_EARLY = """
  - lose: {from: A, to: C, type: content, count: 1}
  - hold: {from: A, to: B, lasts: 2 h}
  - post: {on: A, folder: Projects, subject: Sent}
  - advance: 20 min
  - post: {on: A, folder: Projects, subject: Next}
  - advance: 15 min
  - post: {on: A, folder: Projects, subject: Last}
  - advance: 1 min
"""
_PURGED = """
  - queue: {on: A, order: freeze, next_hop: B}
  - post: {on: A, folder: Projects, subject: Sent}
  - advance: 16 min
  - queue: {on: A, order: delete, type: content}
  - advance: 1 min
"""
# A reads the registry when it starts, so it prefers C until then, and nobody afterwards (BF-7, SE-1).
_PREFERRED = """
  - lose: {from: B, to: A, type: content, count: 1}
  - post: {on: B, folder: Projects, subject: First}
  - advance: 16 min
  - post: {on: C, folder: Projects, subject: Reveals}
  - advance: 16 min
  - settings: {on: A, set: {Preferred Backfill Source: null}}
  - advance: 7 h
  - stop: A
  - start: A
  - lose: {from: B, to: A, type: content, count: 1}
  - post: {on: B, folder: Projects, subject: Second}
  - advance: 16 min
  - post: {on: C, folder: Projects, subject: Reveals again}
  - advance: 3 d
"""

# D, outside the site, has a part of what B of version 2000 lacks. B waits 48 hours before it asks A for the rest (BF-3).
_PARTS = (
    _BEGINNING.format(title="Parts")
    + """\
  sites: [SEA, NYC]
  connectors: [{between: [SEA, NYC], cost: 10}]
  servers: {A: {site: SEA}, B: {site: SEA, version: "2000"}, C: {site: SEA}, D: {site: NYC, version: "5.5"}}
  folders: {Projects: {replicas: [A, B, C, D]}}
steps:
  - lose: {from: C, to: B, type: content}
  - lose: {from: C, to: D, type: content, count: 1}
  - post: {on: C, folder: Projects, subject: One}
  - advance: 16 min
  - lose: {from: C, to: A, type: content, count: 1}
  - post: {on: C, folder: Projects, subject: Two}
  - advance: 15 min
  - post: {on: C, folder: Projects, subject: Three}
  - advance: 15 min
  - kill: C
  - post: {on: A, folder: Projects, subject: From A}
  - advance: 15 min
  - post: {on: D, folder: Projects, subject: From D}
  - advance: 3 d
  - start: C
  - heal: all
  - advance: 4 d
"""
)

SCENARIOS = {
    "parts": _PARTS,
    "preferred": _HEAD.format(title="Preferred", settings=", settings: {Preferred Backfill Source: C}") + _PREFERRED,
    "reissued": _HEAD.format(title="Reissued", settings=', settings: {New Replica GUID On Restore: "0"}') + _REISSUED,
    "early": _HEAD.format(title="Early", settings="") + _EARLY,
    "purged": _HEAD.format(title="Purged", settings="") + _PURGED,
    "gone": _HEAD.format(title="Gone", settings="") + _GONE,
    "expired": _AWAY.format(title="Expired", settings="{}", near="SEA", home="SEA") + _EXPIRED,
    "forgotten": _AWAY.format(
        title="Forgotten", settings="{Replication Folder Tombstone Age Limit: 1 d}", near="SEA", home="NYC"
    )
    + _FORGOTTEN,
    "forced": _HEAD.format(title="Forced", settings="") + _FORCED,
    "deleted": _HEAD.format(title="Deleted", settings="") + _DELETED,
    "orphan": _HEAD.format(title="Orphan", settings="") + _ORPHAN,
    "killed": _HEAD.format(title="Killed", settings="") + _KILLED,
    "hole": _HEAD.format(title="Hole", settings="") + _HOLE_OF_A_POST,
    "leaving": _HEAD.format(title="Leaving", settings="") + _LEAVING,
    "doubtful": _AWAY.format(title="Doubtful", settings="{}", near="SEA", home="SEA") + _DOUBTFUL,
    "doubtful-and-lost": _AWAY.format(title="Doubtful and lost", settings="{}", near="SEA", home="SEA")
    + _DOUBTFUL_AND_LOST,
}


def write_extra_runs(place: Path) -> None:
    """Write `place/<name>/traces` of each run."""
    place.mkdir(parents=True)
    for name, text in SCENARIOS.items():
        file = place / f"{name}.yaml"
        file.write_text(text, encoding="utf-8")
        play_scenario(file, place)
    asyncio.run(_play_late(place / "late"))
    asyncio.run(play_reorganized(place / "reorganized"))
    # A broadcasts 20 minutes late, four days after the end of the skew of its clock.
    trace = read_trace(place / "late" / "traces")
    nth(trace, "mail.submitted", -1, where=lambda e: e["node"] == "A" and e["message_type"] == 2)["at"] += (
        20 * MINUTE_US
    )
    write_trace(place / "later" / "traces", trace)


async def _play_late(place: Path) -> None:
    """Play what comes late: B is silent when its cycle is due, at 00:15, and when statuses are due a day later, at 12:15; the
    clock of A jumps from 00:40 to 00:50 (OUT-1, ST-1)."""
    topology = topology_from_text(
        "servers: {A: , B: }\nfolders: {Projects: {replicas: [A, B], schedule: always}}\nstart: 2003-10-21T00:00Z\n"
    )
    async with Simulator(topology, seed=1, folder=RunFolder.at(place)) as lab:
        for name in ("B", "A"):
            await lab.do(name, lambda node, now: node.post(now, "Projects", subject="Late"))
            await lab.do(name, lambda node, now: node.create_folder(now, f"Late on {node.name}", replicas=["A", "B"]))
            await lab.advance(lab.now + 10 * MINUTE_US)
            if name == "B":
                lab.faults.inject(Stall(server=name, lasts="10 min"))
            else:
                lab.faults.inject(Skew(server=name, by="10 min"))
            await lab.advance(lab.now + 20 * MINUTE_US)
            lab.faults.heal()
        start_at = lab.now // DAY_US * DAY_US
        await lab.advance(start_at + 36 * HOUR_US + 10 * MINUTE_US)
        lab.faults.inject(Stall(server="B", lasts="10 min"))
        await lab.advance(lab.now + 20 * MINUTE_US)
        lab.faults.heal()
        await lab.advance(lab.now + 2 * DAY_US)
        await lab.do("A", lambda node, now: node.create_folder(now, "In time", replicas=["A", "B"]))
        await lab.advance(lab.now + 3 * DAY_US)


_REORGANIZED = """
start: 2003-10-21T00:00Z
sites: [SEA, NYC, LON]
connectors: [{between: [SEA, NYC], cost: 10}, {between: [NYC, LON], cost: 10}]
servers: {A: {site: SEA}, B: {site: NYC}, C: {site: LON}, D: {site: LON, joins: later}, E: {site: SEA, version: "2000"}}
folders: {Projects: {replicas: [A, B, C, E], schedule: always}}
"""


async def play_reorganized(place: Path) -> None:
    """Play a run in which connectors are changed, added and removed while mails wait and cross them. B does not run at some of
    the changes, D joins after some, and A and E ask for what they lack, before and after a change of the costs. F is added in a
    site that is added, joins before a connector leads there, and gets a replica (RT-6). E goes back to a backup from before the
    last change (RP-4)."""
    topology = topology_from_text(_REORGANIZED)
    async with Simulator(topology, seed=1, folder=RunFolder.at(place)) as lab:

        async def post(name: str, subject: str) -> None:
            await lab.do(name, lambda node, now: node.post(now, "Projects", subject=subject))

        async def wait(minutes: int) -> None:
            await lab.advance(lab.now + minutes * MINUTE_US)

        async def lack(subject: str) -> None:
            for name in ("A", "E"):
                lab.faults.inject(Lose(from_="C", to=name, type="content", count=1))
            await post("C", subject)
            await wait(20)
            await post("C", f"After {subject}")
            await wait(40)

        await post("A", "Before")
        await lack("Lost before")
        await lab.change_connector("SEA-NYC", cost=20, affinity=5)
        await lab.stop("B")
        await post("C", "Waits for B")
        await wait(30)
        await lab.add_connector("direct", between=["SEA", "LON"], cost=5, bandwidth="9.6 kbit/s")
        await wait(30)
        await lab.start("B")
        await lab.start("D")
        await lack("Lost after")
        await wait(2 * 1440)
        await post("C", "Crosses")
        await wait(15)
        await lab.change_connector("direct", cost=7, bandwidth="none", latency="5 min")
        await post("A", "Moved")
        await wait(16)
        await lab.remove_connector("direct")
        await wait(30)
        await lab.add_site("PAR")
        await lab.add_server("F", site="PAR", version="2007", settings={"Age Limit": "90 d"})
        await lab.start("F")
        await wait(30)
        await lab.add_connector("SEA-PAR", between=["SEA", "PAR"], cost=3)
        await wait(1440)
        holders = ["A", "B", "C", "D", "E", "F"]
        await lab.do("A", lambda node, now: node.change_folder(now, "Projects", replicas=holders))
        await wait(2 * 1440)
        await post("F", "From Paris")
        backup = await lab.backup("E")
        await lab.change_connector("SEA-PAR", cost=4)
        await wait(60)
        await lab.restore("E", backup)
        await wait(4 * 1440)
