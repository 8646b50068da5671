"""One suite for all drivers: a lab behaves the same in the simulator, live, as processes and under a coordinator.

Classes hold the cases; at the end, a class for each driver inherits the cases that the driver can run.
"""

from __future__ import annotations

from typing import Any, cast

import pytest

from node.errors import FolderUnknown, InternalError, Misuse, NotRunning
from node.store.node import Node
from pflab.errors import LabError
from pflab.faults.fault import CONNECT_US, Alter, Blackhole, Cut, Delay, Duplicate, Hold, Lose, Reorder, Skew
from pflab.oracle.convergence_bound import bound_of
from tests.support.clock import ALWAYS_US, START_AT
from tests.support.lab_actions import events_of, post, subjects
from tests.support.lab_factory import LabFactory
from tests.support.topologies import FOUR_STORES_IN_TWO_SITES, LATE_STORE, THREE_SITES, TWO_STORES
from traces.events import (
    ChangeMade,
    EntryMade,
    FaultHealed,
    FaultInjected,
    HopDropped,
    HopExpired,
    HopFailed,
    HopReceived,
    HopSent,
    MailBad,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    NodeStopped,
    OrganizationChanged,
    OrganizationRead,
    RecipientPolicy,
    RequestSent,
    RunEnded,
    RunStarted,
    StoreCreated,
    StoreDeleted,
    VersionApplied,
)
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, LabTime, format_duration
from traces.reading import read_folder
from transport.envelope import Offers
from transport.mime.describe import describe_mail, outline
from transport.mime.tamper import altered
from transport.protocol.auth import Credentials

ONE_TO_GO = """
servers: {A: , B: , Z: , E: {joins: later}}
folders:
  Projects: {replicas: [A, B, Z]}
"""

TO_MOVE = """
servers: {A: , B: , C: }
folders:
  Projects: {replicas: [C]}
"""

TWO_SITES_AND_A_LATE_STORE = """
sites: [SEA, NYC]
connectors: [{between: [SEA, NYC]}]
servers: {A: {site: SEA}, C: {site: NYC}, D: {site: NYC, joins: later}}
folders: {Projects: {replicas: [A, C]}}
"""


class ClockCases:
    """The lab's clock moves only when it is told to, and stops where it is told to."""

    async def test_a_lab_starts_at_the_topologys_start(self, make_lab: LabFactory) -> None:
        """The lab's clock begins at the topology's start and stays there until it is moved."""
        async with make_lab() as lab:
            assert lab.now == START_AT
            await lab.settle()
            assert lab.now == START_AT

    async def test_advance_stops_exactly_at_the_target(self, make_lab: LabFactory) -> None:
        """The clock is at the target afterwards, whether work was due there or not."""
        async with make_lab() as lab:
            await lab.advance(START_AT + 3 * HOUR_US + 1)
            assert lab.now == START_AT + 3 * HOUR_US + 1
            await lab.advance(lab.now)
            assert lab.now == START_AT + 3 * HOUR_US + 1

    async def test_the_clock_does_not_go_back(self, make_lab: LabFactory) -> None:
        """advance and until refuse a target in the past."""
        async with make_lab() as lab:
            await lab.advance(START_AT + HOUR_US)
            with pytest.raises(LabError, match="cannot go back"):
                await lab.advance(START_AT)
            with pytest.raises(LabError, match="cannot go back"):
                await lab.until(lambda: True, START_AT)
            assert lab.now == START_AT + HOUR_US

    async def test_until_stops_at_the_first_instant_at_which_it_holds(self, make_lab: LabFactory) -> None:
        """The clock stops at the first instant at which the predicate holds, which is when the mail arrives."""
        async with make_lab() as lab:
            await post(lab, "A")
            assert await lab.until(lambda: bool(subjects(lab, "B")), START_AT + DAY_US)
            assert lab.now == START_AT + ALWAYS_US

    async def test_until_gives_up_at_its_limit(self, make_lab: LabFactory) -> None:
        """A predicate that never holds ends the wait at the limit, where the clock stops."""
        async with make_lab() as lab:
            assert not await lab.until(lambda: False, START_AT + 2 * HOUR_US)
            assert lab.now == START_AT + 2 * HOUR_US

    async def test_until_asks_before_it_moves(self, make_lab: LabFactory) -> None:
        """A predicate that already holds does not move the clock."""
        async with make_lab() as lab:
            assert await lab.until(lambda: True, START_AT + DAY_US)
            assert lab.now == START_AT

    async def test_a_step_goes_to_the_next_due_time(self, make_lab: LabFactory) -> None:
        """What is due there is done. If nothing is due by the limit, the clock stops at the limit."""
        async with make_lab() as lab:
            await post(lab, "A")
            assert not await lab.step(START_AT + MINUTE_US)
            assert lab.now == START_AT + MINUTE_US
            assert await lab.step()
            assert lab.now == START_AT + ALWAYS_US
            assert subjects(lab, "B") == ["Hello"]

    async def test_a_paused_clock_stays_where_it_is(self, make_lab: LabFactory) -> None:
        """A lab begins with a paused clock, which can be paused again."""
        async with make_lab() as lab:
            assert lab.rate == 0
            await lab.pause()
            assert (lab.rate, lab.now) == (0, START_AT)


