"""Motifs of stores and replicas that come and go: backups, long absences, leaving and coming back, joining late."""

from __future__ import annotations

from dataclasses import replace

from pflab.campaign.plans.motif_builder import FIRST_TIMEOUTS, TOLD_US, Part, Stage, quick_settings
from pflab.campaign.plans.plan import (
    AddReplica,
    Delete,
    DeleteFolder,
    Edit,
    Gone,
    MoveFolder,
    Post,
    RemoveReplica,
    RenameFolder,
    Restore,
)
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

TOMBSTONE_DAYS = 1
"""The shortest that a store takes (DL-4); a plan with it need not go on for half a year."""

FEW = 5
"""Days of a larger lab cost as much as many plans of another kind."""


def early(on: Stage) -> Stage:
    """Where a motif has days to go on for."""
    return replace(on, at_us=2 * HOUR_US + on.draw.choice((0, 90, 300)) * MINUTE_US)


def short_memory(on: Stage, lasts_us: int) -> None:
    """Tombstones of a day, at times on one store alone, in a plan that goes on for so long after the motif begins."""
    name = "Replication Folder Tombstone Age Limit"
    if on.draw.random() < 0.7:
        on.sketch.settings[name] = TOMBSTONE_DAYS
    else:
        on.sketch.store_settings.setdefault(on.draw.choice((on.a, on.b)), {})[name] = TOMBSTONE_DAYS
    # Each mail for a store that is away for days is tried over and over again: that many times are enough.
    on.sketch.settings["MTA Retry Interval Normal"] = "1 h"
    on.sketch.goes_on(on.at_us + lasts_us)


# -- backups


def restored(on: Stage) -> list[Part]:
    """What was broadcast since the backup comes back from others; what was not is gone with it."""
    if on.draw.random() < 0.7:
        on.sketch.settings |= quick_settings(on.draw)
    folder = on.folder(on.a, on.b, on.c)
    lasts_us = on.draw.choice((2 * HOUR_US, 5 * HOUR_US))
    first = on.post(on.a, folder.label)
    back = Restore(at_us=on.at_us + TOLD_US, lasts_us=lasts_us, server=on.a, dead_us=on.draw.choice((0, HOUR_US)))
    last_us = back.at_us + back.lasts_us - back.dead_us
    parts: list[Part] = [
        folder,
        first,
        back,
        on.post(on.a, folder.label, TOLD_US + 5 * MINUTE_US),
        Edit(at_us=back.at_us + 40 * MINUTE_US, on=on.draw.choice((on.a, on.b)), message=first.label),
        Post(at_us=last_us - MINUTE_US, on=on.a, folder=folder.label, label=on.sketch.label("m")),
        RenameFolder(at_us=last_us - MINUTE_US, on=on.a, folder=folder.label, title=on.sketch.label("R")),
        Post(at_us=back.at_us + lasts_us + MINUTE_US, on=on.a, folder=folder.label, label=on.sketch.label("m")),
    ]
    on.sketch.goes_on(back.at_us + lasts_us + 2 * HOUR_US)
    return parts


def asked_after_restore(on: Stage) -> list[Part]:
    """A source went back to a backup from before what it is asked for, and the asker has not heard of that."""
    if on.c == on.b:
        return []
    on.sketch.settings |= quick_settings(on.draw) | dict.fromkeys(FIRST_TIMEOUTS, "1 h")
    on.sketch.store_settings.setdefault(on.c, {})["Preferred Backfill Source"] = on.b
    folder = on.folder(on.a, on.b, on.c)
    back = Restore(at_us=on.at_us, lasts_us=HOUR_US, server=on.b)
    unheard = on.lose("status request", on.b, on.c, None, 3 * HOUR_US)
    return [
        folder,
        back,
        on.post(on.a, folder.label, MINUTE_US),
        on.lose("content", on.a, on.c, 1, 35 * MINUTE_US),
        on.post(on.b, folder.label, 18 * MINUTE_US),
        unheard,
    ]


