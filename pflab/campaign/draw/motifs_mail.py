"""Motifs of backfill, status and mail: mails are lost, late, duplicated or altered."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pflab.campaign.draw import timed
from pflab.campaign.draw.motif_builder import (
    ALL_TIMEOUTS,
    ALTERATIONS,
    FIRST_TIMEOUTS,
    MotifBuilder,
    Part,
    quick_settings,
)
from traces.labtime import HOUR_US, MINUTE_US

CYCLE_US = 15 * MINUTE_US

# -- backfill and status


def lost_content(m: MotifBuilder) -> list[Part]:
    """Several mails are lost; the next mail shows what is missing."""
    m.state.settings["Replication Message Size Limit"] = m.draw.choice((1, 1, 4, 300))
    folder = m.folder(m.a, m.b, m.c)
    first = m.post(m.a, folder.label, count=m.draw.choice((1, 8, 12)), size=2_000)
    edit = timed.edit(at_us=m.at_us + 20 * MINUTE_US, on=m.a, message=timed.labels_of(first)[0])
    lost = m.lose("content", m.a, m.b, None, HOUR_US)
    return [folder, first, edit, lost, m.post(m.a, folder.label, 90 * MINUTE_US)]


def edited_before_it_went(m: MotifBuilder) -> list[Part]:
    """A message is edited in the cycle in which it was posted. The number of the post is then sent with the edit, in a later
    mail than the numbers next to it. The same happens in the backfill response to a store that misses all of these changes."""
    m.state.settings |= {"Replication Message Size Limit": 1, **dict.fromkeys(FIRST_TIMEOUTS, "1 h")}
    folder = m.folder(m.a, m.b, m.c)
    begins_us = -m.at_us % CYCLE_US + MINUTE_US  # posts and edit are in one cycle
    m.state.lasts_until(m.at_us + HOUR_US)
    first, second = (m.post(m.a, folder.label, begins_us + after * MINUTE_US, size=2_000) for after in (0, 1))
    edit = timed.edit(at_us=second.at_us + MINUTE_US, on=m.a, message=first.label)
    parts: list[Part] = [folder, first, second, edit]
    if m.c != m.b or m.draw.random() < 0.4:
        parts.append(m.lose("content", m.a, m.b, None, 45 * MINUTE_US))
        parts.append(m.post(m.a, folder.label, 46 * MINUTE_US))
    return parts


def silent_source(m: MotifBuilder) -> list[Part]:
    m.state.settings |= quick_settings(m.draw)
    folder = m.folder(m.a, m.b)
    lost = m.lose("content", m.a, m.b, 1, HOUR_US)
    unasked = m.lose("backfill request", m.b, None, m.draw.choice((1, 2)), 30 * HOUR_US)
    return [folder, m.post(m.a, folder.label), lost, unasked, m.post(m.a, folder.label, 90 * MINUTE_US)]


def few_slots(m: MotifBuilder) -> list[Part]:
    m.state.settings["Replication Outstanding Backfill Limit"] = m.draw.choice((1, 2))
    folders = [m.folder(m.a, m.b) for _ in range(3)]
    lost = m.lose("content", m.a, m.b, None, HOUR_US)
    posts = [m.post(m.a, folder.label, after_us) for folder in folders for after_us in (0, 90 * MINUTE_US)]
    return [*folders, lost, *posts]


def satisfied_in_the_queue(m: MotifBuilder) -> list[Part]:
    """Two backfill entries wait for the only request slot. A late response satisfies the first of them."""
    m.state.settings |= {
        "Replication Outstanding Backfill Limit": 1,
        **dict.fromkeys(ALL_TIMEOUTS, "6 h"),
        **dict.fromkeys(FIRST_TIMEOUTS, "30 min"),
    }
    folder, other = m.folder(m.a, m.b), m.folder(m.a, m.b)
    begins_us = -m.at_us % CYCLE_US + MINUTE_US  # the times below are counted in cycles
    m.state.lasts_until(m.at_us + 3 * HOUR_US)
    post, later, later_again = (m.post(m.a, folder.label, begins_us + cycle * CYCLE_US) for cycle in (0, 1, 3))
    behind, behind_later = (m.post(m.a, other.label, begins_us + cycle * CYCLE_US) for cycle in (2, 4))
    edit = timed.edit(at_us=behind.at_us, on=m.a, message=post.label)
    lost, lost_too = (
        timed.fault("lose", at_us=step.at_us + 8 * MINUTE_US, lasts_us=CYCLE_US, from_=m.a, to=m.b, type="content")
        for step in (post, edit)
    )
    late = timed.fault(
        "delay",
        at_us=post.at_us,
        lasts_us=HOUR_US * 2,
        from_=m.a,
        to=m.b,
        type="content response",
        by_us=80 * MINUTE_US,
        count=1,
    )
    return [folder, other, post, lost, later, edit, behind, lost_too, later_again, behind_later, late]


def unclaimed(m: MotifBuilder) -> list[Part]:
    """The only store that has a change leaves the replica list. With some seeds its requests to leave are lost for 30 hours."""
    if m.c == m.b:
        return []
    folder = m.folder(m.c, m.a, m.b)
    lost = m.lose("content", m.a, None, 2, 35 * MINUTE_US)
    later = m.post(m.a, folder.label, 36 * MINUTE_US)
    leaves = timed.remove_replica(at_us=m.at_us + 80 * MINUTE_US, on=m.c, folder=folder.label, store=m.a)
    lost_mail = [m.lose("status request", m.a, None, None, 30 * HOUR_US)] if m.draw.random() < 0.6 else []
    return [folder, m.post(m.a, folder.label), lost, later, leaves, *lost_mail]


def back_unheard(m: MotifBuilder) -> list[Part]:
    """A store leaves a folder and becomes a holder again, without content, before another store knows that it left."""
    if m.c == m.b:
        return []
    folder = m.folder(m.c, m.a, m.b)
    at_us = m.at_us + 40 * MINUTE_US
    leaves = timed.remove_replica(at_us=at_us, on=m.c, folder=folder.label, store=m.a)
    back = timed.add_replica(at_us=at_us + 50 * MINUTE_US, on=m.c, folder=folder.label, store=m.a)
    lost_mail = timed.fault("lose", at_us=at_us, lasts_us=5 * HOUR_US, from_=m.c, to=m.b, type="hierarchy")
    return [folder, m.post(m.a, folder.label), leaves, back, lost_mail]


def several_sources(m: MotifBuilder) -> list[Part]:
    """One source has everything that a store misses, but the store first asks a source that has only a part."""
    if m.c == m.b:
        return []
    m.state.settings |= quick_settings(m.draw)
    m.state.store_settings.setdefault(m.b, {})["Preferred Backfill Source"] = m.a
    folder = m.folder(m.a, m.b, m.c)
    return [
        folder,
        m.post(m.a, folder.label),
        m.post(m.c, folder.label),
        m.lose("content", m.a, m.b, 1, HOUR_US),
        m.lose("content", m.c, None, None, HOUR_US),
        m.post(m.c, folder.label, 90 * MINUTE_US),
        m.post(m.a, folder.label, 100 * MINUTE_US),
    ]


def near_source(m: MotifBuilder) -> list[Part]:
    """Two stores of a site miss changes from another site. One requests them soon; the other learns that the first has them."""
    far = _near_and_far(m)
    if far is None:
        return []
    source, asks_soon, waits = far
    m.state.settings |= {**dict.fromkeys(ALL_TIMEOUTS, "6 h"), "Replication Short Backfill Request Timeout": "30 min"}
    m.state.store_settings.setdefault(asks_soon, {})["Replication Long Backfill Request Timeout"] = "20 min"
    begins_us = -m.at_us % CYCLE_US + MINUTE_US  # the times below are counted in cycles
    folder = replace(m, a=source).folder(source, asks_soon, waits)
    first, later = (m.post(source, folder.label, begins_us + cycle * CYCLE_US) for cycle in (0, 3))
    lost = m.lose("content", source, None, 1, 5 * HOUR_US)  # the one mail to the other site is for both stores there
    # Post twice, because on some links the answer takes hours.
    later_posts = [m.post(asks_soon, folder.label, begins_us + cycle * CYCLE_US) for cycle in (9, 22)]
    m.state.lasts_until(later_posts[-1].at_us + HOUR_US)
    return [folder, first, lost, later, *later_posts]


def _near_and_far(m: MotifBuilder) -> tuple[str, str, str] | None:
    """Return a store and two stores of another site, or None if there are no such stores."""
    site = {store: m.state.topology.servers[store].site for store in m.state.stores}
    pairs = [(one, two) for one in site for two in site if one != two and site[one] == site[two]]
    triples = [(far, *pair) for pair in pairs for far in site if site[far] != site[pair[0]]]
    return m.draw.choice(triples) if triples else None


def unheard_status(m: MotifBuilder) -> list[Part]:
    m.state.settings |= quick_settings(m.draw)
    folder = m.folder(m.a, m.b)
    post = m.post(m.a, folder.label)
    return [folder, post, m.lose("content", m.a, m.b, 1, HOUR_US), m.lose("status", m.a, m.b, 2, 30 * HOUR_US)]


def unheard_request(m: MotifBuilder) -> list[Part]:
    m.state.settings |= quick_settings(m.draw)
    folder = m.folder(m.a)
    add = timed.add_replica(at_us=m.at_us, on=m.a, folder=folder.label, store=m.b)
    lost = [m.lose("status request", one, other, 2, 10 * HOUR_US) for one, other in ((m.a, m.b), (m.b, m.a))]
    return [folder, m.post(m.a, folder.label), add, *lost]


def deleted_while_missing(m: MotifBuilder) -> list[Part]:
    folder = m.folder(m.a, m.b)
    later = m.post(m.a, folder.label, 90 * MINUTE_US)
    deletion = timed.delete_folder(at_us=later.at_us + HOUR_US, on=m.a, folder=folder.label)
    return [folder, m.post(m.a, folder.label), m.lose("content", m.a, m.b, 1, HOUR_US), later, deletion]


def asked_when_gone(m: MotifBuilder) -> list[Part]:
    """A store asks a source before it knows that the source no longer holds the folder."""
    if m.c == m.b:
        return []
    m.state.settings |= quick_settings(m.draw)
    m.state.store_settings.setdefault(m.b, {})["Preferred Backfill Source"] = m.a
    folder = m.folder(m.c, m.a, m.b)
    leaves = timed.remove_replica(at_us=m.at_us, on=m.c, folder=folder.label, store=m.a)
    late_mail = timed.fault("delay", at_us=m.at_us, lasts_us=3 * HOUR_US, to=m.b, type="hierarchy", by_us=6 * HOUR_US)
    first = timed.post(at_us=m.at_us - 80 * MINUTE_US, on=m.a, folder=folder.label, label=m.state.label("m"))
    later = timed.post(at_us=m.at_us - 20 * MINUTE_US, on=m.a, folder=folder.label, label=m.state.label("m"))
    lost = timed.fault("lose", at_us=first.at_us, lasts_us=50 * MINUTE_US, from_=m.a, to=m.b, type="content")
    return [folder, first, lost, later, late_mail, leaves]


# -- mail


def overtaken(m: MotifBuilder) -> list[Part]:
    folder = m.folder(m.a, m.b)
    slow = timed.fault(
        "reorder", at_us=m.at_us, lasts_us=3 * HOUR_US, from_=m.a, to=m.b, type="content", by_us=40 * MINUTE_US, count=1
    )
    post = m.post(m.a, folder.label)
    edit = timed.edit(at_us=m.at_us + 20 * MINUTE_US, on=m.a, message=post.label)
    return [folder, slow, post, m.draw.choice((edit, edit, m.post(m.a, folder.label, 20 * MINUTE_US)))]


def doubled(m: MotifBuilder) -> list[Part]:
    folder = m.folder(m.a, m.b)
    twice = timed.fault("duplicate", at_us=m.at_us, lasts_us=20 * HOUR_US, from_=None, to=None, type=None, count=6)
    lost = m.lose("content", m.a, m.b, 1, HOUR_US)
    return [folder, lost, twice, m.post(m.a, folder.label), m.post(m.a, folder.label, 90 * MINUTE_US)]


def expired(m: MotifBuilder) -> list[Part]:
    m.state.settings["MTA Expiry Normal"] = "30 min"
    folder = m.folder(m.a, m.b)
    cut = timed.fault("cut", at_us=m.at_us, lasts_us=5 * HOUR_US, between=[m.a, m.b])
    return [folder, cut, m.post(m.a, folder.label, 5 * MINUTE_US)]


def one_item_unreadable(m: MotifBuilder) -> list[Part]:
    """One of several items in a mail cannot be decoded."""
    folder = m.folder(m.a, m.b, m.c)
    bad = timed.fault("alter", at_us=m.at_us, lasts_us=HOUR_US, from_=m.a, to=m.b, type="content", count=1, how="item")
    return [folder, bad, m.post(m.a, folder.label, count=3), m.post(m.a, folder.label, 90 * MINUTE_US)]


def altered(m: MotifBuilder) -> list[Part]:
    folder = m.folder(m.a, m.b)
    how: Literal["flip", "cut", "noise"] = m.draw.choice(ALTERATIONS)
    bad = timed.fault("alter", at_us=m.at_us, lasts_us=HOUR_US, from_=m.a, to=m.b, type="content", count=1, how=how)
    return [folder, bad, m.post(m.a, folder.label), m.post(m.a, folder.label, 90 * MINUTE_US)]
