"""Generate the random steps of users and administrators, chosen by weights, with pauses between them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pflab.campaign.draw import timed
from pflab.campaign.draw.state import DrawState, FolderState
from topology.enums import FolderPriority, ResolveMethod, ServerVersion
from traces.labtime import HOUR_US, MINUTE_US

_PAUSES_US = (0, 0, MINUTE_US, 5 * MINUTE_US, 16 * MINUTE_US, HOUR_US, 3 * HOUR_US, 7 * HOUR_US)
_SIZES = (10, 10, 10, 10, 200, 200, 200, 200, 200, 2_000, 2_000, 2_000, 2_000, 20_000, 20_000, 350_000)
_COUNTS = (1, 1, 1, 1, 2, 5, 12)
_MOST_STEPS = (5, 12, 12, 25, 25, 40, 80)
_LARGE = 6
_MOST_STEPS_WHEN_LARGE = 12
"""The largest number of steps in a large organization. Each change goes to many stores there, so a few steps cause enough
work."""

_SCHEDULES = ("always", "every 1 h", "every 2 h", "Mon-Sun 08:00-18:00")
_PROPERTIES: tuple[Callable[[random.Random], Mapping[str, Any]], ...] = (
    lambda draw: {"schedule": draw.choice(_SCHEDULES)},
    lambda draw: {"resolve": str(draw.choice(tuple(ResolveMethod)))},
    lambda draw: {"priority": str(draw.choice(tuple(FolderPriority)))},
)
_TITLES = ("G1", "G2", "G3", "G4")
"""The titles of new folders: only few, so that two stores sometimes create the same name (spec: HI-7)."""

_TWINS = 0.2
"""The share of created folders that two stores create with the same name at the same instant."""

_SUSPENDED = 0.1
_SUSPENDED_US = (20 * MINUTE_US, 2 * HOUR_US, 9 * HOUR_US, 40 * HOUR_US)
_DELETED = 0.1
_CREATED_AGAIN = 0.5
_SHOWN = 0.4
_SHOWN_US = (10 * MINUTE_US, 3 * HOUR_US, 14 * HOUR_US)
"""How long a store is only shown before it is deleted."""
_WITHOUT_STORE_US = (0, 10 * MINUTE_US, 3 * HOUR_US, 14 * HOUR_US)

_SCENARIOS_WITH_SAVES = 0.3
_AFTER_EDIT_US = (0, MINUTE_US, MINUTE_US, 20 * MINUTE_US, 2 * HOUR_US)

_ARRIVED_US = HOUR_US
"""A message older than this has probably reached the other holders."""


def draw_work(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    """Return the steps of a scenario. They end at its length or at the maximal number of steps."""
    steps: list[timed.Timed] = []
    most = draw.choice(_MOST_STEPS)
    if len(state.stores) > _LARGE:
        most = min(most, _MOST_STEPS_WHEN_LARGE)
    at_us = 0
    steps += [timed.join(at_us=state.instant(draw, 0.1, 0.8), store=store) for store in state.late]
    steps += [*_suspension(draw, state), *_deleted_store(draw, state)]
    while at_us < state.length_us and len(steps) < most:
        (step,) = draw.choices([step for _, step in _STEPS], [weight for weight, _ in _STEPS])
        steps.extend(step(draw, state, at_us))
        at_us += draw.choice(_PAUSES_US)
    return steps


def _suspension(draw: random.Random, state: DrawState) -> Iterator[timed.Timed]:
    """With some seeds, suspend content replication for a while or until the heal."""
    if draw.random() < _SUSPENDED:
        at_us = state.instant(draw, 0.0, 0.8)
        yield timed.content(action="suspend", at_us=at_us)
        yield timed.content(action="resume", at_us=at_us + draw.choice(_SUSPENDED_US))


def _deleted_store(draw: random.Random, state: DrawState) -> Iterator[timed.Timed]:
    through = {end for connector in state.connectors for end in connector.bridgeheads}
    dispensable = [store for store in state.stores[1:] if store not in through]
    if len(state.stores) > 2 and dispensable and draw.random() < _DELETED:
        store = draw.choice(dispensable)
        on = draw.choice([candidate for candidate in state.stores if candidate != store])
        yield timed.delete_store(at_us=state.instant(draw, 0.3, 0.9), on=on, store=store)


def draw_created_stores(draw: random.Random, state: DrawState, steps: Sequence[timed.Timed]) -> list[timed.Timed]:
    """Return steps that create some of the stores again that these steps delete, and give them replicas (spec: RP-7)."""
    created: list[timed.Timed] = []
    for step in steps:
        if step.verb != "directory" or draw.random() >= _CREATED_AGAIN:
            continue
        store, on = step.args["delete"], step.args["on"]
        again = timed.create_store(at_us=step.at_us + draw.choice(_WITHOUT_STORE_US), store=store)
        created.append(again)
        for folder in draw.sample(state.folders, min(len(state.folders), draw.choice((0, 1, 2)))):
            at_us = again.at_us + draw.choice((0, 20, 200)) * MINUTE_US
            created.append(timed.add_replica(at_us=at_us, on=on, folder=folder.label, store=store))
            at_us += draw.choice((40, 500)) * MINUTE_US
            created.append(timed.post(at_us=at_us, on=store, folder=folder.label, label=state.label("m")))
        state.lasts_until(again.at_us + HOUR_US)
    return created


def draw_shown_stores(draw: random.Random, state: DrawState, steps: Sequence[timed.Timed]) -> list[timed.Timed]:
    """Return steps that restore backups in place of some of the stores that these steps delete: a server shows the store of
    another one of its version until it is deleted (spec: RP-8). If it cannot be deleted, it is at the repair."""
    shown: list[timed.Timed] = []
    for step in steps:
        if step.verb != "directory" or draw.random() >= _SHOWN:
            continue
        servers, store = state.topology.servers, step.args["delete"]
        owners = [name for name in state.stores if name != store and servers[name].version is servers[store].version]
        if owners:
            at_us = max(0, step.at_us - draw.choice(_SHOWN_US))
            shown += timed.restore_elsewhere(
                at_us=at_us,
                on=store,
                owner=draw.choice(owners),
                backup_at_us=draw.randint(0, at_us),
                label=state.label("tape"),
            )
    return shown


def draw_orders(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    """Return the orders of administrators in a scenario, and the mails that users send from folders (spec: AD-1, ML-5).

    They have their own generator, so the other steps of a seed do not depend on them.
    """
    steps: list[timed.Timed] = []
    if draw.random() >= _ORDERED or len(state.stores) < 2:
        return steps
    for _ in range(draw.choice((1, 2, 4))):
        (order,) = draw.choices([order for _, order in _ORDERS], [weight for weight, _ in _ORDERS])
        steps += order(draw, state, state.instant(draw, 0.1, 0.9))
    return steps


def _ordered_folder(draw: random.Random, state: DrawState) -> tuple[str, list[str], str | None]:
    """Return a store, the other holders, and the folder; None for the hierarchy."""
    place = None if draw.random() < _OF_HIERARCHY else _place(draw, state)
    folder = None if place is None else place[1]
    holders = state.stores if folder is None else folder.replicas
    store = draw.choice(_able(state, holders))
    return store, [holder for holder in holders if holder != store], None if folder is None else folder.label


def _able(state: DrawState, stores: Sequence[str]) -> Sequence[str]:
    """Return the stores whose versions have Send and Synchronize, or all if there are none."""
    old = {ServerVersion.V5_5, ServerVersion.V2000}
    return [store for store in stores if state.topology.servers[store].version not in old] or stores


def _resend(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    store, others, label = _ordered_folder(draw, state)
    to = draw.choice(others) if others and draw.random() < 0.5 else None
    yield timed.resend(at_us=at_us, on=store, folder=label, store=to, days=draw.choice((1, 1, 7)))


def _synchronize(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    store, _, label = _ordered_folder(draw, state)
    yield timed.synchronize(at_us=at_us, on=store, folder=label)


def _never(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    """Under the schedule "never", let a store post, and send it by order. The heal ends the schedule (spec: RST-1)."""
    place = _place(draw, state)
    if place is None:
        return
    folder = place[1]
    store = draw.choice(_able(state, folder.replicas))
    others = [holder for holder in folder.replicas if holder != store]
    yield timed.change_folder(at_us=at_us, on=store, folder=folder.label, schedule="never")
    for wait_us in (HOUR_US, 2 * HOUR_US):
        label = state.label("m")
        yield timed.post(at_us=at_us + wait_us, on=store, folder=folder.label, label=label, count=draw.choice(_COUNTS))
        to = draw.choice(others) if others and draw.random() < 0.5 else None
        yield timed.resend(at_us=at_us + wait_us + HOUR_US // 2, on=store, folder=folder.label, store=to)


def _send_mail(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    place, other = _any_folder(draw, state), _any_folder(draw, state)
    if place is not None and other is not None:
        title = state.label("s")
        yield timed.send_mail(at_us=at_us, on=place[0], folder=place[1].label, recipient=other[1].label, title=title)


def _subtree(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    """Add, remove or replace a store in a subtree, or in all folders; rarely propagate properties."""
    folders = state.existing()
    top = None if not folders or draw.random() < _OF_HIERARCHY else draw.choice(folders)
    inside = {None if top is None else top.label}
    below = []
    for folder in state.folders:  # parents come before their children
        if top is None or folder.label in inside or folder.under in inside:
            inside.add(folder.label)
            below.append(folder)
    on, label = draw.choice(state.stores), None if top is None else top.label
    store, by = draw.sample(state.stores, 2)
    kind = draw.choice(("add", "remove", "replace", "replace", "propagate"))
    if kind == "add":
        yield timed.change_replicas(at_us=at_us, on=on, folder=label, add=store)
    elif kind == "remove":
        yield timed.change_replicas(at_us=at_us, on=on, folder=label, remove=store)
    elif kind == "replace":
        yield timed.change_replicas(at_us=at_us, on=on, folder=label, replace=store, by=by)
    elif top is not None:
        yield timed.propagate(at_us=at_us, on=on, folder=top.label, properties=draw.choice(_PROPAGATED))
    for folder in below if kind != "propagate" else ():
        had, last = store in folder.replicas, folder.replicas == [store]
        if kind == "add" and not had:
            folder.replicas.append(store)
        elif had and (kind == "replace" or (kind == "remove" and not last)):
            folder.replicas.remove(store)
            if kind == "replace" and by not in folder.replicas:
                folder.replicas.append(by)


_PROPAGATED = (("replicas",), ("schedule", "priority"), ("replicas", "resolve", "contacts", "age_limit"))
_ORDERED = 0.3
_OF_HIERARCHY = 0.3
_ORDERS: tuple[tuple[int, Callable[[random.Random, DrawState, int], Iterator[timed.Timed]]], ...] = (
    (5, _subtree),
    (5, _resend),
    (3, _synchronize),
    (2, _never),
    (3, _send_mail),
)
"""The weight and the function of each kind of order."""


def _place(draw: random.Random, state: DrawState) -> tuple[str, FolderState] | None:
    """Return a random folder and a store that should hold it."""
    folders = state.existing()
    if not folders:
        return None
    folder = draw.choice(folders)
    return draw.choice(folder.replicas), folder


def _post(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    place = _place(draw, state)
    if place is None:
        return
    store, folder = place
    size = draw.choice(_SIZES)
    step = timed.post(
        at_us=at_us,
        on=store,
        folder=folder.label,
        label=state.label("m"),
        count=draw.choice(_COUNTS) if size < 20_000 else 1,
        size=size,
        associated=draw.random() < 0.12,
    )
    folder.messages += [(label, at_us) for label in timed.labels_of(step)]
    yield step


def _message(draw: random.Random, state: DrawState, at_us: int) -> tuple[str, FolderState, str] | None:
    """Return a store, its folder, and a message that the store should have."""
    folders = [folder for folder in state.existing() if folder.messages]
    if not folders:
        return None
    folder = draw.choice(folders)
    settled = [label for label, made_us in folder.messages if at_us - made_us >= _ARRIVED_US]
    # Usually choose one of the newest, so that several stores change the same message.
    pool = settled[-4:] if settled and draw.random() < 0.7 else [label for label, _ in folder.messages]
    return draw.choice(folder.replicas), folder, draw.choice(pool)


def _edit(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    target = _message(draw, state, at_us)
    if target is None:
        return
    store, folder, message = target
    yield timed.edit(at_us=at_us, on=store, message=message)
    others = [holder for holder in folder.replicas if holder != store]
    if others and draw.random() < 0.2:
        yield timed.edit(at_us=at_us, on=draw.choice(others), message=message)


def draw_saves(draw: random.Random, steps: Iterable[timed.Timed]) -> list[timed.Timed]:
    """Return second saves of edited messages (spec: CF-6).

    In some scenarios, people have opened a message as it was posted, and save it after one of the edits.
    """
    if draw.random() >= _SCENARIOS_WITH_SAVES:
        return []
    return [
        timed.save_of_first(
            at_us=step.at_us + draw.choice(_AFTER_EDIT_US), on=step.args["on"], message=step.args["message"]
        )
        for step in steps
        if step.verb == "edit" and draw.random() < 0.5
    ]


def _delete(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    target = _message(draw, state, at_us)
    if target is not None:
        yield timed.delete(at_us=at_us, on=target[0], message=target[2])


def _resolve(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    target = _message(draw, state, at_us)
    if target is not None:
        yield timed.resolve(at_us=at_us, on=target[0], message=target[2], keep=draw.choice(("shown", "last", "all")))


# -- administrators


def _create_folder(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    folders = state.existing()
    under = draw.choice(folders).label if folders and draw.random() < 0.5 else None
    replicas = draw.sample(state.stores, min(len(state.stores), draw.choice((1, 2, 2, 3))))
    title = draw.choice(_TITLES)
    creators = draw.sample(state.stores, 2 if len(state.stores) > 1 and draw.random() < _TWINS else 1)
    for store in creators:
        label = state.label("g")
        state.folders.append(FolderState(label, replicas[:], under))
        yield timed.create_folder(at_us=at_us, on=store, label=label, title=title, under=under, replicas=replicas)


def _any_folder(draw: random.Random, state: DrawState) -> tuple[str, FolderState] | None:
    folders = state.existing()
    return (draw.choice(state.stores), draw.choice(folders)) if folders else None


def _rename_folder(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    place = _any_folder(draw, state)
    if place is not None:
        title = draw.choice((state.label("R"), *_TITLES))
        yield timed.rename_folder(at_us=at_us, on=place[0], folder=place[1].label, title=title)


def _move_folder(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    place, other = _any_folder(draw, state), _any_folder(draw, state)
    if place is not None and other is not None:
        under = None if place[1] is other[1] or draw.random() < 0.3 else other[1].label
        yield timed.move_folder(at_us=at_us, on=place[0], folder=place[1].label, under=under)


def _change_folder(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    place = _any_folder(draw, state)
    if place is not None:
        yield timed.change_folder(at_us=at_us, on=place[0], folder=place[1].label, **draw.choice(_PROPERTIES)(draw))


def _delete_folder(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    place = _any_folder(draw, state)
    if place is not None and len(state.existing()) > 1:
        deleted = {place[1].label}
        for folder in state.folders:  # parents come before their children
            if folder.label in deleted or folder.under in deleted:
                deleted.add(folder.label)
                folder.deleted = True
        yield timed.delete_folder(at_us=at_us, on=place[0], folder=place[1].label)


def _add_replica(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    place = _any_folder(draw, state)
    if place is None:
        return
    others = [store for store in (*state.stores, *state.late) if store not in place[1].replicas]
    if others:
        store = draw.choice(others)
        place[1].replicas.append(store)
        yield timed.add_replica(at_us=at_us, on=place[0], folder=place[1].label, store=store)


def _remove_replica(draw: random.Random, state: DrawState, at_us: int) -> Iterator[timed.Timed]:
    place = _any_folder(draw, state)
    if place is not None and len(place[1].replicas) > 1:
        store = draw.choice(place[1].replicas)
        place[1].replicas.remove(store)
        yield timed.remove_replica(at_us=at_us, on=place[0], folder=place[1].label, store=store)


_STEPS: tuple[tuple[int, Callable[[random.Random, DrawState, int], Iterator[timed.Timed]]], ...] = (
    (30, _post),
    (18, _edit),
    (8, _delete),
    (3, _resolve),
    (3, _create_folder),
    (2, _rename_folder),
    (2, _move_folder),
    (2, _change_folder),
    (1, _delete_folder),
    (3, _add_replica),
    (2, _remove_replica),
)
"""The weight and the function of each kind of step."""