class MailCases:
    """Stimuli reach the servers, and mail travels between them."""

    async def test_a_post_is_on_other_stores_after_the_next_cycle(self, make_lab: LabFactory) -> None:
        """A message posted on A is on B and C after the "always" interval, and not before."""
        async with make_lab() as lab:
            await lab.advance(START_AT + MINUTE_US)
            await post(lab, "A")
            await lab.advance(START_AT + ALWAYS_US - 1)
            assert subjects(lab, "A") == ["Hello"]
            assert subjects(lab, "B") == subjects(lab, "C") == []
            await lab.advance(START_AT + ALWAYS_US)
            assert subjects(lab, "B") == subjects(lab, "C") == ["Hello"]

    async def test_a_stimulus_runs_at_the_present_lab_time(self, make_lab: LabFactory) -> None:
        """`do` passes the lab's time to its function, and returns the result."""
        async with make_lab() as lab:
            await lab.advance(START_AT + HOUR_US)
            assert await lab.do("A", lambda _, now: now) == START_AT + HOUR_US

    async def test_a_nodes_refusal_reaches_the_caller(self, make_lab: LabFactory) -> None:
        """An error of the node is raised to the caller, and the lab goes on."""
        async with make_lab() as lab:
            with pytest.raises(FolderUnknown):
                await lab.do("A", lambda node, now: node.post(now, "Nowhere", subject="Hello"))
            await post(lab, "A")
            await lab.advance(START_AT + ALWAYS_US)
            assert subjects(lab, "C") == ["Hello"]

    async def test_an_unknown_server_is_refused_with_the_known_ones(self, make_lab: LabFactory) -> None:
        """A server that the topology does not have is a LabError that lists the servers."""
        async with make_lab() as lab:
            with pytest.raises(LabError, match=r"no server 'X'.*A, B, C"):
                await lab.do("X", lambda _, now: now)
            with pytest.raises(LabError, match="no server 'X'"):
                lab.running("X")

    async def test_one_copy_crosses_the_connector(self, make_lab: LabFactory) -> None:
        """A mail for two servers of another site crosses the connector once, and the bridgehead relays it."""  # spec: RT-1
        async with make_lab(FOUR_STORES_IN_TWO_SITES) as lab:
            await post(lab, "A")
            await lab.advance(START_AT + ALWAYS_US + MINUTE_US)
            assert [subjects(lab, server) for server in lab.names] == [["Hello"]] * 4
            content = next(event for event in events_of(lab, HopSent, "A") if event.connector is not None)
            assert content.next_hop == "C"
            assert len(content.recipients) == 2
            assert content.at == START_AT + ALWAYS_US + 80_000

    async def test_the_same_mail_has_both_its_ends_in_the_trace(self, make_lab: LabFactory) -> None:
        """Each hop has an event at its sender and one at its receiver, with the same message id."""
        async with make_lab(FOUR_STORES_IN_TWO_SITES) as lab:
            await post(lab, "A")
            await lab.advance(START_AT + 2 * ALWAYS_US)
            sent = [(event.mail, event.next_hop) for event in events_of(lab, HopSent)]
            received = [(event.mail, event.node) for event in events_of(lab, HopReceived)]
            assert sorted(sent) == sorted(received)
            assert sent


