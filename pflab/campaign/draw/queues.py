"""Generate orders of administrators about queues: a queue is frozen, its mails are deleted, returned or kept, and it goes on
(spec: RT-5)."""

from __future__ import annotations

import random

from pflab.campaign.draw import timed
from pflab.campaign.draw.state import DrawState
from traces.labtime import HOUR_US, MINUTE_US

_ORDERED = 0.12
_FROZEN_US = (20 * MINUTE_US, 3 * HOUR_US, 30 * HOUR_US)
_TYPES = ("content", "hierarchy", "status", "backfill request", "content response")
_FORGOTTEN = 0.2
"""How often the queue stays frozen until the repair."""


def draw_queues(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    """Return these steps. They have their own generator, so the other steps of a seed do not depend on them."""
    if len(state.stores) < 2 or draw.random() >= _ORDERED:
        return []
    return [step for _ in range(draw.choice((1, 2, 3))) for step in _frozen(draw, state)]


def _frozen(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    on, hop = draw.sample(state.stores, 2)
    at_us = state.instant(draw, 0.0, 0.8)
    steps = [timed.queue(at_us=at_us, on=on, order="freeze", next_hop=hop)]
    at_us += draw.choice(_FROZEN_US)
    order = draw.choice(("delete", "delete", "return", "freeze", None))
    if order is not None and (order == "freeze" or draw.random() < 0.5):
        steps.append(timed.queue(at_us=at_us, on=on, order=order, mail_type=draw.choice(_TYPES)))
    elif order is not None:
        steps.append(timed.queue(at_us=at_us, on=on, order=order, next_hop=hop))
    if draw.random() >= _FORGOTTEN:
        steps.append(timed.queue(at_us=at_us + MINUTE_US, on=on, order="unfreeze", next_hop=hop))
    return steps
