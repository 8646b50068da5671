"""The division of updates and numbers over mails (spec: OUT-2, OUT-3, CN-6, CN-7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from node.codec.replication_message import Update, names_of
from node.tracking.change_number import ChangeNumber
from node.tracking.number_sets import NumberSets
from transport.stimulus import UPDATE_BYTES, Stimulus

DELETION_BYTES = 200
"""The approximate size of a message's deletion in a mail. Object id, change number, PCL and time have at least 110 bytes."""

UPDATES_A_MAIL = 50_000
"""The largest number of updates in one mail, whatever their size. A receiver accepts slightly more."""


def work_of(update: Update) -> int:
    """Return how many bytes an update counts towards STIMULUS_BYTES."""
    return UPDATE_BYTES + len(update.version.item or b"")


def portion(s: Stimulus, mails: Iterator[list[Update]]) -> list[list[Update]]:
    """Return the mails that this stimulus sends: at least one, and more until it has sent enough. A mail is never divided."""
    items = []
    for mail in mails:
        items.append(mail)
        s.work += sum(map(work_of, mail))
        if s.enough:
            break
    return items


def split(
    updates: Iterable[Update], size_target: int, item_limit: int | None, *, hierarchy: bool
) -> Iterator[list[Update]]:
    """Yield the updates of each mail: small ones together up to the size target, a larger one alone (spec: OUT-3).

    Deletions of folders count as 0 bytes, so that the deletion of a whole tree stays in one mail (spec: HI-6).
    """
    deletion = 0 if hierarchy else DELETION_BYTES
    mail: list[Update] = []
    size = items = 0
    for update in updates:
        item = update.version.item
        weight = len(item) if item is not None else deletion
        full = weight > 0 and (size + weight > size_target or (item_limit is not None and items >= item_limit))
        if (full and size > 0) or len(mail) >= UPDATES_A_MAIL:
            yield mail
            mail = []
            size = items = 0
        mail.append(update)
        size += weight
        items += item is not None
    if mail:
        yield mail


def pending_after(mails: Sequence[Sequence[Update]], later: NumberSets = NumberSets.EMPTY) -> list[NumberSets]:
    """Return for each mail the numbers of later mails, which this mail must not claim.

    `later`: numbers after the last of `mails`.

    In the set of the other kind, such a number is a hole (spec: CN-9).
    """
    result = []
    for mail in reversed(mails):
        result.append(later)
        later |= names_of(mail)
    return result[::-1]


def shares(numbers: NumberSets, mails: Sequence[Sequence[Update]]) -> list[NumberSets]:
    """Return the share of the numbers for each mail: all numbers up to its last item, except the numbers of later mails.

    The items of the mails are in order of number. The last mail gets the rest. The shares are disjoint, and their union
    is `numbers`. A number of a later mail is still a hole in the set of the other kind, so a mail may claim it there.
    """
    counts = pending_after(mails)
    result: list[NumberSets] = []
    remainder = numbers
    for index, mail in enumerate(mails):
        if index == len(mails) - 1:
            result.append(remainder)
            break
        boundary = max(update.version.number for update in mail)
        names = names_of(mail).merged()
        share = NumberSets(remainder.contents.upto(boundary), remainder.associated.upto(boundary))
        share = (share | remainder & NumberSets(names, names)) - counts[index]
        result.append(share)
        remainder -= share
    return result


def in_order(updates: Sequence[Update]) -> list[Update]:
    """Return the updates in order of change number."""
    return sorted(updates, key=_number)


def _number(update: Update) -> ChangeNumber:
    return update.version.number
