"""Situations that chance alone rarely makes: a few steps and faults that belong together, put into the plan as a whole.

Each motif is for a branch of the rules. It gives nothing where the organization has no place for it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pflab.campaign_plan import (
    AddReplica,
    AnyFault,
    AnyStep,
    Corruption,
    CreateFolder,
    Delay,
    Delete,
    DeleteFolder,
    Duplication,
    Edit,
    Loss,
    MailType,
    MoveFolder,
    Partition,
    Post,
    RemoveReplica,
    RenameFolder,
    Reordering,
    Resolve,
)
from pflab.campaign_sketch import Sketch
from traces.labtime import HOUR_US, MINUTE_US

_HOW_MANY = (0, 1, 1, 2, 3, 4)
_TOLD_US = 30 * MINUTE_US
"""By then a change has been broadcast, and has arrived where nothing is wrong and no link is slow."""

Part = AnyStep | AnyFault

_KEEPS: tuple[Literal["shown", "last", "all"], ...] = ("shown", "last", "all", "all")
_ALTERATIONS: tuple[Literal["flip", "cut", "noise"], ...] = ("flip", "cut", "noise")

_QUICK_SETTINGS: dict[str, tuple[str, ...]] = {
    "Replication Send Status Timeout": ("2 h", "6 h"),
    "Replication Send Status Alignment": ("1 h", "3 h"),
    "Replication Short Backfill Request Timeout": ("10 min", "1 h"),
    "Replication Short Backfill Request Timeout Retry": ("30 min", "2 h"),
    "Replication Short Backfill Request Timeout Later Retry": ("1 h", "4 h"),
    "Replication Long Backfill Request Timeout": ("20 min", "2 h"),
    "Replication Long Backfill Request Timeout Retry": ("1 h", "3 h"),
    "Replication Long Backfill Request Timeout Later Retry": ("2 h", "6 h"),
}


def quick_settings(draw: random.Random) -> dict[str, Any]:
    """An organization that asks and tells so often that all of backfill happens while the faults last."""
    return {name: draw.choice(values) for name, values in _QUICK_SETTINGS.items()}


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a motif plays: the generator, the sketch, the instant it begins, and three stores (`c` may be `b`)."""

    draw: random.Random
    sketch: Sketch
    at_us: int
    a: str
    b: str
    c: str

    def folder(self, *replicas: str, at_us: int | None = None, title: str | None = None) -> CreateFolder:
        """A new folder, there at the other stores when the motif begins."""
        label = self.sketch.label("g")
        return CreateFolder(
            at_us=max(0, self.at_us - 2 * HOUR_US) if at_us is None else at_us,
            on=self.a,
            label=label,
            title=title or f"M{label[1:]}",
            replicas=tuple(dict.fromkeys(replicas)),
        )

    def post(self, on: str, folder: str, after_us: int = 0, **more: Any) -> Post:
        return Post(at_us=self.at_us + after_us, on=on, folder=folder, label=self.sketch.label("m"), **more)

    def lose(self, type_: MailType, from_: str | None, to: str | None, count: int | None, lasts_us: int) -> Loss:
        return Loss(at_us=self.at_us, lasts_us=lasts_us, from_=from_, to=to, type=type_, count=count)


def draw_motifs(draw: random.Random, sketch: Sketch, kinds: Sequence[str]) -> tuple[list[AnyStep], list[AnyFault]]:
    """Steps and faults of up to three motifs whose fault kinds are allowed."""
    allowed = [motif for motif in MOTIFS if set(motif.needs) <= set(kinds)]
    steps: list[AnyStep] = []
    faults: list[AnyFault] = []
    if len(sketch.stores) < 2:
        return steps, faults
    for _ in range(draw.choice(_HOW_MANY)):
        (motif,) = draw.choices(allowed, [each.weight for each in allowed])
        a, b, *rest = draw.sample(sketch.stores, min(3, len(sketch.stores)))
        at_us = sketch.instant(draw, 0.0, 0.6) + 2 * HOUR_US
        for part in motif.make(Stage(draw, sketch, at_us, a, b, rest[0] if rest else b)):
            if isinstance(part, AnyStep):
                steps.append(part)
            else:
                faults.append(part)
    return steps, faults


