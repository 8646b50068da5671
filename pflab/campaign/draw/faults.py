"""Generate random faults, each with a target, a start and a duration."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from node.state.version_profiles import PROFILES
from pflab.campaign.draw import timed
from pflab.campaign.draw.state import DrawState
from pflab.faults.fault import MailType
from traces.labtime import HOUR_US, MINUTE_US, SECOND_US

_HOW_MANY = (0, 1, 2, 2, 3, 4, 6, 9)
_LASTS_US = (10 * MINUTE_US, HOUR_US, HOUR_US, 5 * HOUR_US, 5 * HOUR_US, 14 * HOUR_US, 30 * HOUR_US)
_DELAYS_US = (7 * MINUTE_US, 40 * MINUTE_US, 5 * HOUR_US, 20 * HOUR_US)
_COUNTS = (1, 1, 1, 2, 3, 8, None)
_TYPES: tuple[MailType | None, ...] = (None, None, None, "content", "content", *get_args(MailType))
_SKEWS_US = (-2 * HOUR_US, -5 * MINUTE_US, -SECOND_US, SECOND_US, 10 * MINUTE_US, 3 * HOUR_US)

_DAMAGED = 0.2
_DAMAGE = ("unstamp", "unlink", "double")

When = tuple[int, int]
"""The start and the duration of a fault, in µs."""


def draw_faults(draw: random.Random, state: DrawState, kinds: Sequence[str]) -> list[timed.Span]:
    """Return random faults of these kinds; some of them overlap. Return none for an organization of one store."""
    kinds = [kind for kind in kinds if kind in _KINDS]
    if not kinds or len(state.stores) < 2:
        return []
    spans: list[timed.Span] = []
    for _ in range(draw.choice(_HOW_MANY)):
        when = (state.instant(draw, 0.0, 0.9), draw.choice(_LASTS_US))
        spans.append(_KINDS[draw.choice(kinds)](draw, state, when))
    return spans


def draw_damage(draw: random.Random, state: DrawState, kinds: Sequence[str]) -> list[timed.Span]:
    """Return a fault of a directory object with some seeds, mostly of a store that joins late (spec: ML-1, ML-8)."""
    kinds = [kind for kind in _DAMAGE if kind in kinds]
    if not kinds or len(state.stores) < 2 or draw.random() >= _DAMAGED:
        return []
    late = [store for store in state.stores if state.topology.servers[store].joins_later]
    server = draw.choice(late if late and draw.random() < 0.7 else state.stores)
    kind, at_us, lasts_us = draw.choice(kinds), state.instant(draw, 0.0, 0.6), draw.choice(_LASTS_US)
    if kind == "unlink" and not PROFILES[str(state.topology.servers[server].version)].has_tree_objects:
        return []
    return [timed.fault(kind, at_us=at_us, lasts_us=lasts_us, server=server)]


def _ends(draw: random.Random, state: DrawState) -> tuple[str | None, str | None]:
    """Return the sender and the recipient of the mails that a fault affects. None means any."""
    one, other = draw.sample(state.stores, 2)
    return draw.choice((one, one, None)), draw.choice((other, other, None))


def _mail(draw: random.Random, state: DrawState, when: When) -> dict[str, Any]:
    from_, to = _ends(draw, state)
    return {
        "at_us": when[0],
        "lasts_us": when[1],
        "from_": from_,
        "to": to,
        "type": draw.choice(_TYPES),
        "count": draw.choice(_COUNTS),
    }


def _loss(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    return timed.fault("lose", **_mail(draw, state, when))


def _delay(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    return timed.fault("delay", **_mail(draw, state, when), by_us=draw.choice(_DELAYS_US))


def _duplication(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    return timed.fault("duplicate", **_mail(draw, state, when))


def _reordering(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    return timed.fault("reorder", **_mail(draw, state, when), by_us=draw.choice((20 * MINUTE_US, 90 * MINUTE_US)))


def _corruption(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    return timed.fault("alter", **_mail(draw, state, when), how=draw.choice(("flip", "flip", "cut", "noise")))


def _partition(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    sites = list(state.topology.sites)
    if len(sites) > 1 and draw.random() < 0.4:
        one, other = draw.sample(sites, 2)
    else:
        one, other = draw.sample(state.stores, 2)
    return timed.fault("cut", at_us=when[0], lasts_us=when[1], between=[one, other], one_way=draw.random() < 0.4)


def _clog(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    one, other = draw.sample(state.stores, 2)
    return timed.fault("hold", at_us=when[0], lasts_us=when[1], from_=one, to=other)


def _swizzle(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    stop = draw.sample(state.stores, draw.randint(1, len(state.stores)))
    start = draw.sample(stop, len(stop))
    gap_us = draw.choice((MINUTE_US, 11 * MINUTE_US, HOUR_US))
    return timed.fault("swizzle", at_us=when[0], lasts_us=when[1], stop=stop, start=start, gap_us=gap_us)


def _crash(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    server = draw.choice(state.stores)
    point: Literal["before commit", "after commit"] = "before commit" if draw.random() < 0.5 else "after commit"
    return timed.fault(
        "crash", at_us=when[0], lasts_us=when[1], server=server, point=point, after=draw.choice((0, 1, 3))
    )


def _slow(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    lasts_us = min(when[1], 5 * HOUR_US)
    return timed.fault(
        "stall", at_us=when[0], lasts_us=lasts_us, server=draw.choice(state.stores), commits=draw.random() < 0.5
    )


def _skew(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    return timed.fault(
        "skew", at_us=when[0], lasts_us=when[1], server=draw.choice(state.stores), by_us=draw.choice(_SKEWS_US)
    )


def _gone(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    server = draw.choice(state.stores)
    return timed.fault("kill" if draw.random() < 0.6 else "stop", at_us=when[0], lasts_us=when[1], server=server)


def _restore(draw: random.Random, state: DrawState, when: When) -> timed.Span:
    dead_us = draw.choice((0, 0, 20 * MINUTE_US, 5 * HOUR_US))
    return timed.fault(
        "restore", at_us=when[0], lasts_us=when[1], server=draw.choice(state.stores), dead_us=min(dead_us, when[1])
    )


_KINDS: Mapping[str, Callable[[random.Random, DrawState, When], timed.Span]] = {
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

FAULT_KINDS: tuple[str, ...] = (*_KINDS, *_DAMAGE)
"""The kinds of fault of a campaign, with the names that `--faults` accepts."""
