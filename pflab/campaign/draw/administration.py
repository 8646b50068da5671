"""Generate what administrators change now and then: contacts, storage limits, retention, log levels, and the last replica of a
folder (spec: CF-3, AD-1, AD-2, DL-5, EV-1)."""

from __future__ import annotations

import random
from typing import Any

from pflab.campaign.draw import timed
from pflab.campaign.draw.motif_builder import CONTACT
from pflab.campaign.draw.state import DrawState
from topology.enums import ServerVersion
from topology.settings.catalogue import LOGGED_CATEGORIES, LOGGING_OF
from topology.settings.spec import LEVEL_NAMES
from traces.labtime import HOUR_US, MINUTE_US

_CHANGED = 0.3
_CHANGES: tuple[dict[str, Any], ...] = (
    {"contacts": [CONTACT]},
    {"contacts": []},
    {"contacts": ["sam@contoso.test", CONTACT]},
    {"warning_limit": "1 KB"},
    {"post_limit": "4 KB"},
    {"post_limit": "none"},
    {"item_limit": "1 KB"},
    {"item_limit": "40 KB", "post_limit": "40 KB", "warning_limit": "20 KB"},
)
_RETAINED = 0.2
_RETENTIONS = ("2 h", "1 d", "30 d")
_LOGGED = 0.15
_LAST_REPLICA = 0.08


def draw_administration(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    """Return these steps, and note the settings that they need."""
    steps: list[timed.Timed] = []
    if draw.random() < _CHANGED:
        for _ in range(draw.choice((1, 2, 4))):
            steps += _change(draw, state)
    if draw.random() < _RETAINED:
        steps += _recovered(draw, state)
    if draw.random() < _LOGGED:
        _set_log_levels(draw, state)
    if draw.random() < _LAST_REPLICA:
        steps += _last_replica(draw, state)
    return steps


def _change(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    """Change the contacts or the limits of a folder."""
    folders = state.existing()
    if not folders:
        return []
    folder = draw.choice(folders)
    at_us = state.instant(draw, 0.0, 0.9)
    return [
        timed.change_folder(at_us=at_us, on=draw.choice(state.stores), folder=folder.label, **draw.choice(_CHANGES))
    ]


def _recovered(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    """Delete a message on one store, and recover it on the same store or on another one that retains what it deletes."""
    folders = [folder for folder in state.existing() if folder.replicas]
    if not folders:
        return []
    folder = draw.choice(folders)
    store = draw.choice(folder.replicas)
    other = draw.choice((store, store, draw.choice(folder.replicas)))
    state.store_settings.setdefault(other, {})["Deleted Item Retention"] = draw.choice(_RETENTIONS)
    at_us, label = state.instant(draw, 0.0, 0.7), state.label("m")
    deleted_us = at_us + draw.choice((MINUTE_US, HOUR_US))
    recovered_us = deleted_us + draw.choice((MINUTE_US, HOUR_US, 2 * HOUR_US))
    state.lasts_until(recovered_us + HOUR_US)
    return [
        timed.post(at_us=at_us, on=store, folder=folder.label, label=label),
        timed.delete(at_us=deleted_us, on=store, message=label),
        timed.recover(at_us=recovered_us, on=other, message=label),
    ]


def _set_log_levels(draw: random.Random, state: DrawState) -> None:
    settings = state.store_settings.setdefault(draw.choice(state.stores), {})
    for category in draw.sample(LOGGED_CATEGORIES, 3):
        settings[LOGGING_OF + category] = draw.choice(tuple(LEVEL_NAMES[ServerVersion.V2003].values()))


def _last_replica(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    """Order a store off all folders, of which one is only there; the store remains its last replica (spec: RP-2)."""
    store, on = draw.choice(state.stores), draw.choice(state.stores)
    at_us, label = state.instant(draw, 0.0, 0.7), state.label("g")
    state.lasts_until(at_us + 2 * HOUR_US)
    return [
        timed.create_folder(at_us=at_us, on=on, label=label, title=f"L{label[1:]}", replicas=(store,)),
        timed.change_replicas(at_us=at_us + HOUR_US, on=on, folder=draw.choice((label, label, None)), remove=store),
    ]