# -- messages


def _concurrent_edits(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b, on.c)
    post = on.post(on.a, folder.label)
    at_us = on.at_us + 2 * HOUR_US
    parts: list[Part] = [folder, post, *(Edit(at_us=at_us, on=store, message=post.label) for store in (on.a, on.b))]
    if on.draw.random() < 0.7:
        keep: Literal["shown", "last", "all"] = on.draw.choice(_KEEPS)
        at_us += on.draw.choice((HOUR_US, 5 * HOUR_US))
        parts.append(Resolve(at_us=at_us, on=on.draw.choice((on.a, on.b)), message=post.label, keep=keep))
    return parts


def _edit_against_delete(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b, on.c)
    post = on.post(on.a, folder.label)
    at_us = on.at_us + 2 * HOUR_US
    return [
        folder,
        post,
        Edit(at_us=at_us, on=on.a, message=post.label),
        Delete(at_us=at_us + on.draw.choice((0, 5 * MINUTE_US)), on=on.b, message=post.label),
    ]


def _late_edit(on: Stage) -> list[Part]:
    """An edit is on its way while its message is deleted elsewhere."""
    folder = on.folder(on.a, on.b, on.c)
    post = on.post(on.a, folder.label)
    at_us = on.at_us + 2 * HOUR_US
    slow = Delay(at_us=at_us, lasts_us=HOUR_US, from_=on.a, type="content", by_us=3 * HOUR_US)
    return [
        folder,
        post,
        slow,
        Edit(at_us=at_us, on=on.a, message=post.label),
        Delete(at_us=at_us + HOUR_US, on=on.b, message=post.label),
    ]


def _associated_edits(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b, on.c)
    post = on.post(on.a, folder.label, associated=True)
    at_us = on.at_us + 2 * HOUR_US
    pair = enumerate((on.a, on.b))
    edits = [Edit(at_us=at_us + index * MINUTE_US, on=store, message=post.label) for index, store in pair]
    return [folder, post, *edits]


# -- the tree


def _cycle(on: Stage) -> list[Part]:
    one, other = on.folder(on.a, on.b), on.folder(on.a, on.b)
    if on.draw.random() < 0.5:  # known in another order on either side
        other = CreateFolder(at_us=other.at_us, on=on.b, label=other.label, title=other.title, replicas=other.replicas)
    return [
        one,
        other,
        MoveFolder(at_us=on.at_us, on=on.a, folder=one.label, under=other.label),
        MoveFolder(at_us=on.at_us, on=on.b, folder=other.label, under=one.label),
    ]


def _twins(on: Stage) -> list[Part]:
    title = f"T{on.sketch.label('t')[1:]}"
    one = on.folder(on.a, on.b, at_us=on.at_us, title=title)
    other = on.folder(on.b, on.a, at_us=on.at_us, title=title)
    second = CreateFolder(at_us=other.at_us, on=on.b, label=other.label, title=title, replicas=other.replicas)
    return [one, second, on.post(on.b, second.label, HOUR_US)]


def _child_first(on: Stage) -> list[Part]:
    """The mail with the parent is lost, that with the child comes; it waits, for too short a time at times."""
    if on.draw.random() < 0.7:
        on.sketch.settings["Replication Folder Tree RMQ Timeout"] = "1 h"
    parent = on.folder(on.a, at_us=on.at_us)
    child = on.folder(on.a, on.b, at_us=on.at_us + _TOLD_US)
    below = CreateFolder(
        at_us=child.at_us,
        on=on.a,
        label=child.label,
        title=child.title,
        under=parent.label,
        replicas=child.replicas,
    )
    lost = on.lose("hierarchy", on.a, on.b, 1, 2 * HOUR_US)
    return [parent, below, lost, on.post(on.a, below.label, 2 * HOUR_US)]


