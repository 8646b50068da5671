"""Motifs of what one version alone does, of age limits that empty all sources, and of content that stands still."""

from __future__ import annotations

from dataclasses import replace

from pflab.campaign.plans.motif_builder import ALL_TIMEOUTS, FIRST_TIMEOUTS, Part, Stage
from pflab.campaign.plans.plan import AddReplica, Delay, DeleteStore, Loss, ResumeContent, SuspendContent
from traces.labtime import HOUR_US, MINUTE_US

ENOUGH_FOR_THE_OLDEST = 5
"""Three responders are found by steps and the oldest replica's holder is a fourth; with the asker they are five."""


def near_older(on: Stage) -> list[Part]:
    """What a 2000 server misses a 5.5 server next door has, and so has a newer one far away, which is asked."""
    site = {store: on.sketch.topology.servers[store].site for store in on.sketch.stores}
    triples = [
        (asker, near, far)
        for asker in site
        for near in site
        for far in site
        if asker != near and site[asker] == site[near] != site[far]
    ]
    if not triples:
        return []
    asker, near, far = on.draw.choice(triples)
    on.sketch.versions |= {asker: "2000", near: "5.5", far: on.draw.choice(("2000", "2003", "2007"))}
    on.sketch.settings |= dict.fromkeys(FIRST_TIMEOUTS, "1 h")
    folder = replace(on, a=near).folder(near, asker, far)
    told = [on.post(far, folder.label, 80 * MINUTE_US), on.post(near, folder.label, 85 * MINUTE_US)]
    on.sketch.goes_on(on.at_us + 5 * HOUR_US)
    return [folder, on.post(near, folder.label), on.lose("content", near, asker, 1, 40 * MINUTE_US), *told]


def parts_in_turn(on: Stage) -> list[Part]:
    """Two holders have a part each of what a 2000 server misses, and neither has all of it."""
    if on.c == on.b:
        return []
    on.sketch.versions[on.b] = "2000"
    on.sketch.settings |= dict.fromkeys(ALL_TIMEOUTS, "12 h")
    on.sketch.store_settings.setdefault(on.b, {}).update(dict.fromkeys(FIRST_TIMEOUTS, "45 min"))
    folder = on.folder(on.a, on.b, on.c)
    firsts = [on.post(store, folder.label) for store in (on.a, on.c)]
    lost = [on.lose("content", store, None, None, 40 * MINUTE_US) for store in (on.a, on.c)]
    tells = [on.post(store, folder.label, 50 * MINUTE_US) for store in (on.a, on.c)]
    on.sketch.goes_on(on.at_us + 4 * HOUR_US)
    return [folder, *firsts, *lost, *tells]


def oldest_replica(on: Stage) -> list[Part]:
    """The oldest replica of a folder is on a server of 5.5, which no step finds before the newer ones beside it; then a 2000
    server is made a holder."""
    stores = list(on.sketch.stores)
    if len(stores) < ENOUGH_FOR_THE_OLDEST:
        return []
    site = {store: on.sketch.topology.servers[store].site for store in stores}
    home = max(site.values(), key=lambda each: (list(site.values()).count(each), each))
    stores.sort(key=lambda store: site[store] != home)  # those of the largest site first
    oldest, asker, *others = stores[:ENOUGH_FOR_THE_OLDEST]
    on.sketch.versions |= {oldest: "5.5", asker: "2000"}
    on.sketch.versions |= {store: on.draw.choice(("2000", "2003", "2007")) for store in others}
    folder = replace(on, a=oldest).folder(oldest)
    adds = [
        AddReplica(at_us=on.at_us + index * 20 * MINUTE_US, on=oldest, folder=folder.label, store=store)
        for index, store in enumerate((*others, asker))
    ]
    on.sketch.goes_on(adds[-1].at_us + 4 * HOUR_US)
    return [folder, on.post(oldest, folder.label), *adds]