class FaultCases:
    """Faults act on the mails and links they name."""

    async def test_a_lost_mail_comes_back_by_backfill(self, make_lab: LabFactory) -> None:
        """A content mail lost on arrival leaves only an event; a status tells of the change, and backfill brings it within
        the bound."""
        async with make_lab() as lab:
            fault = lab.faults.inject(Lose(from_="A", to="B", type="content", count=1))
            await post(lab, "A")
            await lab.advance(START_AT + ALWAYS_US)
            assert subjects(lab, "B") == []
            assert subjects(lab, "C") == ["Hello"]
            assert [event.fault for event in events_of(lab, HopDropped, "B")] == [fault]
            limit_at = lab.now + bound_of(lab).total_us
            assert await lab.until(lambda: subjects(lab, "B") == ["Hello"], limit_at)
            assert events_of(lab, EntryMade, "B")
            assert events_of(lab, RequestSent, "B")
            assert lab.now >= START_AT + DAY_US

    async def test_a_fault_acts_on_the_copy_for_the_store_that_it_names(self, make_lab: LabFactory) -> None:
        """One mail for C and D crosses the connector to C. A fault on the mail for C leaves the copy for D alone."""
        async with make_lab(FOUR_STORES_IN_TWO_SITES) as lab:
            aimed: dict[str, Any] = {"from_": "A", "to": "C", "type": "content", "count": 1}
            for fault in (Lose(**aimed), Alter(**aimed), Delay(**aimed, by="3 h")):
                lab.faults.inject(fault)
                await post(lab, "A", fault.kind)
                await lab.advance(lab.now + ALWAYS_US + MINUTE_US)
            assert [subjects(lab, server) for server in "BCD"] == [
                ["alter", "delay", "lose"],
                [],
                ["alter", "delay", "lose"],
            ]
            lab.faults.inject(Duplicate(from_="A", to="C", type="content", count=1))
            await post(lab, "A", "twice")
            await lab.advance(lab.now + ALWAYS_US + MINUTE_US)
            last = [event.mail for event in events_of(lab, MailReceived, "D")][-1]
            assert [event.mail for event in events_of(lab, MailReceived, "D")].count(last) == 1
            assert [event.mail for event in events_of(lab, MailReceived, "C")].count(last) == 2
            assert not lab.faults.active()

    async def test_a_cut_link_heals(self, make_lab: LabFactory) -> None:
        """Every attempt over a cut link fails; after the heal the queue's retry delivers the mail."""
        async with make_lab() as lab:
            fault = lab.faults.inject(Cut(between=["A", "B"]))
            await post(lab, "A")
            await lab.advance(START_AT + HOUR_US)
            assert subjects(lab, "B") == []
            assert subjects(lab, "C") == ["Hello"]
            assert all(fault in event.reason for event in events_of(lab, HopFailed))
            lab.faults.heal(fault)
            await lab.advance(lab.now + HOUR_US)
            assert subjects(lab, "B") == ["Hello"]

    @pytest.mark.parametrize("by_us", [10 * MINUTE_US, -10 * MINUTE_US])
    async def test_a_server_works_by_its_own_wrong_clock(self, make_lab: LabFactory, by_us: int) -> None:
        """TM-1, OUT-1: a server whose clock is wrong writes and sends by it. Lab time and the other servers do not change, and
        after the heal no event of the server is earlier than the one before."""
        async with make_lab(TWO_STORES) as lab:
            start_at = lab.now
            fault = lab.faults.inject(Skew(server="A", by=format_duration(by_us)))
            await post(lab, "A")
            assert lab.now == start_at
            assert [event.at for event in events_of(lab, ChangeMade, "A")] == [start_at + max(0, by_us)]
            await lab.advance(start_at + ALWAYS_US - by_us)
            assert [event.at for event in events_of(lab, MailSubmitted, "A")] == [start_at + ALWAYS_US]
            assert [event.at for event in events_of(lab, VersionApplied, "B")] == [start_at + ALWAYS_US - by_us]
            lab.faults.heal(fault)
            await post(lab, "A", "later")
            await lab.advance(start_at + 3 * ALWAYS_US)
            assert subjects(lab, "B") == ["Hello", "later"]
            times = [event.at for event in lab.events() if event.node == "A"]
            assert times == sorted(times)
            assert lab.now == start_at + 3 * ALWAYS_US

    async def test_a_clock_is_right_from_the_instant_at_which_the_fault_ends(self, make_lab: LabFactory) -> None:
        """TM-1: while the clock of the lab jumps, a skew that is healed at an instant has no effect from then on."""
        async with make_lab(TWO_STORES) as lab:
            fault = lab.faults.inject(Skew(server="A", by="-4 min"))
            await lab.advance(START_AT + 10 * MINUTE_US)
            lab.faults.heal(fault)
            await post(lab, "A")
            assert [event.at for event in events_of(lab, ChangeMade, "A")] == [START_AT + 10 * MINUTE_US]
            await lab.advance(START_AT + ALWAYS_US)
            assert [event.at for event in events_of(lab, MailSubmitted, "A")] == [START_AT + ALWAYS_US]

    async def test_packets_that_are_dropped_cost_each_attempt_ten_seconds(self, make_lab: LabFactory) -> None:
        """RT-2: a connection into a black hole is neither accepted nor refused, and the trace says so; after the heal the next
        attempt delivers the mail."""
        async with make_lab() as lab:
            fault = lab.faults.inject(Blackhole(between=["A", "B"]))
            await post(lab, "A")
            await lab.advance(START_AT + HOUR_US)
            assert subjects(lab, "B") == []
            assert subjects(lab, "C") == ["Hello"]
            failed = events_of(lab, HopFailed)
            assert [event.at for event in failed[:2]] == [
                START_AT + 15 * MINUTE_US + CONNECT_US,
                START_AT + 25 * MINUTE_US + 2 * CONNECT_US,
            ]
            reason = f"no connection: B neither accepted nor refused it within 10 s: blackhole ({fault})"
            assert {event.reason for event in failed} == {reason}
            lab.faults.heal(fault)
            await lab.advance(lab.now + HOUR_US)
            assert subjects(lab, "B") == ["Hello"]

    async def test_a_fault_that_lasts_ends_in_time(self, make_lab: LabFactory) -> None:
        """A move of the clock stops at the end of a fault as at a timer, and the fault ends at this instant."""
        async with make_lab() as lab:
            ends_at = START_AT + 10 * MINUTE_US
            lab.faults.inject(Hold(from_="C", to="A", lasts=format_duration(ends_at - lab.now)))
            assert await lab.until(lambda: bool(events_of(lab, FaultHealed)), START_AT + HOUR_US)
            assert lab.now == ends_at
            lab.faults.inject(Alter(lasts=format_duration(ends_at + MINUTE_US - lab.now)))
            await lab.advance(START_AT + HOUR_US)
            assert [each.at for each in events_of(lab, FaultHealed)] == [ends_at, ends_at + MINUTE_US]
            assert lab.faults.active() == ()

    async def test_a_delayed_mail_waits_in_its_queue(self, make_lab: LabFactory) -> None:
        """A delayed mail arrives later by the delay, and others are not delayed."""
        async with make_lab() as lab:
            lab.faults.inject(Delay(from_="A", to="B", count=1, by="2 h"))
            await post(lab, "A")
            await lab.advance(START_AT + ALWAYS_US + 2 * HOUR_US - 1)
            assert subjects(lab, "B") == []
            assert subjects(lab, "C") == ["Hello"]
            await lab.advance(lab.now + 1)
            assert subjects(lab, "B") == ["Hello"]

    async def test_reordered_mails_arrive_the_other_way_round(self, make_lab: LabFactory) -> None:
        """Of two mails the second arrives first, and in the end both have arrived."""
        async with make_lab() as lab:
            lab.faults.inject(Reorder(from_="A", to="B", type="content", count=1))
            await post(lab, "A", "first")
            await lab.advance(START_AT + ALWAYS_US)
            await post(lab, "A", "second")
            await lab.advance(START_AT + 2 * ALWAYS_US)
            assert subjects(lab, "B") == ["second"]
            await lab.advance(START_AT + HOUR_US)
            assert subjects(lab, "B") == ["first", "second"]

    async def test_an_altered_mail_is_bad_mail_and_its_change_comes_by_backfill(self, make_lab: LabFactory) -> None:
        """A mail that was altered on its way is set aside, and its change is missing and requested."""
        async with make_lab() as lab:
            lab.faults.inject(Alter(from_="A", to="B", type="content", count=1))
            await post(lab, "A")
            await lab.advance(START_AT + HOUR_US)
            (bad,) = events_of(lab, MailBad, "B")
            assert bad.reason == "the signature is not that of store A"
            assert (subjects(lab, "B"), subjects(lab, "C")) == ([], ["Hello"])
            await lab.advance(START_AT + 2 * DAY_US)
            assert subjects(lab, "B") == ["Hello"]

    async def test_a_duplicate_changes_nothing(self, make_lab: LabFactory) -> None:
        """A mail that is sent twice arrives twice and is applied once."""  # spec: IN-3
        async with make_lab() as lab:
            lab.faults.inject(Duplicate(from_="A", to="B", type="content", count=1))
            await post(lab, "A")
            await lab.advance(START_AT + HOUR_US)
            copies = [event.mail for event in events_of(lab, HopReceived, "B") if event.peer == "A"]
            assert len(copies) == 2
            assert len(set(copies)) == 1
            assert len(events_of(lab, VersionApplied, "B")) == 1
            assert subjects(lab, "B") == ["Hello"]


