"""Motifs: a few steps and faults that together cause a situation which random steps rarely cause.

Each motif aims at one branch of the rules. It returns nothing if the organization is not suitable, for example if it has too
few stores.
"""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pflab.campaign.draw import motifs_mail as mail
from pflab.campaign.draw import motifs_objects as objects
from pflab.campaign.draw import motifs_stores as stores
from pflab.campaign.draw import motifs_versions as versions
from pflab.campaign.draw import timed
from pflab.campaign.draw.motif_builder import MotifBuilder, Part
from pflab.campaign.draw.state import DrawState
from traces.labtime import HOUR_US

_HOW_MANY = (0, 2, 2, 3, 4, 4)

_ROOTS = tuple(map(math.sqrt, (2, 3, 5, 7)))
"""The multiples of each root, modulo 1, are spread evenly between 0 and 1. So a few dozen consecutive seeds use all motifs."""


def draw_motifs(
    draw: random.Random, state: DrawState, kinds: Sequence[str], turn: int
) -> tuple[list[timed.Timed], list[timed.Span]]:
    """Return the steps and faults of a few motifs that need only faults of these `kinds`.

    `turn`: the number of the seed.
    """
    allowed = [motif for motif in MOTIFS if set(motif.needs) <= set(kinds)]
    steps: list[timed.Timed] = []
    faults: list[timed.Span] = []
    if len(state.stores) < 2:
        return steps, faults
    for root in _ROOTS[: draw.choice(_HOW_MANY)]:
        a, b, *rest = draw.sample(state.stores, min(3, len(state.stores)))
        at_us = state.instant(draw, 0.0, 0.6) + 2 * HOUR_US
        for part in _first_suitable(
            _in_turn(allowed, turn * root % 1), MotifBuilder(draw, state, at_us, a, b, rest[0] if rest else b)
        ):
            if isinstance(part, timed.Timed):
                steps.append(part)
            else:
                faults.append(part)
    return steps, faults


def _in_turn(allowed: Sequence[Motif], share: float) -> list[Motif]:
    """Return the list of motifs, rotated so that it begins with the motif at `share` (0 to 1) of the sum of all weights."""
    reached = list(accumulate(motif.weight for motif in allowed))
    first = bisect(reached, share * reached[-1])
    return [*allowed[first:], *allowed[:first]]


def _first_suitable(motifs: Sequence[Motif], m: MotifBuilder) -> list[Part]:
    """Return the steps and faults of the first motif that is suitable for this organization."""
    return next((parts for parts in (motif.make(m) for motif in motifs) if parts), [])


@dataclass(frozen=True, slots=True)
class Motif:
    weight: int
    make: Callable[[MotifBuilder], list[Part]]
    needs: tuple[str, ...] = ()
    """Kinds of fault without which the motif has no effect."""


MOTIFS: tuple[Motif, ...] = (
    Motif(3, objects.concurrent_edits),
    Motif(3, objects.edit_against_delete),
    Motif(2, objects.late_edit, ("delay",)),
    Motif(3, objects.associated_edits),
    Motif(7, objects.cycle),
    Motif(6, objects.twins),
    Motif(10, objects.child_first, ("lose",)),
    Motif(2, objects.below_the_deleted),
    Motif(6, objects.deleted_and_renamed),
    Motif(5, objects.renamed_twice),
    Motif(7, objects.renamed_at_once),
    Motif(4, objects.back_and_forth, ("delay", "cut")),
    Motif(4, objects.content_first, ("delay",)),
    Motif(3, mail.lost_content, ("lose",)),
    Motif(12, mail.edited_before_it_went, ("lose",)),
    Motif(11, mail.satisfied_in_the_queue, ("lose", "delay")),
    Motif(8, mail.unclaimed, ("lose",)),
    Motif(7, mail.back_unheard, ("lose",)),
    Motif(9, mail.one_item_unreadable, ("alter",)),
    Motif(3, mail.silent_source, ("lose",)),
    Motif(3, mail.few_slots, ("lose",)),
    Motif(7, mail.several_sources, ("lose",)),
    Motif(8, mail.near_source, ("lose",)),
    Motif(2, mail.unheard_status, ("lose",)),
    Motif(2, mail.unheard_request, ("lose",)),
    Motif(3, mail.deleted_while_missing, ("lose",)),
    Motif(4, mail.asked_when_gone, ("lose", "delay")),
    Motif(6, mail.overtaken, ("reorder",)),
    Motif(1, mail.doubled, ("duplicate", "lose")),
    Motif(3, mail.expired, ("cut",)),
    Motif(2, mail.altered, ("alter",)),
    Motif(4, stores.restored, ("restore",)),
    Motif(14, stores.asked_after_restore, ("restore", "lose")),
    Motif(3, stores.old_backup, ("restore",)),
    Motif(3, stores.long_gone, ("kill",)),
    Motif(5, stores.hidden_for_long),
    Motif(4, stores.leaves_and_returns),
    Motif(2, stores.joins_and_holds),
    Motif(8, versions.near_older, ("lose",)),
    Motif(8, versions.parts_in_turn, ("lose",)),
    Motif(18, versions.oldest_replica),
    Motif(6, versions.expired_everywhere, ("lose",)),
    Motif(6, versions.asked_while_suspended, ("lose",)),
    Motif(6, versions.still_in_the_queue, ("lose", "delay")),
    Motif(6, versions.deleted_source, ("lose",)),
)
"""All motifs, with weights that let enough seeds reach each branch."""
