"""Motifs of stores and replicas that appear and disappear: backups, long absences, leaving and returning, joining late."""

from __future__ import annotations

from dataclasses import replace

from pflab.campaign.draw import timed
from pflab.campaign.draw.motif_builder import BROADCAST_US, FIRST_TIMEOUTS, MotifBuilder, Part, quick_settings
from pflab.campaign.draw.motifs_objects import below_the_deleted
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

TOMBSTONE_DAYS = 1
"""The tombstone age in these motifs. It is the shortest possible one (DL-4), so that a scenario need not last half a year."""

MOST_STORES = 5
"""Motifs that last days are for labs of at most this many stores, because larger labs would take too much time."""


def early(m: MotifBuilder) -> MotifBuilder:
    """Return a builder that begins early in the scenario, for a motif that lasts days."""
    return replace(m, at_us=2 * HOUR_US + m.draw.choice((0, 90, 300)) * MINUTE_US)


def short_memory(m: MotifBuilder, lasts_us: int) -> None:
    """Set a tombstone age of one day, for all stores or one, and make the scenario last `lasts_us` from the motif's start."""
    name = "Replication Folder Tombstone Age Limit"
    if m.draw.random() < 0.7:
        m.state.settings[name] = TOMBSTONE_DAYS
    else:
        m.state.store_settings.setdefault(m.draw.choice((m.a, m.b)), {})[name] = TOMBSTONE_DAYS
    # Mails to a store that is down for days would be retried too often. One retry in an hour is enough.
    m.state.settings["MTA Retry Interval Normal"] = "1 h"
    m.state.lasts_until(m.at_us + lasts_us)


# -- backups


def restored(m: MotifBuilder) -> list[Part]:
    """Other stores send a restored store the changes that it had broadcast after the backup. Its other changes are lost."""
    if m.draw.random() < 0.7:
        m.state.settings |= quick_settings(m.draw)
    folder = m.folder(m.a, m.b, m.c)
    lasts_us = m.draw.choice((2 * HOUR_US, 5 * HOUR_US))
    first = m.post(m.a, folder.label)
    dead_us = m.draw.choice((0, HOUR_US))
    back = timed.fault("restore", at_us=m.at_us + BROADCAST_US, lasts_us=lasts_us, server=m.a, dead_us=dead_us)
    last_us = back.at_us + back.lasts_us - dead_us
    parts: list[Part] = [
        folder,
        first,
        back,
        m.post(m.a, folder.label, BROADCAST_US + 5 * MINUTE_US),
        timed.edit(at_us=back.at_us + 40 * MINUTE_US, on=m.draw.choice((m.a, m.b)), message=first.label),
        timed.post(at_us=last_us - MINUTE_US, on=m.a, folder=folder.label, label=m.state.label("m")),
        timed.rename_folder(at_us=last_us - MINUTE_US, on=m.a, folder=folder.label, title=m.state.label("R")),
        timed.post(at_us=back.at_us + lasts_us + MINUTE_US, on=m.a, folder=folder.label, label=m.state.label("m")),
    ]
    m.state.lasts_until(back.at_us + lasts_us + 2 * HOUR_US)
    return parts


def asked_after_restore(m: MotifBuilder) -> list[Part]:
    """A store requests changes from a source. It does not know that the source lost them in a restore from backup."""
    if m.c == m.b:
        return []
    m.state.settings |= quick_settings(m.draw) | dict.fromkeys(FIRST_TIMEOUTS, "1 h")
    m.state.store_settings.setdefault(m.c, {})["Preferred Backfill Source"] = m.b
    folder = m.folder(m.a, m.b, m.c)
    back = timed.fault("restore", at_us=m.at_us, lasts_us=HOUR_US, server=m.b)
    lost_mail = m.lose("status request", m.b, m.c, None, 3 * HOUR_US)
    return [
        folder,
        back,
        m.post(m.a, folder.label, MINUTE_US),
        m.lose("content", m.a, m.c, 1, 35 * MINUTE_US),
        m.post(m.b, folder.label, 18 * MINUTE_US),
        lost_mail,
    ]


