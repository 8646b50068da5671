"""CV-3's bound: how long after the last fault and the last change a lab may take to converge, computed from its
settings.

The worst case is a chain, and the bound is the sum of its links. Somebody's last update was made just before the
faults ended and waits for its cycle; the mail was lost, so a status has to tell of it; the status was the one that
was lost, so it is repeated; what it tells waits the first time-out; the request that went out just before the end was
lost, so it waits the longest retry. If the hierarchy changed, all of that may have to happen to the folders first and
then to their content. Every mail of the chain takes the slowest way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from topology import ALWAYS, Schedule, Topology, parse_schedule
from topology.enums import ServerVersion
from topology.schedule import SLOT_US
from traces.events import ChangeMade
from traces.labtime import WEEK_US, format_duration

if TYPE_CHECKING:
    from pflab.lab.lab import Lab

HIERARCHY = "1-1"

MAILS_IN_A_CHAIN = 4
"""Status request, status, backfill request, response: as many mails wait for each other in one chain."""


@dataclass(frozen=True, slots=True)
class Term:
    """One wait of the chain: how long at most, and why."""

    us: int
    why: str


@dataclass(frozen=True, slots=True)
class Bound:
    """The whole chain."""

    terms: tuple[Term, ...]

    @property
    def total_us(self) -> int:
        """The bound in microseconds of lab time."""
        return sum(term.us for term in self.terms)

    def in_words(self) -> list[str]:
        """The bound and its reasons, one line each."""
        reasons = [f"  {format_duration(term.us)}: {term.why}" for term in self.terms if term.us]
        total = format_duration(self.total_us)
        return [f"converged within {total} after the last change and the last fault:", *reasons]


def bound_of(lab: Lab) -> Bound:
    """The bound of a lab as it stands: its topology, the folders that its servers have, and what faults still hold
    back."""
    events = lab.events()
    changed = any(isinstance(event, ChangeMade) and event.folder == HIERARCHY for event in events)
    late = any(server.joins_later for server in lab.topology.servers.values())
    texts = {
        view.schedule
        for name in lab.names
        if lab.running(name)
        for view in lab.read(name, lambda node: node.folders())
        if view.schedule is not None
    }
    schedules = [parse_schedule(text) for text in sorted(texts)]
    chain = bound_of_topology(lab.topology, schedules, hierarchy_changes=changed or late, jitter_us=lab.jitter_us)
    held_us = max(0, lab.faults.held_until_at - lab.now)
    return Bound((Term(held_us, "mail that a fault has held back goes only then"), *chain.terms))


def bound_of_topology(
    topology: Topology, schedules: Iterable[Schedule] = (), *, hierarchy_changes: bool = True, jitter_us: int = 0
) -> Bound:
    """The bound of an organization. `schedules` are those of folders beyond the topology's; `jitter_us` is the
    network's."""
    content = [*schedules, *(folder.schedule for folder in topology.folders.values() if folder.schedule is not None)]
    content += [server.settings.schedule for server in topology.servers.values()]
    terms = []
    if hierarchy_changes:
        terms += _chain(topology, [ALWAYS], jitter_us, "hierarchy")
    terms += _chain(topology, content, jitter_us, "content")
    age_us = max((server.settings.conflict_age_us or 0 for server in topology.servers.values()), default=0)
    if any(server.settings.conflict_age_us is not None for server in topology.servers.values()):
        # A conflict that came about last is ended by a change of the home store, which goes the same way (spec: CF-5).
        terms.append(Term(age_us, "the age at which a home store ends a conflict"))
        terms += _chain(topology, content, jitter_us, "the end of a conflict")
    return Bound(tuple(terms))


def _chain(topology: Topology, schedules: Iterable[Schedule], jitter_us: int, what: str) -> list[Term]:
    """The waits of one chain, each the longest that any server's settings make it.  # spec: CV-3"""
    stores = [server.settings for server in topology.servers.values()]
    always_us = max(store.always_interval_us for store in stores)
    cycle_us = max((longest_gap_us(schedule, always_us) or 0 for schedule in schedules), default=always_us)
    many_sites = len({server.site for server in topology.servers.values()}) > 1
    local = not many_sites
    first_us = max(store.backfill_wait_us(local=local, requests_sent=0) for store in stores)
    retry_us = max(store.backfill_wait_us(local=local, requests_sent=sent) for store in stores for sent in (1, 2))
    status_us = max(store.status_timeout_us for store in stores)
    check_us = max(store.status_alignment_us for store in stores)
    where = "known in the site" if local else "known outside the site"
    return [
        Term(cycle_us, f"{what}: the longest wait for a replication cycle"),
        Term(status_us, f"{what}: a status is sent, or repeated, so long after the last"),
        Term(check_us, f"{what}: and at the next status check"),
        Term(first_us, f"{what}: the first backfill time-out, {where}"),
        Term(retry_us, f"{what}: the longest retry time-out, for a request that was lost"),
        Term(_given_up_us(topology), f"{what}: what has expired is given up after a silence, at the retry after it"),
        Term(_one_by_one_us(topology), f"{what}: 2000 asks those that have a part one at a time"),
        Term(MAILS_IN_A_CHAIN * _trip_us(topology, jitter_us), f"{what}: {MAILS_IN_A_CHAIN} mails on the slowest way"),
    ]


def _given_up_us(topology: Topology) -> int:
    """Where items expire, a holder that has not spoken since is waited for as long as a status and its repeat take (DL-3)."""
    limits = [folder.age_limit_us or folder.replica_age_limits_us for folder in topology.folders.values()]
    stores = [server.settings for server in topology.servers.values()]
    if not any(limits) and all(store.age_limit_us is None for store in stores):
        return 0
    silence_us = max(store.status_timeout_us + 2 * store.status_alignment_us for store in stores)
    return silence_us + max(store.backfill_wait_us(local=False, requests_sent=2) for store in stores)


def _one_by_one_us(topology: Topology) -> int:
    """Where no source has all, each but the first may wait a later retry time-out for its turn (spec: BF-3)."""
    waits = [
        server.settings.backfill_wait_us(local=False, requests_sent=2)
        for server in topology.servers.values()
        if server.version is ServerVersion.V2000
    ]
    return max(waits, default=0) * max(0, len(topology.servers) - 2)


def _trip_us(topology: Topology, jitter_us: int) -> int:
    """The longest that one mail can take: a retry that was just set, and every connector in a row."""
    stores = [server.settings for server in topology.servers.values()]
    size = max(store.message_size_bytes for store in stores)
    retry_us = max(store.mta_retry_us(priority) for store in stores for priority in (-1, 0, 1))
    hops = len(topology.connectors) + 2
    links_us = sum(
        connector.latency_us
        # Base64 and headers make a mail larger than what it carries.
        + connector.transfer_us(2 * size)
        + (0 if connector.schedule.is_always else longest_gap_us(connector.schedule, 0) or 0)
        for connector in topology.connectors
    )
    return retry_us + links_us + hops * jitter_us


def longest_gap_us(schedule: Schedule, always_us: int) -> int | None:
    """The longest time between two firings in a row; None for a schedule that never fires."""
    if schedule.is_never:
        return None
    if schedule.is_always:
        return always_us
    slots = [*schedule.slots, schedule.slots[0] + WEEK_US // SLOT_US]
    return max(later - earlier for earlier, later in pairwise(slots)) * SLOT_US