def _below_the_deleted(on: Stage) -> list[Part]:
    upper, lower = on.folder(on.a, on.b), on.folder(on.a, on.b, on.c)
    return [
        upper,
        lower,
        on.post(on.b, lower.label),
        DeleteFolder(at_us=on.at_us + HOUR_US, on=on.a, folder=upper.label),
        MoveFolder(at_us=on.at_us + HOUR_US, on=on.b, folder=lower.label, under=upper.label),
    ]


def _deleted_and_renamed(on: Stage) -> list[Part]:
    """The deletion is the earlier of the two, and wins."""
    folder = on.folder(on.a, on.b)
    rename = RenameFolder(at_us=on.at_us + 5 * MINUTE_US, on=on.b, folder=folder.label, title=f"D{folder.label[1:]}")
    return [folder, DeleteFolder(at_us=on.at_us, on=on.a, folder=folder.label), rename]


def _back_and_forth(on: Stage) -> list[Part]:
    """A store leaves a folder, comes back and leaves again, while answers to its first leaving are late."""
    folder = on.folder(on.b, on.a)
    late = Delay(at_us=on.at_us, lasts_us=40 * MINUTE_US, from_=on.b, to=on.a, type="status", by_us=2 * HOUR_US)
    leaves, again = (
        RemoveReplica(at_us=on.at_us + after_us, on=on.b, folder=folder.label, store=on.a)
        for after_us in (0, 80 * MINUTE_US)
    )
    back = AddReplica(at_us=on.at_us + 40 * MINUTE_US, on=on.b, folder=folder.label, store=on.a)
    cut = Partition(at_us=again.at_us + 20 * MINUTE_US, lasts_us=5 * HOUR_US, between=(on.a, on.b), one_way=True)
    last = Post(at_us=again.at_us, on=on.a, folder=folder.label, label=on.sketch.label("m"))
    return [folder, on.post(on.a, folder.label), late, leaves, back, last, again, cut]


def _content_first(on: Stage) -> list[Part]:
    """A new holder gets content before it hears that it is one."""
    folder = on.folder(on.a)
    by_us = on.draw.choice((HOUR_US, 6 * HOUR_US))
    late = Delay(at_us=on.at_us, lasts_us=HOUR_US, from_=on.a, to=on.b, type="hierarchy", by_us=by_us, count=1)
    add = AddReplica(at_us=on.at_us, on=on.a, folder=folder.label, store=on.b)
    return [folder, on.post(on.a, folder.label), late, add, on.post(on.a, folder.label, 5 * MINUTE_US)]


# -- backfill and status


def _lost_content(on: Stage) -> list[Part]:
    """Several mails are lost, and the next one tells."""
    on.sketch.settings["Replication Message Size Limit"] = on.draw.choice((1, 1, 4, 300))
    folder = on.folder(on.a, on.b, on.c)
    first = on.post(on.a, folder.label, count=on.draw.choice((1, 8, 12)), size=2_000)
    edit = Edit(at_us=on.at_us + 20 * MINUTE_US, on=on.a, message=first.labels()[0])
    lost = on.lose("content", on.a, on.b, None, HOUR_US)
    return [folder, first, edit, lost, on.post(on.a, folder.label, 90 * MINUTE_US)]


def _silent_source(on: Stage) -> list[Part]:
    on.sketch.settings |= quick_settings(on.draw)
    folder = on.folder(on.a, on.b)
    lost = on.lose("content", on.a, on.b, 1, HOUR_US)
    unasked = on.lose("backfill request", on.b, None, on.draw.choice((1, 2)), 30 * HOUR_US)
    return [folder, on.post(on.a, folder.label), lost, unasked, on.post(on.a, folder.label, 90 * MINUTE_US)]


def _few_slots(on: Stage) -> list[Part]:
    on.sketch.settings["Replication Outstanding Backfill Limit"] = on.draw.choice((1, 2))
    folders = [on.folder(on.a, on.b) for _ in range(3)]
    lost = on.lose("content", on.a, on.b, None, HOUR_US)
    posts = [on.post(on.a, folder.label, after_us) for folder in folders for after_us in (0, 90 * MINUTE_US)]
    return [*folders, lost, *posts]


def _several_sources(on: Stage) -> list[Part]:
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


