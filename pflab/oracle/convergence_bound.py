"""The bound of CV-3: how long after the last fault and the last change a lab may take to converge, computed from its settings.

The worst case is a chain of waits, and the bound is their sum:

1. The last change was made just before the faults ended, and waits for its replication cycle.
2. Its mail was lost, so other stores learn of it only from a status.
3. The status was lost too, so it is repeated after the next check.
4. The changes that the status shows as missing wait for the first backfill time-out.
5. The backfill request was lost, so it waits for the longest retry time-out.

If the hierarchy changed, this may happen to the folders first, and then to their content. Every mail takes the slowest route.

A connector with a bandwidth limit carries one mail after the other. In the worst case all content of the lab crosses it for
each store, and while the answers wait in the queue, the stores request the changes that have not arrived again at each retry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from pflab.terms.folder_ids import HIERARCHY
from topology.enums import ServerVersion
from topology.file.load import topology_from_text
from topology.model import Topology
from topology.schedule import ALWAYS, SLOT_US, Schedule, parse_schedule
from traces.events import ChangeMade, OrganizationChanged
from traces.labtime import WEEK_US, format_duration

if TYPE_CHECKING:
    from pflab.lab.lab import Lab


MAILS_IN_A_CHAIN = 4
"""The mails of one chain: status request, status, backfill request and response. Each waits for the mail before it."""


AS_MAIL = 2
"""How many times as large as its content a mail may be: base64 and headers add to it."""


@dataclass(frozen=True, slots=True)
class Term:
    """One wait of the chain: its longest time and its reason."""

    us: int
    why: str


@dataclass(frozen=True, slots=True)
class Bound:
    """All waits of the chain, and their sum."""

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
    """Return how long a lab may take to converge. This follows from its topology, the folders of its servers, and the mail that
    faults still hold."""
    events = lab.events()
    tree_changes = any(isinstance(event, ChangeMade) and event.folder == HIERARCHY for event in events)
    topology = lab.organization
    late = any(server.joins_later for server in topology.servers.values())
    texts = {
        view.schedule
        for name in lab.names
        if lab.running(name)
        for view in lab.read(name, lambda node: node.folders())
        if view.schedule is not None
    }
    schedules = [parse_schedule(text) for text in sorted(texts)]
    chain = bound_of_topology(topology, schedules, hierarchy_changes=tree_changes or late, jitter_us=lab.jitter_us)
    held_us = max(0, lab.faults.held_until_at - lab.now)
    update_us = topology.recipient_update_us or 0
    waits = (
        _lines_term(topology, _bytes_of(lab)),
        Term(held_us, "mail that a fault holds is sent only then"),
        Term(update_us, "the recipient update service gives a store its address only then"),
        Term(_earlier_trip_us(lab), "mail still crosses a connector as it was before a change of the organization"),
    )
    return Bound((*waits, *chain.terms))


def bound_of_topology(
    topology: Topology, schedules: Iterable[Schedule] = (), *, hierarchy_changes: bool = True, jitter_us: int = 0
) -> Bound:
    """Return how long an organization may take to converge.

    schedules: those of folders outside the topology.
    hierarchy_changes: whether folders changed.
    jitter_us: the network's.
    """
    content = [*schedules, *(folder.schedule for folder in topology.folders.values() if folder.schedule is not None)]
    content += [server.settings.schedule for server in topology.servers.values()]
    terms = []
    if hierarchy_changes:
        terms += _chain(topology, [ALWAYS], jitter_us, "hierarchy")
    terms += _chain(topology, content, jitter_us, "content")
    age_us = max((server.settings.conflict_age_us or 0 for server in topology.servers.values()), default=0)
    if any(server.settings.conflict_age_us is not None for server in topology.servers.values()):
        # The home store ends the last conflict with a change, which must be replicated too (spec: CF-5).
        terms.append(Term(age_us, "the age at which a home store ends a conflict"))
        terms += _chain(topology, content, jitter_us, "the end of a conflict")
    return Bound(tuple(terms))


def _chain(topology: Topology, schedules: Iterable[Schedule], jitter_us: int, action: str) -> list[Term]:
    """Return the waits of one chain. Each wait is the longest one that the settings of any server allow.  # spec: CV-3"""
    stores = [server.settings for server in topology.servers.values()]
    always_us = max(store.always_interval_us for store in stores)
    cycle_us = max((longest_gap_us(schedule, always_us) or 0 for schedule in schedules), default=always_us)
    many_sites = len({server.site for server in topology.servers.values()}) > 1
    local = not many_sites
    first_us = max(store.backfill_wait_us(local=local, requests_sent=0) for store in stores)
    retry_us = max(store.backfill_wait_us(local=local, requests_sent=attempt) for store in stores for attempt in (1, 2))
    status_us = max(store.status_timeout_us for store in stores)
    check_us = max(store.status_alignment_us for store in stores)
    reach = "known in the site" if local else "known outside the site"
    return [
        Term(cycle_us, f"{action}: the longest wait for a replication cycle"),
        Term(status_us, f"{action}: the longest time between two statuses"),
        Term(check_us, f"{action}: the time to the next status check"),
        Term(first_us, f"{action}: the first backfill time-out, {reach}"),
        Term(retry_us, f"{action}: the longest retry time-out, for a request that was lost"),
        Term(_given_up_us(topology), f"{action}: expired numbers are given up at the retry after a silence"),
        Term(_one_by_one_us(topology), f"{action}: 2000 asks sources that have only a part one at a time"),
        Term(
            MAILS_IN_A_CHAIN * _trip_us(topology, jitter_us), f"{action}: {MAILS_IN_A_CHAIN} mails on the slowest route"
        ),
    ]