class ServerCases:
    """Servers stop, die, start, join and are restored."""

    async def test_a_stopped_server_catches_up_after_its_start(self, make_lab: LabFactory) -> None:
        """Mail for a stopped server is refused and tried again; after its start the server catches up."""
        async with make_lab(TWO_STORES) as lab:
            await lab.stop("B")
            assert not lab.running("B")
            await post(lab, "A")
            await lab.advance(START_AT + ALWAYS_US)
            assert events_of(lab, HopFailed, "A")
            await lab.start("B")
            await lab.advance(START_AT + 2 * HOUR_US)
            assert subjects(lab, "B") == ["Hello"]

    async def test_acknowledged_posts_survive_a_stop(self, make_lab: LabFactory) -> None:
        """A server that is stopped and started still has its posts and sends its mail."""
        async with make_lab(TWO_STORES) as lab:
            await post(lab, "A")
            await lab.stop("A")
            assert [event.how for event in events_of(lab, NodeStopped, "A")] == ["stop"]
            await lab.start("A")
            assert [event.reason for event in events_of(lab, NodeStarted, "A")] == ["first", "restart"]
            assert subjects(lab, "A") == ["Hello"]
            await lab.advance(START_AT + HOUR_US)
            assert subjects(lab, "B") == ["Hello"]

    async def test_a_restart_with_a_wrong_clock_changes_no_lab_time(self, make_lab: LabFactory) -> None:
        """TM-1: a server starts by its own clock, which stays wrong until the fault is healed. Lab time stays also if the clock
        was corrected and the last event of the server is later."""
        async with make_lab(TWO_STORES) as lab:
            lab.faults.inject(Skew(server="A", by="2 h"))
            await post(lab, "A")
            await lab.stop("A")
            await lab.start("A")
            assert events_of(lab, NodeStarted, "A")[-1].at == START_AT + 2 * HOUR_US
            lab.faults.heal()
            await lab.stop("A")
            await lab.start("A")
            assert lab.now == START_AT
            await lab.advance(START_AT + 3 * HOUR_US)
            assert lab.now == START_AT + 3 * HOUR_US
            assert subjects(lab, "B") == ["Hello"]

    async def test_acknowledged_posts_survive_a_kill(self, make_lab: LabFactory) -> None:
        """A server that is killed right after it acknowledged a post still has it, and still sends it."""
        async with make_lab(TWO_STORES) as lab:
            await post(lab, "A")
            await lab.kill("A")
            with pytest.raises(NotRunning):
                lab.read("A", lambda node: node.folders())
            await lab.advance(START_AT + HOUR_US)
            await lab.start("A")
            await lab.advance(START_AT + 2 * HOUR_US)
            assert subjects(lab, "A") == subjects(lab, "B") == ["Hello"]
            kinds = [(event.kind, event.details) for event in events_of(lab, FaultInjected)]
            assert kinds == [("kill", {"server": "A"})]
            assert len(events_of(lab, FaultHealed)) == 1

    async def test_a_stopped_server_takes_no_stimulus(self, make_lab: LabFactory) -> None:
        """A request to a stopped server, or another stop, raises NotRunning; starting a running server is refused."""
        async with make_lab(TWO_STORES) as lab:
            await lab.stop("B")
            with pytest.raises(NotRunning, match="B is stopped"):
                await post(lab, "B")
            with pytest.raises(NotRunning):
                await lab.stop("B")
            with pytest.raises(NotRunning):
                await lab.kill("B")
            with pytest.raises(LabError, match="running already"):
                await lab.start("A")

    async def test_a_store_that_joins_later_gets_the_hierarchy(self, make_lab: LabFactory) -> None:
        """A store that joins later is absent at first; once it starts, the others are told, and it learns the folders."""
        # spec: RP-3
        async with make_lab(LATE_STORE) as lab:
            assert [name for name in lab.names if lab.running(name)] == ["A", "B"]
            await lab.advance(START_AT + HOUR_US)
            await lab.start("C")
            assert [event.reason for event in events_of(lab, NodeStarted, "C")] == ["first"]
            await lab.advance(lab.now + DAY_US)
            assert [folder.path for folder in lab.read("C", lambda node: node.folders())] == ["Projects"]

    async def test_stores_learn_of_a_missed_deletion_at_their_start(self, make_lab: LabFactory) -> None:
        """RP-6: stores that were stopped during a deletion, were restored from an older backup or joined afterwards learn of
        the deletion at their start. The deleted store does not start again, and a store that joins does not ask it."""
        async with make_lab(ONE_TO_GO) as lab:
            backup = await lab.backup("B")
            await lab.stop("B")
            await lab.stop("Z")
            await lab.delete_store("Z", on="A", force=True)
            assert events_of(lab, StoreDeleted, "B") == []
            await lab.start("B")
            await lab.restore("B", backup)
            # Only now: what B hears of E before it goes back, which is chance, it would forget again.
            await lab.start("E")
            assert sorted(event.node for event in events_of(lab, StoreDeleted) if event.store == "Z") == [
                "A",
                "B",
                "B",
                "E",
            ]
            with pytest.raises(LabError, match="server Z does not start: its store was deleted"):
                await lab.start("Z")
            with pytest.raises(LabError, match="was already deleted"):
                await lab.delete_store("Z", on="A")
            await lab.advance(START_AT + HOUR_US)
            await post(lab, "A", "to B alone")
            await lab.advance(START_AT + 2 * HOUR_US)
            assert subjects(lab, "B") == ["to B alone"]
            for name in "ABE":
                assert {row.store for row in lab.read(name, lambda node: node.state("1-1")).rows} == {"A", "B", "E"}
            (mail,) = [event for event in events_of(lab, MailSubmitted, "A") if event.at > START_AT + HOUR_US]
            assert mail.recipients == ("B-IS@contoso.test",)
            requested = events_of(lab, MailSubmitted, "E")[0]
            assert (requested.message_type, requested.recipients) == (0x20, ("A-IS@contoso.test", "B-IS@contoso.test"))

    async def test_a_store_whose_content_has_not_moved_is_not_deleted(self, make_lab: LabFactory) -> None:
        """RP-6, RP-2: a store that has what no other store has yet is not deleted without force, whichever store deletes it."""
        async with make_lab(TO_MOVE) as lab:
            await post(lab, "C")
            await lab.advance(START_AT + HOUR_US)
            await lab.do("A", lambda node, now: node.change_folder(now, "Projects", replicas=["B"]))
            await lab.advance(START_AT + 2 * HOUR_US)
            await lab.stop("C")
            with pytest.raises(
                LabError, match="server C cannot be deleted: B knows of its replicas of Projects; wait until"
            ):
                await lab.delete_store("C", on="A")
            await lab.start("C")
            await lab.advance(START_AT + 2 * DAY_US)
            await lab.stop("C")
            await lab.delete_store("C", on="A")
            assert subjects(lab, "B") == ["Hello"]

    async def test_a_bridgehead_is_not_deleted(self, make_lab: LabFactory) -> None:
        """RP-6, RT-6: a server over which mail takes its way is not deleted without force."""
        async with make_lab(THREE_SITES) as lab:
            await lab.stop("C")
            with pytest.raises(
                LabError, match="it is a bridgehead of SEA-LON, LON-NYC; give each another bridgehead first"
            ):
                await lab.delete_store("C", on="A")
            await lab.delete_store("C", on="A", force=True)

    async def test_a_store_is_created_again_under_its_name(self, make_lab: LabFactory) -> None:
        """RP-7: a server whose store was deleted gets a new, empty one, with another GUID. Servers that ran, that were stopped
        or that join later have its new entry, and it gets content as soon as a list names it. A server with a store gets
        none."""
        async with make_lab(ONE_TO_GO) as lab:
            await post(lab, "Z", "before")
            await lab.advance(START_AT + HOUR_US)
            backup = await lab.backup("Z")
            with pytest.raises(LabError, match="server Z has a store"):
                await lab.create_store("Z")
            await lab.stop("B")
            await lab.kill("Z")
            await lab.delete_store("Z", on="A", force=True)
            await lab.create_store("Z")
            assert lab.running("Z")
            await lab.start("B")
            await lab.start("E")
            with pytest.raises(LabError, match="is not a backup"):
                await lab.restore("Z", backup)
            first, again = events_of(lab, NodeStarted, "Z")
            assert again.reason == "first"
            assert again.replica_guid != first.replica_guid
            assert [event.directory_object for event in events_of(lab, StoreDeleted, "B")] == [0]
            await lab.advance(lab.now + DAY_US)
            assert [folder.path for folder in lab.read("Z", lambda node: node.folders())] == ["Projects"]
            await lab.do("A", lambda node, now: node.change_folder(now, "Projects", replicas=["A", "B", "Z"]))
            assert await lab.until(
                lambda: lab.read("Z", lambda node: bool(node.folders()[0].held_here)), lab.now + HOUR_US
            )
            await post(lab, "Z", "after")
            await lab.advance(lab.now + DAY_US)
            for name in "ABZ":
                assert subjects(lab, name) == ["after", "before"]
            for name in "AB":
                assert "Z" in {row.store for row in lab.read(name, lambda node: node.state("1-1").rows)}

    async def test_a_stopped_server_is_told_of_a_join_when_it_starts(self, make_lab: LabFactory) -> None:
        """A server that was stopped when a store joined learns of it at its start, and sends it the hierarchy."""
        async with make_lab(LATE_STORE) as lab:
            await lab.stop("B")
            await lab.start("C")
            await lab.start("B")
            await lab.stop("A")
            await lab.do("B", lambda node, now: node.create_folder(now, "News", replicas=["B", "C"]))
            assert await lab.until(
                lambda: "News" in [folder.path for folder in lab.read("C", lambda node: node.folders())],
                lab.now + HOUR_US,
            )

    async def test_a_restored_store_comes_back_under_a_new_guid(self, make_lab: LabFactory) -> None:
        """A restored store requests statuses, gets back what others have, and goes on under a new replica GUID."""
        async with make_lab(FOUR_STORES_IN_TWO_SITES) as lab:
            await post(lab, "A", "before")
            await lab.advance(lab.now + ALWAYS_US)
            backup = await lab.backup("A")
            await post(lab, "A", "after")
            await lab.advance(lab.now + ALWAYS_US)
            await lab.restore("A", backup)
            assert subjects(lab, "A") == ["before"]
            await lab.advance(lab.now + 7 * HOUR_US)
            assert subjects(lab, "A") == ["after", "before"]
            with pytest.raises(LabError, match="not a backup of B"):
                await lab.restore("B", "backup-9")

    async def test_a_backup_is_shown_on_another_server(self, make_lab: LabFactory) -> None:
        """RP-8: the backup of A, restored on B, is shown there, also after another start: what A had is readable, nothing is
        changed or sent, and event 1117 is logged. The server gets a store of its own again by deletion and creation."""
        async with make_lab(ONE_TO_GO) as lab:
            await post(lab, "A", "before")
            await lab.advance(lab.now + ALWAYS_US)
            backup = await lab.backup("A")
            with pytest.raises(LabError, match="start E once before it is restored there"):
                await lab.restore("E", backup)
            await post(lab, "A", "after")
            await lab.advance(lab.now + ALWAYS_US)
            await lab.restore("B", backup)
            since = len(events_of(lab, MailSubmitted, "B"))
            await lab.stop("B")
            await lab.start("B")
            await lab.advance(lab.now + 2 * DAY_US)
            assert subjects(lab, "B") == ["before"]
            assert subjects(lab, "A") == ["after", "before"]
            assert len(events_of(lab, MailSubmitted, "B")) == since
            assert len(lab.read("B", lambda node: node.event_log(event=1117))) == 2
            with pytest.raises(Misuse, match="it is only shown, and takes no changes"):
                await post(lab, "B", "refused")
            with pytest.raises(LabError, match="B shows the store of A"):
                await lab.backup("B")
            await lab.stop("B")
            await lab.delete_store("B", on="A", force=True)
            await lab.create_store("B")
            await lab.advance(lab.now + DAY_US)
            assert [folder.path for folder in lab.read("B", lambda node: node.folders())] == ["Projects"]