def _unheard_status(on: Stage) -> list[Part]:
    on.sketch.settings |= quick_settings(on.draw)
    folder = on.folder(on.a, on.b)
    post = on.post(on.a, folder.label)
    return [folder, post, on.lose("content", on.a, on.b, 1, HOUR_US), on.lose("status", on.a, on.b, 2, 30 * HOUR_US)]


def _unheard_request(on: Stage) -> list[Part]:
    on.sketch.settings |= quick_settings(on.draw)
    folder = on.folder(on.a)
    add = AddReplica(at_us=on.at_us, on=on.a, folder=folder.label, store=on.b)
    lost = [on.lose("status request", one, other, 2, 10 * HOUR_US) for one, other in ((on.a, on.b), (on.b, on.a))]
    return [folder, on.post(on.a, folder.label), add, *lost]


def _deleted_while_missing(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b)
    told = on.post(on.a, folder.label, 90 * MINUTE_US)
    deletion = DeleteFolder(at_us=told.at_us + HOUR_US, on=on.a, folder=folder.label)
    return [folder, on.post(on.a, folder.label), on.lose("content", on.a, on.b, 1, HOUR_US), told, deletion]


def _asked_when_gone(on: Stage) -> list[Part]:
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


def _overtaken(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b)
    slow = Reordering(
        at_us=on.at_us, lasts_us=3 * HOUR_US, from_=on.a, to=on.b, type="content", by_us=40 * MINUTE_US, count=1
    )
    return [folder, slow, on.post(on.a, folder.label), on.post(on.a, folder.label, 20 * MINUTE_US)]


def _doubled(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b)
    twice = Duplication(at_us=on.at_us, lasts_us=20 * HOUR_US, from_=None, to=None, type=None, count=6)
    lost = on.lose("content", on.a, on.b, 1, HOUR_US)
    return [folder, lost, twice, on.post(on.a, folder.label), on.post(on.a, folder.label, 90 * MINUTE_US)]


def _expired(on: Stage) -> list[Part]:
    on.sketch.settings["MTA Expiry Normal"] = "30 min"
    folder = on.folder(on.a, on.b)
    cut = Partition(at_us=on.at_us, lasts_us=5 * HOUR_US, between=(on.a, on.b))
    return [folder, cut, on.post(on.a, folder.label, 5 * MINUTE_US)]


def _altered(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b)
    how: Literal["flip", "cut", "noise"] = on.draw.choice(_ALTERATIONS)
    bad = Corruption(at_us=on.at_us, lasts_us=HOUR_US, from_=on.a, to=on.b, type="content", count=1, how=how)
    return [folder, bad, on.post(on.a, folder.label), on.post(on.a, folder.label, 90 * MINUTE_US)]


@dataclass(frozen=True, slots=True)
class Motif:
    weight: int
    make: Callable[[Stage], list[Part]]
    needs: tuple[str, ...] = ()
    """Kinds of fault without which it is none."""


MOTIFS: tuple[Motif, ...] = (
    Motif(3, _concurrent_edits),
    Motif(2, _edit_against_delete),
    Motif(2, _late_edit, ("delay",)),
    Motif(3, _associated_edits),
    Motif(3, _cycle),
    Motif(3, _twins),
    Motif(5, _child_first, ("loss",)),
    Motif(2, _below_the_deleted),
    Motif(2, _deleted_and_renamed),
    Motif(2, _back_and_forth, ("delay", "partition")),
    Motif(2, _content_first, ("delay",)),
    Motif(3, _lost_content, ("loss",)),
    Motif(3, _silent_source, ("loss",)),
    Motif(3, _few_slots, ("loss",)),
    Motif(5, _several_sources, ("loss",)),
    Motif(2, _unheard_status, ("loss",)),
    Motif(2, _unheard_request, ("loss",)),
    Motif(3, _deleted_while_missing, ("loss",)),
    Motif(4, _asked_when_gone, ("loss", "delay")),
    Motif(1, _overtaken, ("reordering",)),
    Motif(1, _doubled, ("duplication", "loss")),
    Motif(3, _expired, ("partition",)),
    Motif(2, _altered, ("corruption",)),
)
"""By weights that give each branch its share of the seeds."""