def expired_everywhere(on: Stage) -> list[Part]:
    """What a store misses is older than the limit of its only source by the time that it asks."""
    on.sketch.store_settings.setdefault(on.a, {}).update(
        {"Age Limit": "1 h", "Replication Expiry": "1 h", "Maintenance Schedule": "always"}
    )
    on.sketch.store_settings.setdefault(on.b, {}).update(dict.fromkeys(FIRST_TIMEOUTS, "6 h"))
    folder = on.folder(on.a, on.b)
    lost = on.lose("content", on.a, on.b, 1, 40 * MINUTE_US)
    on.sketch.goes_on(on.at_us + 9 * HOUR_US)
    return [folder, on.post(on.a, folder.label), lost, on.post(on.a, folder.label, 50 * MINUTE_US)]


def asked_while_suspended(on: Stage) -> list[Part]:
    """Content stands still on a source of 2003 or 2007, and one of 2000 that knows nothing of it asks."""
    on.sketch.versions |= {on.a: on.draw.choice(("2003", "2007")), on.b: "2000"}
    on.sketch.settings |= dict.fromkeys(FIRST_TIMEOUTS, "1 h")
    folder = on.folder(on.a, on.b)
    lost = on.lose("content", on.a, on.b, 1, 40 * MINUTE_US)
    still = SuspendContent(at_us=on.at_us + 75 * MINUTE_US)
    goes_on = ResumeContent(at_us=still.at_us + on.draw.choice((2, 4, 7)) * HOUR_US)
    unsent = on.post(on.a, folder.label, 90 * MINUTE_US)
    on.sketch.goes_on(goes_on.at_us + HOUR_US)
    return [
        folder,
        on.post(on.a, folder.label),
        lost,
        on.post(on.a, folder.label, 50 * MINUTE_US),
        still,
        unsent,
        goes_on,
    ]


def still_in_the_queue(on: Stage) -> list[Part]:
    """Content waits for the only slot, stands still when it comes free, and then the hierarchy misses something."""
    on.sketch.versions |= {on.b: on.draw.choice(("2003", "2007"))}
    on.sketch.settings |= dict.fromkeys(FIRST_TIMEOUTS, "1 h") | {"Replication Outstanding Backfill Limit": 1}
    folders = [on.folder(on.a, on.b) for _ in range(2)]
    posts = [on.post(on.a, folder.label, after_us) for folder in folders for after_us in (0, 50 * MINUTE_US)]
    lost = on.lose("content", on.a, on.b, None, 40 * MINUTE_US)
    late = Delay(
        at_us=on.at_us, lasts_us=4 * HOUR_US, from_=on.a, to=on.b, type="content response", count=1, by_us=HOUR_US
    )
    still = SuspendContent(at_us=on.at_us + 145 * MINUTE_US)
    missed = on.folder(on.a, on.b, at_us=still.at_us + HOUR_US)
    unheard = Loss(at_us=missed.at_us, lasts_us=20 * MINUTE_US, from_=on.a, to=on.b, type="hierarchy", count=None)
    told = on.folder(on.a, on.b, at_us=missed.at_us + 30 * MINUTE_US)
    goes_on = ResumeContent(at_us=told.at_us + on.draw.choice((3, 5, 9)) * HOUR_US)
    on.sketch.goes_on(goes_on.at_us + HOUR_US)
    return [*folders, *posts, lost, late, still, missed, unheard, told, goes_on]


def deleted_source(on: Stage) -> list[Part]:
    """The only store that has what another misses is deleted, before it is asked or while it is."""
    through = {end for connector in on.sketch.connectors for end in connector.bridgeheads}
    if on.c == on.b or on.a in through or len(on.sketch.stores) <= 2:
        return []
    folder = on.folder(on.b, on.a, on.c)
    lost = on.lose("content", on.a, None, None, 40 * MINUTE_US)
    told = on.post(on.a, folder.label, 50 * MINUTE_US)
    gone = DeleteStore(at_us=on.at_us + on.draw.choice((80, 300, 500)) * MINUTE_US, on=on.b, store=on.a)
    on.sketch.goes_on(gone.at_us + HOUR_US)
    return [folder, on.post(on.a, folder.label), lost, told, gone]
