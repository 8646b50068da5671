"""Generate random faults, each with a target, a start and a duration."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from pflab.campaign.plans.plan import (
    Alter,
    AnyFault,
    Crash,
    Cut,
    Delay,
    Duplicate,
    Hold,
    Kill,
    Lose,
    Reorder,
    Restore,
    Skew,
    Stall,
    Swizzle,
    Unstamp,
)
from pflab.campaign.plans.plan_state import PlanState
from pflab.faults.fault import MailType
from traces.labtime import HOUR_US, MINUTE_US, SECOND_US

_HOW_MANY = (0, 1, 2, 2, 3, 4, 6, 9)
_LASTS_US = (10 * MINUTE_US, HOUR_US, HOUR_US, 5 * HOUR_US, 5 * HOUR_US, 14 * HOUR_US, 30 * HOUR_US)
_DELAYS_US = (7 * MINUTE_US, 40 * MINUTE_US, 5 * HOUR_US, 20 * HOUR_US)
_COUNTS = (1, 1, 1, 2, 3, 8, None)
_TYPES: tuple[MailType | None, ...] = (None, None, None, "content", "content", *get_args(MailType))
_SKEWS_US = (-2 * HOUR_US, -5 * MINUTE_US, -SECOND_US, SECOND_US, 10 * MINUTE_US, 3 * HOUR_US)

_UNSTAMPED = 0.12

When = tuple[int, int]
"""The start and the duration of a fault, in µs."""


def draw_faults(draw: random.Random, state: PlanState, kinds: Sequence[str]) -> list[AnyFault]:
    """Return random faults of these kinds; some of them overlap. Return none for an organization of one store."""
    kinds = [kind for kind in kinds if kind in _KINDS]
    if not kinds or len(state.stores) < 2:
        return []
    found: list[AnyFault] = []
    for _ in range(draw.choice(_HOW_MANY)):
        when = (state.instant(draw, 0.0, 0.9), draw.choice(_LASTS_US))
        found.append(_KINDS[draw.choice(kinds)](draw, state, when))
    return found


def draw_unstamped(draw: random.Random, state: PlanState, kinds: Sequence[str]) -> list[AnyFault]:
    """Return a fault of the recipient update service in some plans, mostly of a store that joins late (spec: ML-1)."""
    if "unstamp" not in kinds or len(state.stores) < 2 or draw.random() >= _UNSTAMPED:
        return []
    late = [store for store in state.stores if state.topology.servers[store].joins_later]
    server = draw.choice(late if late and draw.random() < 0.7 else state.stores)
    return [Unstamp(at_us=state.instant(draw, 0.0, 0.6), lasts_us=draw.choice(_LASTS_US), server=server)]


def _ends(draw: random.Random, state: PlanState) -> tuple[str | None, str | None]:
    """Return the sender and the recipient of the mails that a fault affects. None means any."""
    one, other = draw.sample(state.stores, 2)
    return draw.choice((one, one, None)), draw.choice((other, other, None))


def _mail(draw: random.Random, state: PlanState, when: When) -> dict[str, Any]:
    from_, to = _ends(draw, state)
    return {
        "at_us": when[0],
        "lasts_us": when[1],
        "from_": from_,
        "to": to,
        "type": draw.choice(_TYPES),
        "count": draw.choice(_COUNTS),
    }


def _loss(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    return Lose(**_mail(draw, state, when))


def _delay(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    return Delay(**_mail(draw, state, when), by_us=draw.choice(_DELAYS_US))


def _duplication(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    return Duplicate(**_mail(draw, state, when))


def _reordering(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    return Reorder(**_mail(draw, state, when), by_us=draw.choice((20 * MINUTE_US, 90 * MINUTE_US)))


def _corruption(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    return Alter(**_mail(draw, state, when), how=draw.choice(("flip", "flip", "cut", "noise")))


def _partition(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    sites = list(state.topology.sites)
    if len(sites) > 1 and draw.random() < 0.4:
        one, other = draw.sample(sites, 2)
    else:
        one, other = draw.sample(state.stores, 2)
    return Cut(at_us=when[0], lasts_us=when[1], between=(one, other), one_way=draw.random() < 0.4)


def _clog(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    one, other = draw.sample(state.stores, 2)
    return Hold(at_us=when[0], lasts_us=when[1], link=(one, other))


def _swizzle(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    stop = draw.sample(state.stores, draw.randint(1, len(state.stores)))
    start = draw.sample(stop, len(stop))
    gap_us = draw.choice((MINUTE_US, 11 * MINUTE_US, HOUR_US))
    return Swizzle(at_us=when[0], lasts_us=when[1], stop=tuple(stop), start=tuple(start), gap_us=gap_us)


def _crash(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    server = draw.choice(state.stores)
    point: Literal["before commit", "after commit"] = "before commit" if draw.random() < 0.5 else "after commit"
    return Crash(at_us=when[0], lasts_us=when[1], server=server, point=point, after=draw.choice((0, 1, 3)))


def _slow(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    lasts_us = min(when[1], 5 * HOUR_US)
    return Stall(at_us=when[0], lasts_us=lasts_us, server=draw.choice(state.stores), commits=draw.random() < 0.5)


def _skew(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    return Skew(at_us=when[0], lasts_us=when[1], server=draw.choice(state.stores), by_us=draw.choice(_SKEWS_US))


def _gone(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    server = draw.choice(state.stores)
    return Kill(at_us=when[0], lasts_us=when[1], server=server, kill=draw.random() < 0.6)


def _restore(draw: random.Random, state: PlanState, when: When) -> AnyFault:
    dead_us = draw.choice((0, 0, 20 * MINUTE_US, 5 * HOUR_US))
    return Restore(at_us=when[0], lasts_us=when[1], server=draw.choice(state.stores), dead_us=min(dead_us, when[1]))


_KINDS: Mapping[str, Callable[[random.Random, PlanState, When], AnyFault]] = {
    "lose": _loss,
    "delay": _delay,
    "duplicate": _duplication,
    "reorder": _reordering,
    "alter": _corruption,
    "cut": _partition,
    "hold": _clog,
    "swizzle": _swizzle,
    "crash": _crash,
    "stall": _slow,
    "skew": _skew,
    "kill": _gone,
    "restore": _restore,
}
