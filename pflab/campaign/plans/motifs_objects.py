"""Motifs of messages and of the tree: changes that meet."""

from __future__ import annotations

from typing import Literal

from pflab.campaign.plans.motif_builder import KEEPS, TOLD_US, Part, Stage
from pflab.campaign.plans.plan import (
    AddReplica,
    CreateFolder,
    Delay,
    Delete,
    DeleteFolder,
    Edit,
    MoveFolder,
    Partition,
    Post,
    RemoveReplica,
    RenameFolder,
    Resolve,
)
from traces.labtime import HOUR_US, MINUTE_US

# -- messages


def concurrent_edits(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b, on.c)
    post = on.post(on.a, folder.label)
    at_us = on.at_us + 2 * HOUR_US
    parts: list[Part] = [folder, post, *(Edit(at_us=at_us, on=store, message=post.label) for store in (on.a, on.b))]
    if on.draw.random() < 0.7:
        keep: Literal["shown", "last", "all"] = on.draw.choice(KEEPS)
        at_us += on.draw.choice((HOUR_US, 5 * HOUR_US))
        parts.append(Resolve(at_us=at_us, on=on.draw.choice((on.a, on.b)), message=post.label, keep=keep))
    return parts


def edit_against_delete(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b, on.c)
    post = on.post(on.a, folder.label)
    at_us = on.at_us + 2 * HOUR_US
    return [
        folder,
        post,
        Edit(at_us=at_us, on=on.a, message=post.label),
        Delete(at_us=at_us + on.draw.choice((0, 5 * MINUTE_US)), on=on.b, message=post.label),
    ]


def late_edit(on: Stage) -> list[Part]:
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


def associated_edits(on: Stage) -> list[Part]:
    folder = on.folder(on.a, on.b, on.c)
    post = on.post(on.a, folder.label, associated=True)
    at_us = on.at_us + 2 * HOUR_US
    pair = enumerate((on.a, on.b))
    edits = [Edit(at_us=at_us + index * MINUTE_US, on=store, message=post.label) for index, store in pair]
    return [folder, post, *edits]


# -- the tree


def cycle(on: Stage) -> list[Part]:
    one, other = on.folder(on.a, on.b), on.folder(on.a, on.b)
    if on.draw.random() < 0.5:  # known in another order on either side
        other = CreateFolder(at_us=other.at_us, on=on.b, label=other.label, title=other.title, replicas=other.replicas)
    return [
        one,
        other,
        MoveFolder(at_us=on.at_us, on=on.a, folder=one.label, under=other.label),
        MoveFolder(at_us=on.at_us, on=on.b, folder=other.label, under=one.label),
    ]


def twins(on: Stage) -> list[Part]:
    title = f"T{on.sketch.label('t')[1:]}"
    one = on.folder(on.a, on.b, at_us=on.at_us, title=title)
    other = on.folder(on.b, on.a, at_us=on.at_us, title=title)
    second = CreateFolder(at_us=other.at_us, on=on.b, label=other.label, title=title, replicas=other.replicas)
    return [one, second, on.post(on.b, second.label, HOUR_US)]


def child_first(on: Stage) -> list[Part]:
    """The mail with the parent is lost, that with the child comes; it waits, for too short a time at times."""
    if on.draw.random() < 0.9:
        on.sketch.settings["Replication Folder Tree RMQ Timeout"] = "1 h"
    parent = on.folder(on.a, at_us=on.at_us)
    child = on.folder(on.a, on.b, at_us=on.at_us + TOLD_US)
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


def below_the_deleted(on: Stage) -> list[Part]:
    upper, lower = on.folder(on.a, on.b), on.folder(on.a, on.b, on.c)
    return [
        upper,
        lower,
        on.post(on.b, lower.label),
        DeleteFolder(at_us=on.at_us + HOUR_US, on=on.a, folder=upper.label),
        MoveFolder(at_us=on.at_us + HOUR_US, on=on.b, folder=lower.label, under=upper.label),
    ]


def deleted_and_renamed(on: Stage) -> list[Part]:
    """The deletion is the earlier of the two, and wins."""
    folder = on.folder(on.a, on.b)
    rename = RenameFolder(at_us=on.at_us + 5 * MINUTE_US, on=on.b, folder=folder.label, title=f"D{folder.label[1:]}")
    return [folder, DeleteFolder(at_us=on.at_us, on=on.a, folder=folder.label), rename]


def renamed_twice(on: Stage) -> list[Part]:
    """The later of two renames wins, though the earlier comes after it."""
    folder = on.folder(on.a, on.b)
    return [folder, _rename(on, on.a, folder.label, "R"), _rename(on, on.b, folder.label, "S", MINUTE_US)]


def renamed_at_once(on: Stage) -> list[Part]:
    """Two renames of one store at one instant: the second is the later one all the same."""
    folder = on.folder(on.a, on.b)
    return [folder, _rename(on, on.a, folder.label, "R"), _rename(on, on.a, folder.label, "S")]


def _rename(on: Stage, store: str, folder: str, letter: str, after_us: int = 0) -> RenameFolder:
    return RenameFolder(at_us=on.at_us + after_us, on=store, folder=folder, title=f"{letter}{folder[1:]}")


def back_and_forth(on: Stage) -> list[Part]:
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


def content_first(on: Stage) -> list[Part]:
    """A new holder gets content before it hears that it is one."""
    folder = on.folder(on.a)
    by_us = on.draw.choice((HOUR_US, 6 * HOUR_US))
    late = Delay(at_us=on.at_us, lasts_us=HOUR_US, from_=on.a, to=on.b, type="hierarchy", by_us=by_us, count=1)
    add = AddReplica(at_us=on.at_us, on=on.a, folder=folder.label, store=on.b)
    return [folder, on.post(on.a, folder.label), late, add, on.post(on.a, folder.label, 5 * MINUTE_US)]
