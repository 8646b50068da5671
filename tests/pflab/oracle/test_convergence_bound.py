"""The bound of CV-3: the sum of the waits that the settings allow, with the reason for each."""

from __future__ import annotations

from pflab.faults.fault import Delay
from pflab.oracle.convergence_bound import MAILS_IN_A_CHAIN, Bound, bound_of, bound_of_topology, longest_gap_us
from pflab.simulation.simulator import Simulator
from topology.file.load import topology_from_text
from topology.schedule import NEVER, parse_schedule
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

ONE_SITE = "servers: {A: , B: }\nfolders: {Projects: }\n"

TWO_SITES = """
sites: [SEA, NYC]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10, latency: 20 min}
servers: {A: {site: SEA}, B: {site: NYC}}
folders: {Projects: {replicas: [A, B], schedule: every 4 h}}
"""


def us(bound: Bound, words: str) -> list[int]:
    """Return the waits whose reason has these words."""
    return [term.us for term in bound.terms if words in term.why]


def test_one_site_with_default_settings() -> None:
    """In one site: a cycle, a day's status and its check, six hours, and the later retry's day."""  # spec: CV-3
    bound = bound_of_topology(topology_from_text(ONE_SITE), hierarchy_changes=False)
    assert us(bound, "replication cycle") == [15 * MINUTE_US]
    assert us(bound, "between two statuses") == [24 * HOUR_US]
    assert us(bound, "status check") == [12 * HOUR_US]
    assert us(bound, "first backfill time-out, known in the site") == [6 * HOUR_US]
    assert us(bound, "longest retry") == [24 * HOUR_US]
    assert bound.total_us == sum(term.us for term in bound.terms)


def test_content_outside_the_site_waits_longer() -> None:
    """With several sites the remote time-outs count, the slowest schedule, and each mail's time over the connectors."""
    # spec: BF-2
    near = bound_of_topology(topology_from_text(ONE_SITE), hierarchy_changes=False)
    far = bound_of_topology(topology_from_text(TWO_SITES), hierarchy_changes=False)
    assert us(far, "first backfill time-out, known outside the site") == [12 * HOUR_US]
    assert us(far, "longest retry") == [48 * HOUR_US]
    assert us(far, "replication cycle") == [4 * HOUR_US]
    assert us(far, "slowest route")[0] - us(near, "slowest route")[0] == 4 * 20 * MINUTE_US


def test_a_changed_hierarchy_comes_first() -> None:
    """Changed folders must converge before their content can, by the "always" interval."""
    bound = bound_of_topology(topology_from_text(TWO_SITES))
    assert us(bound, "replication cycle") == [15 * MINUTE_US, 4 * HOUR_US]
    assert len(us(bound, "longest retry")) == 2


def test_settings_count() -> None:
    """A longer setting makes the bound longer by as much."""
    slow = topology_from_text(ONE_SITE + "settings: {Replication Short Backfill Request Timeout: 10 h}\n")
    longer = bound_of_topology(slow).total_us - bound_of_topology(topology_from_text(ONE_SITE)).total_us
    assert longer == 2 * 4 * HOUR_US


def test_the_longest_gap_of_a_schedule() -> None:
    """The longest gap of a schedule counts, also over the end of the week; "never" has none."""
    assert longest_gap_us(parse_schedule("always"), 15 * MINUTE_US) == 15 * MINUTE_US
    assert longest_gap_us(parse_schedule("every 4 h"), 0) == 4 * HOUR_US
    assert longest_gap_us(parse_schedule("Mon 00:00-00:15"), 0) == 7 * DAY_US
    assert longest_gap_us(NEVER, 0) is None


def test_the_bound_in_words() -> None:
    """The printed bound has the sum first and then one line for each reason."""
    lines = bound_of_topology(topology_from_text(ONE_SITE), hierarchy_changes=False).in_words()
    assert lines[0].startswith("converged within ")
    assert "  6 h: content: the first backfill time-out, known in the site" in lines


async def test_a_labs_bound_counts_what_is_held_back() -> None:
    """The bound of a lab counts folders made since the start, and mail that a fault still holds."""
    async with Simulator(topology_from_text(ONE_SITE)) as lab:
        quiet = bound_of(lab)
        assert quiet.total_us == bound_of_topology(lab.topology, hierarchy_changes=False).total_us
        lab.faults.inject(Delay(from_="A", to="B", count=1, by="20 h"))
        await lab.do("A", lambda node, now: node.create_folder(now, "News", schedule="every 4 h"))
        await lab.advance(lab.now + 15 * MINUTE_US)
        lab.faults.heal()
        bound = bound_of(lab)
        assert us(bound, "a fault holds") == [20 * HOUR_US]
        assert us(bound, "replication cycle") == [15 * MINUTE_US, 4 * HOUR_US]


def test_an_old_conflict_is_ended_last() -> None:
    """If home stores end conflicts, the bound adds that age for the last conflict, and the time for its end to replicate."""
    # spec: CF-5
    plain = bound_of_topology(topology_from_text(ONE_SITE), hierarchy_changes=False)
    limit = "settings: {Replication Folder Conflict Age Limit: 3 d}\n"
    aged = bound_of_topology(topology_from_text(ONE_SITE + limit), hierarchy_changes=False)
    assert us(plain, "a home store ends") == []
    assert us(aged, "a home store ends") == [3 * DAY_US]
    assert aged.total_us == 2 * plain.total_us + 3 * DAY_US


async def test_a_line_carries_all_content_of_the_lab() -> None:
    """A connector with a bandwidth limit adds the time that it needs for the lab's content, for each store; others add none."""
    # spec: CV-3
    far = topology_from_text(TWO_SITES)
    line = topology_from_text(TWO_SITES.replace("latency: 20 min", "bandwidth: 8 kbit/s"))
    words = "carry all content"
    async with Simulator(far) as lab, Simulator(line) as narrow:
        assert us(bound_of(narrow), words) == [0]
        for one in (lab, narrow):
            for _ in range(20):
                await one.do("A", lambda node, now: node.post(now, "Projects", subject="Plan", body="x" * 10_000))
        assert us(bound_of(lab), words) == [0]
        once_us = us(bound_of(narrow), words)[0]
        # 200 KB, twice as large as mail, for two stores: 800 s at a thousand bytes a second.
        assert 800_000_000 <= once_us < 900_000_000


async def test_the_bound_is_that_of_the_present_organization() -> None:
    """RT-6: after a change of connectors the bound follows the present ones, and counts one trip of the earlier ones, on which
    mail may still be."""
    # spec: CV-3
    slow, words = topology_from_text(TWO_SITES), "as it was before"
    (name,) = (connector.name for connector in slow.connectors)
    async with Simulator(slow) as lab:
        before = bound_of(lab)
        assert us(before, words) == [0]
        await lab.change_connector(name, latency="2 s")
        after = bound_of(lab)
        trip_us = us(before, "mails on the slowest route")[0] // MAILS_IN_A_CHAIN
        assert us(after, words) == [trip_us]
        quick_us = us(after, "mails on the slowest route")[0] // MAILS_IN_A_CHAIN
        assert trip_us - quick_us == 20 * MINUTE_US - 2_000_000