class OrganizationCases:
    """The organization changes while the lab runs."""

    async def test_connectors_change_while_the_lab_runs(self, make_lab: LabFactory) -> None:
        """RT-6: mail that waits takes the routes of a change at once. A server that was stopped reads the last change at its
        start, and costs follow. What is no topology is refused in one line."""
        async with make_lab(THREE_SITES) as lab:
            await post(lab, "A", "waits")
            await lab.advance(START_AT + HOUR_US)
            assert subjects(lab, "B") == []  # by way of London, on a line that is never open
            assert lab.read("A", lambda node: node.queue()) == []
            await lab.stop("B")
            await lab.change_connector("LON-NYC", schedule="always")
            await lab.change_connector("SEA-NYC", cost=1)
            await lab.start("B")
            assert [event.revision for event in events_of(lab, OrganizationRead, "C")] == [1, 2]
            assert [event.revision for event in events_of(lab, OrganizationRead, "B")] == [2]
            await lab.advance(lab.now + HOUR_US)
            assert subjects(lab, "B") == ["waits"]
            await post(lab, "A", "direct")
            await lab.advance(lab.now + HOUR_US)
            crossed = {(event.node, event.next_hop, event.connector) for event in events_of(lab, HopSent)}
            assert ("A", "B", "SEA-NYC") in crossed
            assert lab.organization.revision == 2
            for wrong, message in (
                ({"cost": 0}, 'cost: "0" is too small'),
                ({"schedule": "sometimes"}, "is not a day"),
                ({"bridgeheads": {"SEA": "B"}}, 'bridgeheads.SEA: "B" is not in SEA'),
                ({"cost": 1}, "is so already"),
            ):
                with pytest.raises(LabError, match=message):
                    await lab.change_connector("SEA-NYC", **cast("Any", wrong))
            with pytest.raises(LabError, match='did you mean "SEA-NYC"'):
                await lab.remove_connector("SEA-NYX")

    async def test_recipient_policies_change_while_the_lab_runs(self, make_lab: LabFactory) -> None:
        """ML-1: the first policy that applies to a store gives it its address in every store's directory. Mail goes to the new
        address, and what waits for an old one still arrives. What is no policy is refused in one line."""
        async with make_lab(THREE_SITES) as lab:

            def addresses(reader: str) -> dict[str, str | None]:
                return {entry.store: entry.mail for entry in lab.read(reader, lambda node: node.directory())}

            await post(lab, "A", "waits")
            await lab.advance(START_AT + HOUR_US)
            await lab.add_policy("New York", domain="fabrikam.test", filter={"sites": ["NYC"]})
            await lab.add_policy("B", domain="adatum.test", filter={"servers": ["B"], "versions": ["2003"]}, priority=1)
            expected = {"A": "A-IS@contoso.test", "B": "B-IS@adatum.test", "C": "C-IS@contoso.test"}
            assert [addresses(reader) for reader in "ABC"] == [expected] * 3
            await lab.stop("A")
            await lab.change_policy("New York", priority=1)
            await lab.change_policy("Default Policy", domain="tailspin.test")
            await lab.start("A")
            await lab.remove_policy("B")
            expected = {"A": "A-IS@tailspin.test", "B": "B-IS@fabrikam.test", "C": "C-IS@tailspin.test"}
            assert [addresses(reader) for reader in "ABC"] == [expected] * 3
            listed = [(event.policy, event.change, len(event.policies)) for event in events_of(lab, RecipientPolicy)]
            assert listed == [
                ("New York", "added", 1),
                ("B", "added", 2),
                ("New York", "changed", 2),
                ("Default Policy", "changed", 2),
                ("B", "removed", 1),
            ]
            await lab.change_connector("LON-NYC", schedule="always")
            await lab.change_connector("SEA-NYC", cost=1)
            await post(lab, "A", "new")
            await lab.advance(lab.now + HOUR_US)
            assert sorted(subjects(lab, "B")) == ["new", "waits"]
            with pytest.raises(LabError, match="the Default Policy cannot be removed; change its domain"):
                await lab.remove_policy("Default Policy")
            with pytest.raises(LabError, match='"LDN" is not a site'):
                await lab.change_policy("New York", filter={"sites": ["LDN"]})
            with pytest.raises(LabError, match="a new policy needs both"):
                await lab.add_policy("X", domain="x.test")

    async def test_a_bridgehead_has_a_store(self, make_lab: LabFactory) -> None:
        """RT-6: a connector that is added or changed does not end at a server whose store is deleted or has not joined."""
        async with make_lab(TWO_SITES_AND_A_LATE_STORE) as lab:
            with pytest.raises(LabError, match="server D has no store, so it cannot be the bridgehead of SEA-NYC"):
                await lab.change_connector("SEA-NYC", bridgeheads={"NYC": "D"})
            await lab.start("D")
            await lab.change_connector("SEA-NYC", bridgeheads={"NYC": "D"})
            await lab.stop("C")
            await lab.delete_store("C", on="A", force=True)
            with pytest.raises(LabError, match="server C has no store"):
                await lab.add_connector("line", between=["SEA", "NYC"], bridgeheads={"NYC": "C"})

    async def test_a_removed_connector_carries_nothing(self, make_lab: LabFactory) -> None:
        """RT-6: mail waits if the last connector to a site is removed, and takes one that is added."""
        async with make_lab(FOUR_STORES_IN_TWO_SITES) as lab:
            await lab.remove_connector("SEA-NYC")
            await post(lab, "A", "waits")
            await lab.advance(START_AT + HOUR_US)
            assert subjects(lab, "C") == []
            (waiting,) = lab.read("A", lambda node: node.queue())
            assert waiting.next_hop == ""
            await lab.add_connector("line", between=["SEA", "NYC"], latency="2 s")
            await lab.advance(lab.now + HOUR_US)
            assert subjects(lab, "C") == ["waits"]
            assert [connector.name for connector in lab.organization.connectors] == ["line"]
            assert [event.change for event in events_of(lab, OrganizationChanged)] == ["removed", "added"]

    async def test_a_server_is_added_while_the_lab_runs(self, make_lab: LabFactory) -> None:
        """RT-6, RP-3: all stores that run read that there is a new server, and the others when they start. It joins when it is
        started, in a site to which a connector comes later, gets a replica by backfill, and what it posts arrives."""
        async with make_lab(FOUR_STORES_IN_TWO_SITES) as lab:
            await post(lab, "A", "before")
            await lab.advance(START_AT + HOUR_US)
            await lab.stop("D")
            await lab.add_site("LON")
            await lab.add_server("E", site="LON", version="2007", settings={"Replication Always Interval": 20})
            assert lab.names[-1] == "E"
            assert not lab.running("E")
            with pytest.raises(LabError, match="server E has no store, so it cannot be the bridgehead"):
                await lab.add_connector("SEA-LON", between=["SEA", "LON"])
            await lab.start("E")
            await lab.start("D")
            assert [event.version for event in events_of(lab, NodeStarted, "E")] == ["2007"]
            for name, revisions in (("A", [1, 2]), ("D", [2]), ("E", [2])):
                assert [event.revision for event in events_of(lab, OrganizationRead, name)] == revisions, name
            for name in ("A", "D", "E"):
                listed = {entry.store for entry in lab.read(name, lambda node: node.directory())}
                assert listed == {"A", "B", "C", "D", "E"}, name
            await lab.advance(lab.now + HOUR_US)
            assert any(not event.next_hop for event in events_of(lab, HopFailed, "E"))
            await lab.add_connector("SEA-LON", between=["SEA", "LON"])
            assert await lab.until(
                lambda: [folder.path for folder in lab.read("E", lambda node: node.folders())] == ["Projects"],
                lab.now + 2 * DAY_US,
            )
            await lab.do("A", lambda node, now: node.change_folder(now, "Projects", replicas=["A", "B", "C", "D", "E"]))
            assert await lab.until(lambda: subjects(lab, "E") == ["before"], lab.now + 3 * DAY_US)
            await post(lab, "E", "from London")
            assert await lab.until(lambda: "from London" in subjects(lab, "D"), lab.now + DAY_US)

    async def test_an_added_server_lives_as_the_others(self, make_lab: LabFactory) -> None:
        """RT-6, RP-4, RP-6, RP-7: a server that was added stops, is killed, goes back to a backup, and its store is deleted and
        created again; a backup of another store is restored on it (RP-8)."""
        async with make_lab(TWO_STORES) as lab:
            with pytest.raises(LabError, match='there is a server "B" already'):
                await lab.add_server("B")
            await lab.add_server("E", version="5.5")
            await lab.start("E")
            await lab.advance(lab.now + DAY_US)
            backup = await lab.backup("E")
            await lab.add_site("LON")
            await lab.kill("E")
            await lab.start("E")
            await lab.restore("E", backup)
            assert [event.revision for event in events_of(lab, OrganizationRead, "E")] == [1, 2, 2]
            await lab.stop("E")
            await lab.delete_store("E", on="A")
            await lab.create_store("E")
            assert [event.reason for event in events_of(lab, NodeStarted, "E")][-2:] == ["restored", "first"]
            await lab.advance(lab.now + 2 * DAY_US)
            assert [folder.path for folder in lab.read("E", lambda node: node.folders())] == ["Projects"]
            await lab.add_server("C", site=lab.organization.sites[0])
            await lab.start("C")
            await lab.restore("C", await lab.backup("A"))
            assert [folder.path for folder in lab.read("C", lambda node: node.folders())] == ["Projects"]
            await lab.remove_site("LON")
            with pytest.raises(LabError, match="only a site without a server can be removed"):
                await lab.remove_site(lab.organization.sites[0])

    async def test_a_server_without_a_store_is_removed(self, make_lab: LabFactory) -> None:
        """RP-9: a server is removed after its store was deleted, or if it has never started, and not before. All stores
        forget it, waiting mail to it is returned, its faults and backups end, and then its site can be removed."""
        async with make_lab(FOUR_STORES_IN_TWO_SITES) as lab:
            with pytest.raises(LabError, match="server D is running; stop it, and delete its store"):
                await lab.remove_server("D")
            await lab.add_server("E", site="NYC")
            await lab.remove_server("E")
            backup = await lab.backup("D")
            await lab.stop("B")
            await lab.kill("D")
            lab.faults.inject(Lose(from_="A", to="D", count=1))
            lab.faults.inject(Lose(from_="B", to="C", count=1))
            await post(lab, "A", "waits for D")
            await lab.advance(START_AT + HOUR_US)
            assert [mail.next_hop for mail in lab.read("C", lambda node: node.queue())] == ["D"]
            with pytest.raises(LabError, match="the store of server D is in the directory; delete the store first"):
                await lab.remove_server("D")
            await lab.delete_store("D", on="A", force=True)
            await lab.remove_server("D")
            assert lab.names == ("A", "B", "C")
            await lab.settle()
            assert [mail.next_hop for mail in lab.read("C", lambda node: node.queue()) if mail.sender] == []
            assert [event.recipients for event in events_of(lab, HopExpired, "C")] == [("D-IS@contoso.test",)]
            assert [fault.kind for fault in lab.faults.active()] == ["lose"]
            await lab.start("B")
            for name in ("A", "B", "C"):
                assert {entry.store for entry in lab.read(name, lambda node: node.directory())} == {"A", "B", "C"}, name
            for order in (lab.remove_server("D"), lab.start("D"), lab.restore("D", backup)):
                with pytest.raises(LabError, match="there is no server 'D'"):
                    await order
            await lab.stop("C")
            await lab.delete_store("C", on="A", force=True)
            with pytest.raises(LabError, match="the server C is a bridgehead of SEA-NYC"):
                await lab.remove_server("C")
            await lab.remove_connector("SEA-NYC")
            await lab.remove_server("C")
            await lab.remove_site("NYC")
            changes = [(event.subject, event.change) for event in events_of(lab, OrganizationChanged)]
            assert changes[-3:] == [("connector SEA-NYC", "removed"), ("server C", "removed"), ("site NYC", "removed")]
            lab.faults.heal()
            await post(lab, "B", "later")
            assert await lab.until(lambda: "later" in subjects(lab, "A"), lab.now + DAY_US)

    async def test_another_server_gets_the_name_of_a_removed_one(self, make_lab: LabFactory) -> None:
        """RP-9, RP-7: a server of a removed server's name is another server, perhaps in another site and of another version.
        Its first start creates a new store, with another GUID and the next directory object, on all servers, also those that
        did not run meanwhile. It gets nothing of the removed one except by replication, and stops and starts as any server."""
        async with make_lab(FOUR_STORES_IN_TWO_SITES) as lab:
            await post(lab, "A", "before")
            await lab.advance(START_AT + HOUR_US)
            backup = await lab.backup("D")
            await lab.do("D", lambda node, now: node.configure(now, {"Replication Always Interval": 20}))
            await lab.stop("D")
            await lab.delete_store("D", on="A", force=True)
            await lab.stop("B")
            await lab.remove_server("D")
            await lab.advance(lab.now + HOUR_US)
            await lab.add_server("D", site="SEA", version="2007")
            assert events_of(lab, StoreCreated) == []
            with pytest.raises(LabError, match=f'"{backup}" is not a backup of D'):
                await lab.restore("D", backup)
            await lab.start("D")
            await lab.start("B")
            assert [event.directory_object for event in events_of(lab, StoreCreated)] == [1]
            starts = events_of(lab, NodeStarted, "D")
            assert [start.version for start in starts] == ["2003", "2007"]
            assert starts[0].replica_guid != starts[1].replica_guid
            views = {view.name: view for view in lab.read("D", lambda node: node.setting_views())}
            assert views["Replication Always Interval"].value == views["Replication Always Interval"].default
            for name in lab.names:
                (entry,) = [entry for entry in lab.read(name, lambda node: node.directory()) if entry.store == "D"]
                assert "/ou=SEA/" in entry.legacy_dn, name
            await lab.stop("D")
            await lab.start("D")
            await lab.advance(lab.now + 2 * DAY_US)
            assert subjects(lab, "D") == []
            await lab.do("A", lambda node, now: node.change_folder(now, "Projects", replicas=["A", "B", "C", "D"]))
            assert await lab.until(lambda: subjects(lab, "D") == ["before"], lab.now + 3 * DAY_US)
            await lab.stop("D")
            await lab.delete_store("D", on="C", force=True)
            await lab.remove_server("D")
            await lab.add_server("D", site="NYC")
            await lab.start("D")
            assert [event.directory_object for event in events_of(lab, StoreCreated)] == [1, 2]


