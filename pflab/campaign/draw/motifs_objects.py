"""Motifs of messages and of the folder tree: concurrent changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pflab.campaign.draw import timed
from pflab.campaign.draw.motif_builder import BROADCAST_US, CONTACT, KEEPS, MotifBuilder, Part
from traces.labtime import HOUR_US, MINUTE_US

# -- messages


def concurrent_edits(m: MotifBuilder) -> list[Part]:
    folder = m.folder(m.a, m.b, m.c, contacts=[CONTACT])  # only contacts resolve conflicts (CF-3)
    post = m.post(m.a, folder.label)
    at_us = m.at_us + 2 * HOUR_US
    parts: list[Part] = [folder, post, *(timed.edit(at_us=at_us, on=store, message=post.label) for store in (m.a, m.b))]
    if m.draw.random() < 0.7:
        keep: Literal["shown", "last", "all"] = m.draw.choice(KEEPS)
        at_us += m.draw.choice((HOUR_US, 5 * HOUR_US))
        parts.append(timed.resolve(at_us=at_us, on=m.draw.choice((m.a, m.b)), message=post.label, keep=keep))
    return parts


def edit_against_delete(m: MotifBuilder) -> list[Part]:
    folder = m.folder(m.a, m.b, m.c)
    post = m.post(m.a, folder.label)
    at_us = m.at_us + 2 * HOUR_US
    return [
        folder,
        post,
        timed.edit(at_us=at_us, on=m.a, message=post.label),
        timed.delete(at_us=at_us + m.draw.choice((0, 5 * MINUTE_US)), on=m.b, message=post.label),
    ]


def late_edit(m: MotifBuilder) -> list[Part]:
    """A message is deleted at one store while an edit from another store is under way."""
    folder = m.folder(m.a, m.b, m.c)
    post = m.post(m.a, folder.label)
    at_us = m.at_us + 2 * HOUR_US
    slow = timed.fault("delay", at_us=at_us, lasts_us=HOUR_US, from_=m.a, type="content", by_us=3 * HOUR_US)
    return [
        folder,
        post,
        slow,
        timed.edit(at_us=at_us, on=m.a, message=post.label),
        timed.delete(at_us=at_us + HOUR_US, on=m.b, message=post.label),
    ]


def associated_edits(m: MotifBuilder) -> list[Part]:
    folder = m.folder(m.a, m.b, m.c)
    post = m.post(m.a, folder.label, associated=True)
    at_us = m.at_us + 2 * HOUR_US
    pair = enumerate((m.a, m.b))
    edits = [timed.edit(at_us=at_us + index * MINUTE_US, on=store, message=post.label) for index, store in pair]
    return [folder, post, *edits]


# -- the tree


def _on(store: str, step: timed.Timed) -> timed.Timed:
    return replace(step, args={**step.args, "on": store})


def cycle(m: MotifBuilder) -> list[Part]:
    one, other = m.folder(m.a, m.b), m.folder(m.a, m.b)
    if m.draw.random() < 0.5:  # so the two stores learn of the two folders in different orders
        other = _on(m.b, other)
    return [
        one,
        other,
        timed.move_folder(at_us=m.at_us, on=m.a, folder=one.label, under=other.label),
        timed.move_folder(at_us=m.at_us, on=m.b, folder=other.label, under=one.label),
    ]


def twins(m: MotifBuilder) -> list[Part]:
    title = f"T{m.state.label('t')[1:]}"
    one = m.folder(m.a, m.b, at_us=m.at_us, title=title)
    other = m.folder(m.b, m.a, at_us=m.at_us, title=title)
    return [one, _on(m.b, other), m.post(m.b, other.label, HOUR_US)]


def child_first(m: MotifBuilder) -> list[Part]:
    """The mail with a parent folder is lost, but the mail with its child arrives. The child waits, usually not long enough."""
    if m.draw.random() < 0.9:
        m.state.settings["Replication Folder Tree RMQ Timeout"] = "1 h"
    parent = m.folder(m.a, at_us=m.at_us)
    below = m.folder(m.a, m.b, at_us=m.at_us + BROADCAST_US, under=parent.label)
    lost = m.lose("hierarchy", m.a, m.b, 1, 2 * HOUR_US)
    return [parent, below, lost, m.post(m.a, below.label, 2 * HOUR_US)]


def below_the_deleted(m: MotifBuilder) -> list[Part]:
    upper, lower = m.folder(m.a, m.b), m.folder(m.a, m.b, m.c)
    return [
        upper,
        lower,
        m.post(m.b, lower.label),
        timed.delete_folder(at_us=m.at_us + HOUR_US, on=m.a, folder=upper.label),
        timed.move_folder(at_us=m.at_us + HOUR_US, on=m.b, folder=lower.label, under=upper.label),
    ]


def deleted_and_renamed(m: MotifBuilder) -> list[Part]:
    """One store deletes a folder, and another store renames it later. The deletion wins nevertheless."""
    folder = m.folder(m.a, m.b)
    rename = timed.rename_folder(
        at_us=m.at_us + 5 * MINUTE_US, on=m.b, folder=folder.label, title=f"D{folder.label[1:]}"
    )
    return [folder, timed.delete_folder(at_us=m.at_us, on=m.a, folder=folder.label), rename]


def renamed_twice(m: MotifBuilder) -> list[Part]:
    """The later of two renames wins, even if the earlier one arrives after it."""
    folder = m.folder(m.a, m.b)
    return [folder, _rename(m, m.a, folder.label, "R"), _rename(m, m.b, folder.label, "S", MINUTE_US)]


def renamed_at_once(m: MotifBuilder) -> list[Part]:
    """One store renames a folder twice at one instant; the second rename counts as later."""
    folder = m.folder(m.a, m.b)
    return [folder, _rename(m, m.a, folder.label, "R"), _rename(m, m.a, folder.label, "S")]


def _rename(m: MotifBuilder, store: str, folder: str, letter: str, after_us: int = 0) -> timed.Timed:
    return timed.rename_folder(at_us=m.at_us + after_us, on=store, folder=folder, title=f"{letter}{folder[1:]}")


def back_and_forth(m: MotifBuilder) -> list[Part]:
    """A store leaves a folder, returns and leaves again, while answers to its first request to leave are late."""
    folder = m.folder(m.b, m.a)
    late = timed.fault(
        "delay", at_us=m.at_us, lasts_us=40 * MINUTE_US, from_=m.b, to=m.a, type="status", by_us=2 * HOUR_US
    )
    leaves, again = (
        timed.remove_replica(at_us=m.at_us + after_us, on=m.b, folder=folder.label, store=m.a)
        for after_us in (0, 80 * MINUTE_US)
    )
    back = timed.add_replica(at_us=m.at_us + 40 * MINUTE_US, on=m.b, folder=folder.label, store=m.a)
    cut = timed.fault("cut", at_us=again.at_us + 20 * MINUTE_US, lasts_us=5 * HOUR_US, between=[m.a, m.b], one_way=True)
    last = timed.post(at_us=again.at_us, on=m.a, folder=folder.label, label=m.state.label("m"))
    return [folder, m.post(m.a, folder.label), late, leaves, back, last, again, cut]


def content_first(m: MotifBuilder) -> list[Part]:
    """A new holder gets content before it knows that it is a holder."""
    folder = m.folder(m.a)
    by_us = m.draw.choice((HOUR_US, 6 * HOUR_US))
    late = timed.fault(
        "delay", at_us=m.at_us, lasts_us=HOUR_US, from_=m.a, to=m.b, type="hierarchy", by_us=by_us, count=1
    )
    add = timed.add_replica(at_us=m.at_us, on=m.a, folder=folder.label, store=m.b)
    return [folder, m.post(m.a, folder.label), late, add, m.post(m.a, folder.label, 5 * MINUTE_US)]