def old_backup(m: MotifBuilder) -> list[Part]:
    """A backup is about as old as the tombstone age. Messages that were deleted since the backup must not return."""
    if len(m.state.stores) > MOST_STORES:
        return []
    m = early(m)
    lasts_us = m.draw.choice((20, 23, 26, 40)) * HOUR_US
    short_memory(m, lasts_us + 4 * HOUR_US)
    folder = m.folder(m.a, m.b, m.c)
    kept, deleted = m.post(m.a, folder.label), m.post(m.b, folder.label)
    back = timed.fault("restore", at_us=m.at_us + BROADCAST_US, lasts_us=lasts_us, server=m.b)
    return [
        folder,
        kept,
        deleted,
        back,
        timed.delete(at_us=back.at_us + HOUR_US, on=m.draw.choice((m.a, m.b)), message=deleted.label),
        timed.post(at_us=back.at_us + lasts_us + HOUR_US, on=m.b, folder=folder.label, label=m.state.label("m")),
    ]


# -- absences


def long_gone(m: MotifBuilder) -> list[Part]:
    """A store is down for longer than the tombstone age. It still has messages that other stores deleted in this time."""
    if len(m.state.stores) > MOST_STORES:
        return []
    m = early(m)
    lasts_us = m.draw.choice((26, 30, 50)) * HOUR_US
    short_memory(m, lasts_us + 5 * HOUR_US)
    folder, other = m.folder(m.a, m.b, m.c), m.folder(m.a, m.b)
    kept, deleted = m.post(m.b, folder.label), m.post(m.a, folder.label)
    at_us = m.at_us + BROADCAST_US
    return [
        folder,
        other,
        kept,
        deleted,
        timed.fault("kill" if m.draw.random() < 0.5 else "stop", at_us=at_us, lasts_us=lasts_us, server=m.b),
        timed.delete(at_us=at_us + HOUR_US, on=m.a, message=deleted.label),
        timed.delete_folder(at_us=at_us + HOUR_US, on=m.a, folder=other.label),
    ]


def hidden_for_long(m: MotifBuilder) -> list[Part]:
    """A folder is hidden below a deleted folder, whose tombstone must stay longer than the tombstone age."""
    if len(m.state.stores) > MOST_STORES:
        return []
    m = early(m)
    short_memory(m, 2 * DAY_US)
    return below_the_deleted(m)


# -- replicas


def leaves_and_returns(m: MotifBuilder) -> list[Part]:
    """A store leaves a folder while it has an unsent change. It returns without content, and its change numbers continue."""
    folder = m.folder(m.b, m.a)
    away_us = m.draw.choice((20 * MINUTE_US, 2 * HOUR_US, 5 * HOUR_US))
    leaves_us = m.at_us + 40 * MINUTE_US
    last = timed.post(at_us=leaves_us - MINUTE_US, on=m.a, folder=folder.label, label=m.state.label("m"))
    leaves = timed.remove_replica(at_us=leaves_us, on=m.a, folder=folder.label, store=m.a)
    back = timed.add_replica(at_us=leaves_us + away_us, on=m.b, folder=folder.label, store=m.a)
    again = timed.post(at_us=back.at_us + 40 * MINUTE_US, on=m.a, folder=folder.label, label=m.state.label("m"))
    m.state.lasts_until(again.at_us + HOUR_US)
    return [folder, m.post(m.a, folder.label), last, leaves, back, again]


def joins_and_holds(m: MotifBuilder) -> list[Part]:
    """A store that joins late is added to a replica list, before or after it joins."""
    if not m.state.late:
        return []
    store = m.draw.choice(m.state.late)
    folder = m.folder(m.a, m.b)
    add = timed.add_replica(at_us=m.at_us + HOUR_US, on=m.a, folder=folder.label, store=store)
    return [folder, m.post(m.a, folder.label), add]
