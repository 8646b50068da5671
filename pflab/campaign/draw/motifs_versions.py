"""Motifs of three kinds: behaviour of one server version, age limits that empty all sources, and suspended content."""

from __future__ import annotations

from dataclasses import replace

from pflab.campaign.draw import timed
from pflab.campaign.draw.motif_builder import ALL_TIMEOUTS, FIRST_TIMEOUTS, MotifBuilder, Part
from traces.labtime import HOUR_US, MINUTE_US

ENOUGH_FOR_THE_OLDEST = 5
"""The stores that the motif needs: the asking store, three responders that steps list, and the holder of the oldest replica."""


def near_older(m: MotifBuilder) -> list[Part]:
    """A 2000 server misses a change. A 5.5 server of its site and a newer server of another site have it. It asks the newer
    server."""
    site = {store: m.state.topology.servers[store].site for store in m.state.stores}
    triples = [
        (asker, near, far)
        for asker in site
        for near in site
        for far in site
        if asker != near and site[asker] == site[near] != site[far]
    ]
    if not triples:
        return []
    asker, near, far = m.draw.choice(triples)
    m.state.versions |= {asker: "2000", near: "5.5", far: m.draw.choice(("2000", "2003", "2007"))}
    m.state.settings |= dict.fromkeys(FIRST_TIMEOUTS, "1 h")
    folder = replace(m, a=near).folder(near, asker, far)
    later = [m.post(far, folder.label, 80 * MINUTE_US), m.post(near, folder.label, 85 * MINUTE_US)]
    m.state.lasts_until(m.at_us + 5 * HOUR_US)
    return [folder, m.post(near, folder.label), m.lose("content", near, asker, 1, 40 * MINUTE_US), *later]


def parts_in_turn(m: MotifBuilder) -> list[Part]:
    """Two holders each have a part of what a 2000 server misses; no holder has all of it."""
    if m.c == m.b:
        return []
    m.state.versions[m.b] = "2000"
    m.state.settings |= dict.fromkeys(ALL_TIMEOUTS, "12 h")
    m.state.store_settings.setdefault(m.b, {}).update(dict.fromkeys(FIRST_TIMEOUTS, "45 min"))
    folder = m.folder(m.a, m.b, m.c)
    firsts = [m.post(store, folder.label) for store in (m.a, m.c)]
    lost = [m.lose("content", store, None, None, 40 * MINUTE_US) for store in (m.a, m.c)]
    later_posts = [m.post(store, folder.label, 50 * MINUTE_US) for store in (m.a, m.c)]
    m.state.lasts_until(m.at_us + 4 * HOUR_US)
    return [folder, *firsts, *lost, *later_posts]


def oldest_replica(m: MotifBuilder) -> list[Part]:
    """The oldest replica of a folder is on a 5.5 server; newer servers of its site become holders. Then a 2000 server becomes a
    holder. Each step of its search for responders finds the newer servers first."""
    stores = list(m.state.stores)
    if len(stores) < ENOUGH_FOR_THE_OLDEST:
        return []
    site = {store: m.state.topology.servers[store].site for store in stores}
    home = max(site.values(), key=lambda candidate: (list(site.values()).count(candidate), candidate))
    stores.sort(key=lambda store: site[store] != home)  # stores of the largest site come first
    oldest, asker, *others = stores[:ENOUGH_FOR_THE_OLDEST]
    m.state.versions |= {oldest: "5.5", asker: "2000"}
    m.state.versions |= {store: m.draw.choice(("2000", "2003", "2007")) for store in others}
    folder = replace(m, a=oldest).folder(oldest)
    adds = [
        timed.add_replica(at_us=m.at_us + index * 20 * MINUTE_US, on=oldest, folder=folder.label, store=store)
        for index, store in enumerate((*others, asker))
    ]
    m.state.lasts_until(adds[-1].at_us + 4 * HOUR_US)
    return [folder, m.post(oldest, folder.label), *adds]