def body_of(mail: bytes) -> bytes:
    return mail.partition(b"\r\n\r\n")[2]


class RecordCases:
    """A run leaves its traces, its topology and its seed."""

    async def test_the_traces_of_a_run_are_complete(self, make_lab: LabFactory) -> None:
        """After a run with a stop, a kill and a fault, the segments hold every event of every node, without gaps."""
        lab = make_lab()
        async with lab:
            lab.faults.inject(Lose(from_="A", to="C", count=1))
            await post(lab, "A")
            await lab.advance(START_AT + HOUR_US)
            await lab.stop("B")
            await lab.start("B")
            await lab.kill("C")
            lab.verdict = "passed"
        trace = read_folder(lab.folder / "traces")
        assert trace.report() == []
        by_node = {name: [event.seq for event in trace.events if event.node == name] for name in ("lab", *lab.names)}
        assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in by_node.values())
        assert len(trace.events) == len(lab.events())
        own = [event for event in trace.events if event.node == "lab"]
        assert isinstance(own[0], RunStarted)
        assert isinstance(own[-1], RunEnded)
        assert own[-1].verdict == "passed"
        assert {event.run for event in trace.events} == {lab.run}

    async def test_a_run_folder_says_what_was_run(self, make_lab: LabFactory) -> None:
        """Topology and seed are in the run folder, and `latest` points at it. Closing a closed lab does nothing."""
        lab = make_lab("servers: {A: }\nfolders: {Projects: }\n", seed=77)
        async with lab:
            await lab.close()
        assert not lab.running("A")
        assert (lab.folder / "seed").read_text() == "77\n"
        assert "Projects" in (lab.folder / "topology.yaml").read_text()
        assert (lab.folder.parent.parent / "latest").resolve() == lab.folder.resolve()