def _earlier_trip_us(lab: Lab) -> int:
    """Return the longest time that one mail took in the organizations that the lab had before; 0 if it has not changed.

    Mail that crossed a connector when this was changed still takes its old time (RT-6).
    """
    changes = [event for event in lab.events() if isinstance(event, OrganizationChanged)]
    if not changes:
        return 0
    earlier = [lab.topology, *(topology_from_text(change.topology) for change in changes[:-1])]
    return max(_trip_us(topology, lab.jitter_us) for topology in earlier)


def _bytes_of(lab: Lab) -> int:
    """Return how many bytes the largest replicas of all folders have together, and the mails in all queues."""
    largest: Counter[str] = Counter()
    queue_bytes = 0
    for name in lab.names:
        if lab.running(name):
            for replica in lab.read(name, lambda node: node.instances()):
                largest[replica.folder] = max(largest[replica.folder], replica.size)
            queue_bytes += sum(mail.size for mail in lab.read(name, lambda node: node.queue()))
    return largest.total() + queue_bytes


def _lines_term(topology: Topology, content_bytes: int) -> Term:
    """Return how long the connectors with a bandwidth limit are busy with this content, one after the other."""
    once_us = sum(
        connector.transfer_us(len(topology.servers) * AS_MAIL * content_bytes) for connector in topology.connectors
    )
    retry_us = min(
        server.settings.backfill_wait_us(local=False, requests_sent=attempt)
        for server in topology.servers.values()
        for attempt in (1, 2)
    )
    return Term(
        once_us * (1 + once_us // retry_us), "the lines carry all content for each store, as often as it is requested"
    )


def _given_up_us(topology: Topology) -> int:
    """Return how long a store waits for reports of expired numbers: a status, its repeat, and a retry. Return 0 if no folder
    has an age limit (DL-3)."""
    limits = [folder.age_limit_us or folder.replica_age_limits_us for folder in topology.folders.values()]
    stores = [server.settings for server in topology.servers.values()]
    if not any(limits) and all(store.age_limit_us is None for store in stores):
        return 0
    silence_us = max(store.status_timeout_us + 2 * store.status_alignment_us for store in stores)
    return silence_us + max(store.backfill_wait_us(local=False, requests_sent=2) for store in stores)


def _one_by_one_us(topology: Topology) -> int:
    """Return how long a 2000 server may need to ask all sources in turn: a retry time-out for each except the first
    (spec: BF-3).
    """
    waits = [
        server.settings.backfill_wait_us(local=False, requests_sent=2)
        for server in topology.servers.values()
        if server.version is ServerVersion.V2000
    ]
    return max(waits, default=0) * max(0, len(topology.servers) - 2)


def _trip_us(topology: Topology, jitter_us: int) -> int:
    """Return the longest time that one mail takes: a complete retry interval, and then all connectors one after the other."""
    stores = [server.settings for server in topology.servers.values()]
    size = max(store.message_size_bytes for store in stores)
    retry_us = max(store.mta_retry_us(priority) for store in stores for priority in (-1, 0, 1))
    hops = len(topology.connectors) + 2
    links_us = sum(
        connector.latency_us
        + connector.transfer_us(AS_MAIL * size)
        + (0 if connector.schedule.is_always else longest_gap_us(connector.schedule, 0) or 0)
        for connector in topology.connectors
    )
    return retry_us + links_us + hops * jitter_us


def longest_gap_us(schedule: Schedule, always_us: int) -> int | None:
    """Return the longest time between two firings of a schedule, or None if it never fires."""
    if schedule.is_never:
        return None
    if schedule.is_always:
        return always_us
    slots = [*schedule.slots, schedule.slots[0] + WEEK_US // SLOT_US]
    return max(later - earlier for earlier, later in pairwise(slots)) * SLOT_US
