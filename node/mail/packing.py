"""What goes into which mail, and the numbers each mail stands for (spec: OUT-2, OUT-3, CN-6, CN-7)."""

from __future__ import annotations

from collections.abc import Sequence

from node.codec.replication_message import Update, names_of
from node.tracking.change_number import ChangeNumber
from node.tracking.number_sets import NumberSets

DELETION_BYTES = 200
"""What a message's deletion adds to a mail, about; its object, number, list and time are 110 bytes and more."""


UPDATES_A_MAIL = 50_000
"""Updates in one mail at most, whatever they weigh; a receiver takes a few more."""


def split(
    updates: Sequence[Update], size_target: int, item_limit: int | None, *, hierarchy: bool
) -> list[list[Update]]:
    """Updates in mails: small ones together up to the target, a bigger one alone (spec: OUT-3).

    Folders' deletions weigh nothing, so that the deletion of a whole tree stays in one mail (spec: HI-6).
    """
    deletion = 0 if hierarchy else DELETION_BYTES
    mails: list[list[Update]] = []
    size = items = 0
    for update in updates:
        item = update.version.item
        weight = len(item) if item is not None else deletion
        full = weight > 0 and (size + weight > size_target or (item_limit is not None and items >= item_limit))
        if not mails or (full and size > 0) or len(mails[-1]) >= UPDATES_A_MAIL:
            mails.append([])
            size = items = 0
        mails[-1].append(update)
        size += weight
        items += item is not None
    return mails


def pending_after(mails: Sequence[Sequence[Update]]) -> list[NumberSets]:
    """For each mail, the numbers that the mails after it stand for: it must not claim them. In the other kind's set such a
    number is a hole like any (spec: CN-9)."""
    later, result = NumberSets.EMPTY, []
    for mail in reversed(mails):
        result.append(later)
        later |= names_of(mail)
    return result[::-1]


def shares(whole: NumberSets, mails: Sequence[Sequence[Update]]) -> list[NumberSets]:
    """Divides a set over mails: each gets the numbers up to its last item, less those that later mails still stand for.

    The mails' items are in order of number. What is left after the last item goes with the last mail. The shares are
    disjoint and together are `whole`; each is claimed only by the mail that brings it.
    """
    waiting = [each.merged() for each in pending_after(mails)]
    result: list[NumberSets] = []
    rest = whole
    for index, mail in enumerate(mails):
        if index == len(mails) - 1:
            result.append(rest)
            break
        boundary = max(update.version.number for update in mail)
        names = names_of(mail).merged()
        share = NumberSets(rest.contents.upto(boundary), rest.associated.upto(boundary))
        share = (share | rest & NumberSets(names, names)).without(waiting[index])
        result.append(share)
        rest -= share
    return result


def in_order(updates: Sequence[Update]) -> list[Update]:
    return sorted(updates, key=_number)


def _number(update: Update) -> ChangeNumber:
    return update.version.number