class ReportCases:
    """The mails and the events of a lab can be read."""

    async def test_mails_are_kept_on_request(self, make_lab: LabFactory) -> None:
        """Each mail that crossed a hop is a file that can be decoded, also one that was lost on arrival."""
        async with make_lab(keeps_mails=True) as lab:
            lab.faults.inject(Lose(from_="A", to="B", type="content", count=1))
            await post(lab, "A")
            await lab.advance(START_AT + ALWAYS_US)
            crossed = [event for event in lab.events() if isinstance(event, HopSent)]
        kept = sorted((lab.folder / "mails").iterdir())
        at = "2003-10-21T001500Z"
        assert [each.name for each in kept] == [f"{at}-A-to-B-content.eml", f"{at}-A-to-C-content.eml"]
        assert len(kept) == len(crossed)
        for each in kept:
            told = [line for _, line in outline(describe_mail(each.read_bytes()))]
            assert "Subject: Folder Content" in told
            assert any(line.startswith("X-Pflab-Hop: server=A") for line in told)

    async def test_an_altered_mail_is_kept_as_it_crossed(self, make_lab: LabFactory) -> None:
        """The file of a mail that was altered on its way has the bytes that the other end got."""
        async with make_lab(keeps_mails=True) as lab:
            lab.faults.inject(Alter(from_="A", to="B", type="content", count=1))
            await post(lab, "A")
            await lab.advance(START_AT + ALWAYS_US)
        to_b, to_c = (each.read_bytes() for each in sorted((lab.folder / "mails").iterdir()))
        assert body_of(to_b) == body_of(altered(to_c)) != body_of(to_c)

    async def test_no_mails_are_kept_without_request(self, make_lab: LabFactory) -> None:
        """A run folder holds copies of mails only on request."""
        async with make_lab() as lab:
            await post(lab, "A")
            await lab.advance(START_AT + ALWAYS_US)
        assert not (lab.folder / "mails").exists()

    async def test_events_come_in_the_order_of_commits(self, make_lab: LabFactory) -> None:
        """The lab's list has each node's events in the order of their numbers, and `since` leaves out those already read."""
        async with make_lab() as lab:
            await post(lab, "A")
            before = len(lab.events())
            await lab.advance(START_AT + HOUR_US)
            later = lab.events(before)
            assert [*lab.events()][before:] == [*later]
            for name in lab.names:
                numbers = [event.seq for event in lab.events() if event.node == name]
                assert numbers == sorted(numbers)


