"""Motifs of backfill, status and mail: what is lost, late, doubled or altered on its way."""

from __future__ import annotations

from typing import Literal

from pflab.campaign_plan import (
    AddReplica,
    Corruption,
    Delay,
    DeleteFolder,
    Duplication,
    Edit,
    Loss,
    Partition,
    Post,
    RemoveReplica,
    Reordering,
)
from pflab.campaign_stage import ALTERATIONS, Part, Stage, quick_settings
from traces.labtime import HOUR_US, MINUTE_US

# -- backfill and status


def lost_content(on: Stage) -> list[Part]:
    """Several mails are lost, and the next one tells."""
    on.sketch.settings["Replication Message Size Limit"] = on.draw.choice((1, 1, 4, 300))
    folder = on.folder(on.a, on.b, on.c)
    first = on.post(on.a, folder.label, count=on.draw.choice((1, 8, 12)), size=2_000)
    edit = Edit(at_us=on.at_us + 20 * MINUTE_US, on=on.a, message=first.labels()[0])
    lost = on.lose("content", on.a, on.b, None, HOUR_US)
    return [folder, first, edit, lost, on.post(on.a, folder.label, 90 * MINUTE_US)]


def silent_source(on: Stage) -> list[Part]:
    on.sketch.settings |= quick_settings(on.draw)
    folder = on.folder(on.a, on.b)
    lost = on.lose("content", on.a, on.b, 1, HOUR_US)
    unasked = on.lose("backfill request", on.b, None, on.draw.choice((1, 2)), 30 * HOUR_US)
    return [folder, on.post(on.a, folder.label), lost, unasked, on.post(on.a, folder.label, 90 * MINUTE_US)]


def few_slots(on: Stage) -> list[Part]:
    on.sketch.settings["Replication Outstanding Backfill Limit"] = on.draw.choice((1, 2))
    folders = [on.folder(on.a, on.b) for _ in range(3)]
    lost = on.lose("content", on.a, on.b, None, HOUR_US)
    posts = [on.post(on.a, folder.label, after_us) for folder in folders for after_us in (0, 90 * MINUTE_US)]
    return [*folders, lost, *posts]


def several_sources(on: Stage) -> list[Part]:
    """What a store misses is all at one source, but a part of it at one that is asked before."""
    if on.c == on.b:
        return []
    on.sketch.settings |= quick_settings(on.draw)
    on.sketch.store_settings.setdefault(on.b, {})["Preferred Backfill Source"] = on.a
    folder = on.folder(on.a, on.b, on.c)
    return [
        folder,
        on.post(on.a, folder.label),
        on.post(on.c, folder.label),
        on.lose("content", on.a, on.b, 1, HOUR_US),
        on.lose("content", on.c, None, None, HOUR_US),
        on.post(on.c, folder.label, 90 * MINUTE_US),
        on.post(on.a, folder.label, 100 * MINUTE_US),
    ]


def unheard_status(on: Stage) -> list[Part]:
    on.sketch.settings |= quick_settings(on.draw)
    folder = on.folder(on.a, on.b)
    post = on.post(on.a, folder.label)
    return [folder, post, on.lose("content", on.a, on.b, 1, HOUR_US), on.lose("status", on.a, on.b, 2, 30 * HOUR_US)]


def unheard_request(on: Stage) -> list[Part]:
    on.sketch.settings |= quick_settings(on.draw)
    folder = on.folder(on.a)
    add = AddReplica(at_us=on.at_us, on=on.a, folder=folder.label, store=on.b)
    lost = [on.lose("status request", one, other, 2, 10 * HOUR_US) for one, other in ((on.a, on.b), (on.b, on.a))]
    return [folder, on.post(on.a, folder.label), add, *lost]


def deleted_while_missing(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b)
    told = on.post(on.a, folder.label, 90 * MINUTE_US)
    deletion = DeleteFolder(at_us=told.at_us + HOUR_US, on=on.a, folder=folder.label)
    return [folder, on.post(on.a, folder.label), on.lose("content", on.a, on.b, 1, HOUR_US), told, deletion]


def asked_when_gone(on: Stage) -> list[Part]:
    """A store asks one that holds the folder no more, which it has not heard yet."""
    if on.c == on.b:
        return []
    on.sketch.settings |= quick_settings(on.draw)
    on.sketch.store_settings.setdefault(on.b, {})["Preferred Backfill Source"] = on.a
    folder = on.folder(on.c, on.a, on.b)
    leaves = RemoveReplica(at_us=on.at_us, on=on.c, folder=folder.label, store=on.a)
    unheard = Delay(at_us=on.at_us, lasts_us=3 * HOUR_US, to=on.b, type="hierarchy", by_us=6 * HOUR_US)
    first = Post(at_us=on.at_us - 80 * MINUTE_US, on=on.a, folder=folder.label, label=on.sketch.label("m"))
    told = Post(at_us=on.at_us - 20 * MINUTE_US, on=on.a, folder=folder.label, label=on.sketch.label("m"))
    lost = Loss(at_us=first.at_us, lasts_us=50 * MINUTE_US, from_=on.a, to=on.b, type="content")
    return [folder, first, lost, told, unheard, leaves]


# -- mail


def overtaken(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b)
    slow = Reordering(
        at_us=on.at_us, lasts_us=3 * HOUR_US, from_=on.a, to=on.b, type="content", by_us=40 * MINUTE_US, count=1
    )
    return [folder, slow, on.post(on.a, folder.label), on.post(on.a, folder.label, 20 * MINUTE_US)]


def doubled(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b)
    twice = Duplication(at_us=on.at_us, lasts_us=20 * HOUR_US, from_=None, to=None, type=None, count=6)
    lost = on.lose("content", on.a, on.b, 1, HOUR_US)
    return [folder, lost, twice, on.post(on.a, folder.label), on.post(on.a, folder.label, 90 * MINUTE_US)]


def expired(on: Stage) -> list[Part]:
    on.sketch.settings["MTA Expiry Normal"] = "30 min"
    folder = on.folder(on.a, on.b)
    cut = Partition(at_us=on.at_us, lasts_us=5 * HOUR_US, between=(on.a, on.b))
    return [folder, cut, on.post(on.a, folder.label, 5 * MINUTE_US)]


def altered(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b)
    how: Literal["flip", "cut", "noise"] = on.draw.choice(ALTERATIONS)
    bad = Corruption(at_us=on.at_us, lasts_us=HOUR_US, from_=on.a, to=on.b, type="content", count=1, how=how)
    return [folder, bad, on.post(on.a, folder.label), on.post(on.a, folder.label, 90 * MINUTE_US)]
