"""Motifs of backfill, status and mail: what is lost, late, doubled or altered on its way."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pflab.campaign.plans.motif_builder import (
    ALL_TIMEOUTS,
    ALTERATIONS,
    FIRST_TIMEOUTS,
    Part,
    Stage,
    quick_settings,
)
from pflab.campaign.plans.plan import (
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
from traces.labtime import HOUR_US, MINUTE_US

CYCLE_US = 15 * MINUTE_US

# -- backfill and status


def lost_content(on: Stage) -> list[Part]:
    """Several mails are lost, and the next one tells."""
    on.sketch.settings["Replication Message Size Limit"] = on.draw.choice((1, 1, 4, 300))
    folder = on.folder(on.a, on.b, on.c)
    first = on.post(on.a, folder.label, count=on.draw.choice((1, 8, 12)), size=2_000)
    edit = Edit(at_us=on.at_us + 20 * MINUTE_US, on=on.a, message=first.labels()[0])
    lost = on.lose("content", on.a, on.b, None, HOUR_US)
    return [folder, first, edit, lost, on.post(on.a, folder.label, 90 * MINUTE_US)]


def edited_before_it_went(on: Stage) -> list[Part]:
    """A message is edited in the cycle in which it was posted, and its number goes with a later mail than its neighbours;
    so it does in the answer to one who misses all of them."""
    on.sketch.settings |= {"Replication Message Size Limit": 1, **dict.fromkeys(FIRST_TIMEOUTS, "1 h")}
    folder = on.folder(on.a, on.b, on.c)
    begins_us = -on.at_us % CYCLE_US + MINUTE_US  # all of it in one cycle
    on.sketch.goes_on(on.at_us + HOUR_US)
    first, second = (on.post(on.a, folder.label, begins_us + after * MINUTE_US, size=2_000) for after in (0, 1))
    edit = Edit(at_us=second.at_us + MINUTE_US, on=on.a, message=first.label)
    parts: list[Part] = [folder, first, second, edit]
    if on.c != on.b or on.draw.random() < 0.4:
        parts.append(on.lose("content", on.a, on.b, None, 45 * MINUTE_US))
        parts.append(on.post(on.a, folder.label, 46 * MINUTE_US))
    return parts


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


def satisfied_in_the_queue(on: Stage) -> list[Part]:
    """One slot. A late answer brings what another entry waits for a slot to ask for, and a third entry waits behind it."""
    on.sketch.settings |= {
        "Replication Outstanding Backfill Limit": 1,
        **dict.fromkeys(ALL_TIMEOUTS, "6 h"),
        **dict.fromkeys(FIRST_TIMEOUTS, "30 min"),
    }
    folder, other = on.folder(on.a, on.b), on.folder(on.a, on.b)
    begins_us = -on.at_us % CYCLE_US + MINUTE_US  # what follows is told in terms of cycles
    on.sketch.goes_on(on.at_us + 3 * HOUR_US)
    post, told, told_again = (on.post(on.a, folder.label, begins_us + cycle * CYCLE_US) for cycle in (0, 1, 3))
    behind, behind_told = (on.post(on.a, other.label, begins_us + cycle * CYCLE_US) for cycle in (2, 4))
    edit = Edit(at_us=behind.at_us, on=on.a, message=post.label)
    lost, lost_too = (
        Loss(at_us=each.at_us + 8 * MINUTE_US, lasts_us=CYCLE_US, from_=on.a, to=on.b, type="content")
        for each in (post, edit)
    )
    late = Delay(
        at_us=post.at_us,
        lasts_us=HOUR_US * 2,
        from_=on.a,
        to=on.b,
        type="content response",
        by_us=80 * MINUTE_US,
        count=1,
    )
    return [folder, other, post, lost, told, edit, behind, lost_too, told_again, behind_told, late]


def unclaimed(on: Stage) -> list[Part]:
    """The only store that has what others lack leaves the list; at times its request to leave is not heard for long."""
    if on.c == on.b:
        return []
    folder = on.folder(on.c, on.a, on.b)
    lost = on.lose("content", on.a, None, 2, 35 * MINUTE_US)
    told = on.post(on.a, folder.label, 36 * MINUTE_US)
    leaves = RemoveReplica(at_us=on.at_us + 80 * MINUTE_US, on=on.c, folder=folder.label, store=on.a)
    unheard = [on.lose("status request", on.a, None, None, 30 * HOUR_US)] if on.draw.random() < 0.6 else []
    return [folder, on.post(on.a, folder.label), lost, told, leaves, *unheard]


def back_unheard(on: Stage) -> list[Part]:
    """A store leaves a folder and is back, empty, before another has heard that it left."""
    if on.c == on.b:
        return []
    folder = on.folder(on.c, on.a, on.b)
    at_us = on.at_us + 40 * MINUTE_US
    leaves = RemoveReplica(at_us=at_us, on=on.c, folder=folder.label, store=on.a)
    back = AddReplica(at_us=at_us + 50 * MINUTE_US, on=on.c, folder=folder.label, store=on.a)
    unheard = Loss(at_us=at_us, lasts_us=5 * HOUR_US, from_=on.c, to=on.b, type="hierarchy")
    return [folder, on.post(on.a, folder.label), leaves, back, unheard]


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


def near_source(on: Stage) -> list[Part]:
    """What two stores of a site miss is far away; one asks soon, and the other, which waits for long, hears that it has it."""
    far = _near_and_far(on)
    if far is None:
        return []
    source, asks_soon, waits = far
    on.sketch.settings |= {**dict.fromkeys(ALL_TIMEOUTS, "6 h"), "Replication Short Backfill Request Timeout": "30 min"}
    on.sketch.store_settings.setdefault(asks_soon, {})["Replication Long Backfill Request Timeout"] = "20 min"
    begins_us = -on.at_us % CYCLE_US + MINUTE_US  # what follows is told in terms of cycles
    folder = replace(on, a=source).folder(source, asks_soon, waits)
    first, told = (on.post(source, folder.label, begins_us + cycle * CYCLE_US) for cycle in (0, 3))
    lost = on.lose("content", source, None, 1, 5 * HOUR_US)  # one mail goes to the other site, for both
    # Twice, for on some links the answer takes hours.
    tells = [on.post(asks_soon, folder.label, begins_us + cycle * CYCLE_US) for cycle in (9, 22)]
    on.sketch.goes_on(tells[-1].at_us + HOUR_US)
    return [folder, first, lost, told, *tells]


def _near_and_far(on: Stage) -> tuple[str, str, str] | None:
    """A store, and two of another site; None where there are none."""
    site = {store: on.sketch.topology.servers[store].site for store in on.sketch.stores}
    pairs = [(one, two) for one in site for two in site if one != two and site[one] == site[two]]
    triples = [(far, *pair) for pair in pairs for far in site if site[far] != site[pair[0]]]
    return on.draw.choice(triples) if triples else None


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
    post = on.post(on.a, folder.label)
    edit = Edit(at_us=on.at_us + 20 * MINUTE_US, on=on.a, message=post.label)
    return [folder, slow, post, on.draw.choice((edit, edit, on.post(on.a, folder.label, 20 * MINUTE_US)))]


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


def one_item_unreadable(on: Stage) -> list[Part]:
    """Of several items in a mail one cannot be decoded."""
    folder = on.folder(on.a, on.b, on.c)
    bad = Corruption(at_us=on.at_us, lasts_us=HOUR_US, from_=on.a, to=on.b, type="content", count=1, how="item")
    return [folder, bad, on.post(on.a, folder.label, count=3), on.post(on.a, folder.label, 90 * MINUTE_US)]


def altered(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b)
    how: Literal["flip", "cut", "noise"] = on.draw.choice(ALTERATIONS)
    bad = Corruption(at_us=on.at_us, lasts_us=HOUR_US, from_=on.a, to=on.b, type="content", count=1, how=how)
    return [folder, bad, on.post(on.a, folder.label), on.post(on.a, folder.label, 90 * MINUTE_US)]