class StuckNode:
    """A node that always has something due and never does it."""

    crash_at = None

    def __init__(self, name: str, **_: object) -> None:
        self.name = name
        self.ticks = 0

    def open(self, now: LabTime) -> None: ...
    def reopen(self, now: LabTime) -> None: ...
    def close(self, now: LabTime) -> None: ...
    def abandon(self) -> None: ...
    def export(self) -> None: ...

    def next_due(self) -> LabTime | None:
        return START_AT

    def outgoing(self, now: LabTime, limit: int = 100, busy: object = (), crowded: object = ()) -> list[object]:
        return []

    def queue(self) -> list[object]:
        return []

    def tick(self, now: LabTime) -> None:
        self.ticks += 1

    def offers(self) -> Offers:
        return Offers()

    @property
    def credentials(self) -> Credentials:
        return Credentials("A", b"", lambda data: data)

    def verify_peer(self, store: str, certificate: bytes, signature: bytes, data: bytes) -> bool:
        return False


class FailingNode(StuckNode):
    """A node whose timers fail."""

    def tick(self, now: LabTime) -> None:
        raise RuntimeError("the table is gone")


def node_of(kind: type[StuckNode]) -> Any:
    return lambda name, **made_with: cast(Node, kind(name, **made_with))


class FailingNodeCases:
    """A wait ends with the name of the server that fails or always has work. Only drivers with nodes in this process can use
    such fake nodes."""

    async def test_a_server_that_never_rests_is_named(self, make_lab: LabFactory) -> None:
        """A wait ends with an error that names the server that is not idle, and since when."""
        lab = make_lab("servers: {A: }", make_node=node_of(StuckNode))
        with pytest.raises((LabError, InternalError), match=r"server A: .*still due after"):
            async with lab:
                await lab.advance(START_AT + HOUR_US)
        await lab.close()

    async def test_a_server_that_fails_is_named(self, make_lab: LabFactory) -> None:
        """An error inside a server's own work ends the wait at once and is raised."""
        lab = make_lab("servers: {A: }", make_node=node_of(FailingNode))
        with pytest.raises(
            InternalError, match=r"server A: internal error at .*Z: RuntimeError: the table is gone"
        ) as error:
            async with lab:
                await lab.advance(START_AT + HOUR_US)
        await lab.close()
        assert isinstance(error.value.__cause__, RuntimeError)


class TestSimulator(
    ClockCases, MailCases, FaultCases, OrganizationCases, ServerCases, RecordCases, ReportCases, FailingNodeCases
):
    @pytest.fixture
    def driver(self) -> str:
        return "simulator"


class TestSimulatedLab(ClockCases, MailCases, FaultCases, OrganizationCases, ServerCases, RecordCases, ReportCases):
    @pytest.fixture
    def driver(self) -> str:
        return "simulated lab"


@pytest.mark.live
class TestLive(
    ClockCases, MailCases, FaultCases, OrganizationCases, ServerCases, RecordCases, ReportCases, FailingNodeCases
):
    @pytest.fixture
    def driver(self) -> str:
        return "live"


@pytest.mark.long
@pytest.mark.live
class TestProcesses(OrganizationCases, ServerCases, RecordCases):
    """The rest is that of the driver of managed processes; servers start and end differently."""

    @pytest.fixture
    def driver(self) -> str:
        return "processes"


@pytest.mark.long
@pytest.mark.live
class TestManaged(ClockCases, MailCases, FaultCases, OrganizationCases, ServerCases, ReportCases):
    @pytest.fixture
    def driver(self) -> str:
        return "managed"