def expired_everywhere(m: MotifBuilder) -> list[Part]:
    """The changes that a store misses expire at their only source before the store requests them."""
    m.state.store_settings.setdefault(m.a, {}).update(
        {"Age Limit": "1 h", "Replication Expiry": "1 h", "Maintenance Schedule": "always"}
    )
    m.state.store_settings.setdefault(m.b, {}).update(dict.fromkeys(FIRST_TIMEOUTS, "6 h"))
    folder = m.folder(m.a, m.b)
    lost = m.lose("content", m.a, m.b, 1, 40 * MINUTE_US)
    m.state.lasts_until(m.at_us + 9 * HOUR_US)
    return [folder, m.post(m.a, folder.label), lost, m.post(m.a, folder.label, 50 * MINUTE_US)]


def asked_while_suspended(m: MotifBuilder) -> list[Part]:
    """Content is suspended on a source of version 2003 or 2007. A 2000 server, which cannot suspend content, requests changes
    from this source."""
    m.state.versions |= {m.a: m.draw.choice(("2003", "2007")), m.b: "2000"}
    m.state.settings |= dict.fromkeys(FIRST_TIMEOUTS, "1 h")
    folder = m.folder(m.a, m.b)
    lost = m.lose("content", m.a, m.b, 1, 40 * MINUTE_US)
    suspend = timed.content(action="suspend", at_us=m.at_us + 75 * MINUTE_US)
    resume = timed.content(action="resume", at_us=suspend.at_us + m.draw.choice((2, 4, 7)) * HOUR_US)
    unsent = m.post(m.a, folder.label, 90 * MINUTE_US)
    m.state.lasts_until(resume.at_us + HOUR_US)
    return [
        folder,
        m.post(m.a, folder.label),
        lost,
        m.post(m.a, folder.label, 50 * MINUTE_US),
        suspend,
        unsent,
        resume,
    ]


def still_in_the_queue(m: MotifBuilder) -> list[Part]:
    """A backfill entry for content waits for the only request slot. Content is suspended before the slot is free. Then a mail
    with a change of the hierarchy is lost."""
    m.state.versions |= {m.b: m.draw.choice(("2003", "2007"))}
    m.state.settings |= dict.fromkeys(FIRST_TIMEOUTS, "1 h") | {"Replication Outstanding Backfill Limit": 1}
    folders = [m.folder(m.a, m.b) for _ in range(2)]
    posts = [m.post(m.a, folder.label, after_us) for folder in folders for after_us in (0, 50 * MINUTE_US)]
    lost = m.lose("content", m.a, m.b, None, 40 * MINUTE_US)
    late = timed.fault(
        "delay", at_us=m.at_us, lasts_us=4 * HOUR_US, from_=m.a, to=m.b, type="content response", count=1, by_us=HOUR_US
    )
    suspend = timed.content(action="suspend", at_us=m.at_us + 145 * MINUTE_US)
    missed = m.folder(m.a, m.b, at_us=suspend.at_us + HOUR_US)
    lost_mail = timed.fault(
        "lose", at_us=missed.at_us, lasts_us=20 * MINUTE_US, from_=m.a, to=m.b, type="hierarchy", count=None
    )
    later = m.folder(m.a, m.b, at_us=missed.at_us + 30 * MINUTE_US)
    resume = timed.content(action="resume", at_us=later.at_us + m.draw.choice((3, 5, 9)) * HOUR_US)
    m.state.lasts_until(resume.at_us + HOUR_US)
    return [*folders, *posts, lost, late, suspend, missed, lost_mail, later, resume]


def deleted_source(m: MotifBuilder) -> list[Part]:
    """A store misses changes that only one other store has. This other store is deleted before or while it is asked."""
    through = {end for connector in m.state.connectors for end in connector.bridgeheads}
    if m.c == m.b or m.a in through or len(m.state.stores) <= 2:
        return []
    folder = m.folder(m.b, m.a, m.c)
    lost = m.lose("content", m.a, None, None, 40 * MINUTE_US)
    later = m.post(m.a, folder.label, 50 * MINUTE_US)
    deleted = timed.delete_store(at_us=m.at_us + m.draw.choice((80, 300, 500)) * MINUTE_US, on=m.b, store=m.a)
    m.state.lasts_until(deleted.at_us + HOUR_US)
    return [folder, m.post(m.a, folder.label), lost, later, deleted]