def old_backup(on: Stage) -> list[Part]:
    """The backup is older than a tombstone gets, or nearly so: what was deleted since must not come back."""
    if len(on.sketch.stores) > FEW:
        return []
    on = early(on)
    lasts_us = on.draw.choice((20, 23, 26, 40)) * HOUR_US
    short_memory(on, lasts_us + 4 * HOUR_US)
    folder = on.folder(on.a, on.b, on.c)
    kept, gone = on.post(on.a, folder.label), on.post(on.b, folder.label)
    back = Restore(at_us=on.at_us + TOLD_US, lasts_us=lasts_us, server=on.b)
    return [
        folder,
        kept,
        gone,
        back,
        Delete(at_us=back.at_us + HOUR_US, on=on.draw.choice((on.a, on.b)), message=gone.label),
        Post(at_us=back.at_us + lasts_us + HOUR_US, on=on.b, folder=folder.label, label=on.sketch.label("m")),
    ]


# -- absences


def long_gone(on: Stage) -> list[Part]:
    """A store is away for longer than a tombstone lives, and has what was deleted meanwhile."""
    if len(on.sketch.stores) > FEW:
        return []
    on = early(on)
    lasts_us = on.draw.choice((26, 30, 50)) * HOUR_US
    short_memory(on, lasts_us + 5 * HOUR_US)
    folder, other = on.folder(on.a, on.b, on.c), on.folder(on.a, on.b)
    kept, gone = on.post(on.b, folder.label), on.post(on.a, folder.label)
    at_us = on.at_us + TOLD_US
    return [
        folder,
        other,
        kept,
        gone,
        Gone(at_us=at_us, lasts_us=lasts_us, server=on.b, kill=on.draw.random() < 0.5),
        Delete(at_us=at_us + HOUR_US, on=on.a, message=gone.label),
        DeleteFolder(at_us=at_us + HOUR_US, on=on.a, folder=other.label),
    ]


def hidden_for_long(on: Stage) -> list[Part]:
    """A folder under a deleted one outlives the other's tombstone, which must stay for it."""
    if len(on.sketch.stores) > FEW:
        return []
    on = early(on)
    short_memory(on, 2 * DAY_US)
    upper, lower = on.folder(on.a, on.b), on.folder(on.a, on.b, on.c)
    return [
        upper,
        lower,
        on.post(on.b, lower.label),
        DeleteFolder(at_us=on.at_us + HOUR_US, on=on.a, folder=upper.label),
        MoveFolder(at_us=on.at_us + HOUR_US, on=on.b, folder=lower.label, under=upper.label),
    ]


# -- replicas


def leaves_and_returns(on: Stage) -> list[Part]:
    """A store leaves with something unsent, comes back empty, and numbers what it makes on from there."""
    folder = on.folder(on.b, on.a)
    away_us = on.draw.choice((20 * MINUTE_US, 2 * HOUR_US, 5 * HOUR_US))
    leaves_us = on.at_us + 40 * MINUTE_US
    last = Post(at_us=leaves_us - MINUTE_US, on=on.a, folder=folder.label, label=on.sketch.label("m"))
    leaves = RemoveReplica(at_us=leaves_us, on=on.a, folder=folder.label, store=on.a)
    back = AddReplica(at_us=leaves_us + away_us, on=on.b, folder=folder.label, store=on.a)
    again = Post(at_us=back.at_us + 40 * MINUTE_US, on=on.a, folder=folder.label, label=on.sketch.label("m"))
    on.sketch.goes_on(again.at_us + HOUR_US)
    return [folder, on.post(on.a, folder.label), last, leaves, back, again]


def joins_and_holds(on: Stage) -> list[Part]:
    """A store that joins late is made a holder, before it joins or after."""
    if not on.sketch.late:
        return []
    store = on.draw.choice(on.sketch.late)
    folder = on.folder(on.a, on.b)
    add = AddReplica(at_us=on.at_us + HOUR_US, on=on.a, folder=folder.label, store=store)
    return [folder, on.post(on.a, folder.label), add]
