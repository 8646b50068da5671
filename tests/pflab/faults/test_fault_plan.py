"""The fault plan: which mails a fault affects, what it does to them, how often, and what it reports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from pflab.client import Client
from pflab.errors import LabError
from pflab.faults.fault import (
    CONNECT_US,
    INJECTABLE,
    MAIL_TYPES,
    Alter,
    Blackhole,
    Crash,
    Cut,
    Delay,
    Duplicate,
    Kill,
    Lose,
    MailFault,
    Reorder,
    Unlink,
    Unstamp,
)
from pflab.faults.fault_plan import FaultPlan
from pflab.scenario.model import VERBS
from topology.file.load import topology_from_text
from topology.model import Topology
from traces.labtime import HOUR_US, MINUTE_US, LabTime, parse_instant
from transport.envelope import Priority, Transmission
from transport.protocol.fault_points import GO, AfterSend, AtArrival, BeforeSend, Decision

NOW = parse_instant("2003-10-21T00:15Z")

TOPOLOGY = """
domain: contoso.test
sites: [SEA, NYC]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10}
servers:
  A: {site: SEA}
  B: {site: SEA}
  C: {site: NYC}
  D: {site: NYC}
"""


class Reports:
    """The reports of the plan, which a lab writes as events."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def injected(self, fault: str, kind: str, details: Mapping[str, str]) -> None:
        self.lines.append(f"{fault} {kind} {' '.join(f'{key}={value}' for key, value in details.items())}".strip())

    def altered(self, fault: str, server: str, crossed: Transmission) -> None:
        self.lines.append(f"{fault} alters {crossed.message_id} from {server} to {crossed.next_hop}")

    def healed(self, fault: str) -> None:
        self.lines.append(f"{fault} healed")


@pytest.fixture
def topology() -> Topology:
    return topology_from_text(TOPOLOGY)


@pytest.fixture
def reports() -> Reports:
    return Reports()


@pytest.fixture
def plan(topology: Topology, reports: Reports) -> FaultPlan:
    return FaultPlan(
        topology, now=lambda: NOW, injected=reports.injected, altered=reports.altered, healed=reports.healed
    )


def address(server: str) -> str:
    return f"{server}-IS@contoso.test"


def mail(
    number: int,
    to: str,
    *recipients: str,
    sender: str = "A",
    mail_type: str = "content",
    connector: str | None = None,
) -> Transmission:
    """A transmission to the next server `to`, for the stores named (by default for that server's own)."""
    return Transmission(
        queue_id=number,
        next_hop=to,
        connector=connector,
        sender=address(sender),
        recipients=tuple(address(each) for each in recipients or (to,)),
        content=b"",
        message_id=f"<{number}@a>",
        subject=MAIL_TYPES[mail_type],
        attempts=0,
        priority=Priority.NORMAL,
        sent_at=NOW,
        lamport=0,
    )


def before_send(plan: FaultPlan, server: str, transmission: Transmission, now: LabTime = NOW) -> Decision:
    return plan.decide(BeforeSend(server, transmission, now))


def after_send(plan: FaultPlan, server: str, transmission: Transmission, *, delivered: bool) -> None:
    plan.decide(AfterSend(server, transmission, delivered))


def arrives(plan: FaultPlan, transmission: Transmission) -> str | None:
    """Return the fault that loses the mail at the server it was sent to."""
    sent = transmission
    point = AtArrival(sent.next_hop, sent.sender, sent.recipients, sent.subject, sent.message_id)
    return plan.decide(point).lost_by


# --- lose


def test_without_faults_everything_goes(plan: FaultPlan) -> None:
    """A plan without faults lets every mail leave and arrive."""
    assert before_send(plan, "A", mail(1, "B")) is GO
    assert arrives(plan, mail(1, "B")) is None


def test_lose_takes_what_it_names_and_nothing_else(plan: FaultPlan) -> None:
    """A mail is lost only if its sender, recipient and type are all those of the fault."""
    fault = plan.inject(Lose(from_="A", to="B", type="content"))
    assert arrives(plan, mail(1, "B")) == fault
    assert arrives(plan, mail(2, "B", sender="C")) is None
    assert arrives(plan, mail(3, "C")) is None
    assert arrives(plan, mail(4, "B", mail_type="status")) is None


def test_lose_without_names_takes_all(plan: FaultPlan) -> None:
    """A name that a fault leaves out matches everything, also a sender that the lab does not know."""
    fault = plan.inject(Lose())
    stranger = plan.decide(AtArrival("B", "", (address("B"),), "Hello")).lost_by
    assert arrives(plan, mail(1, "C", sender="D", mail_type="hierarchy")) == fault
    assert stranger == fault


def test_lose_happens_at_the_recipients_own_server(plan: FaultPlan) -> None:
    """A mail is lost at the server of its recipient, not at a bridgehead that it passes."""
    fault = plan.inject(Lose(from_="A", to="D"))
    assert arrives(plan, mail(1, "C", "D")) is None
    assert arrives(plan, mail(2, "C", "C", "D")) is None
    assert arrives(plan, mail(3, "D")) == fault


def test_lose_counts_and_then_ends(plan: FaultPlan, reports: Reports) -> None:
    """A fault ends after `count` mails, and reports its injection and its end."""
    fault = plan.inject(Lose(from_="A", to="B", count=2))
    assert [arrives(plan, mail(number, "B")) for number in range(4)] == [fault, fault, None, None]
    assert reports.lines == ["F1 lose from=A to=B count=2", "F1 healed"]
    assert not plan.active()


def test_lose_on_a_connector(plan: FaultPlan) -> None:
    """A loss on a connector takes the copy that crosses it, at the far end, whoever its recipient is."""
    fault = plan.inject(Lose(connector="SEA-NYC"))
    crossing = mail(1, "C", "D", connector="SEA-NYC")
    assert before_send(plan, "A", crossing) is GO
    assert arrives(plan, crossing) == fault
    after_send(plan, "A", crossing, delivered=True)
    assert arrives(plan, crossing) is None, "another mail of the same look, by another way"


def test_lose_on_a_link_has_a_direction(plan: FaultPlan) -> None:
    """A loss on a link takes only mail from the first server to the second."""
    fault = plan.inject(Lose(link=["A", "B"], count=1))
    there, back = mail(1, "B"), mail(2, "A", sender="B")
    before_send(plan, "B", back)
    before_send(plan, "A", there)
    assert arrives(plan, back) is None
    assert arrives(plan, there) == fault


def test_a_refused_connection_does_not_use_up_a_loss(plan: FaultPlan) -> None:
    """A loss on a link counts mails that arrive, not failed attempts."""
    fault = plan.inject(Lose(link=["A", "B"], count=1))
    for _ in range(2):
        before_send(plan, "A", mail(1, "B"))
        after_send(plan, "A", mail(1, "B"), delivered=False)
    before_send(plan, "A", mail(1, "B"))
    assert arrives(plan, mail(1, "B")) == fault


# --- one store of several


@pytest.mark.parametrize("kind", [Lose, Alter, Delay, Duplicate, Reorder])
@pytest.mark.parametrize(
    "mails", [{"from_": "A", "to": "C"}, {"to": "C", "link": ["A", "C"]}, {"to": "C", "connector": "SEA-NYC"}]
)
def test_a_mail_for_others_too_is_divided_before_it_leaves(
    plan: FaultPlan, kind: type[MailFault], mails: dict[str, Any]
) -> None:
    """A fault that names one store acts on the copy for that store. The mail is divided once; nothing is counted for it."""
    plan.inject(kind(**mails, count=1))
    both = mail(1, "C", "C", "D", connector="SEA-NYC")
    assert before_send(plan, "A", both) == Decision(apart=(address("C"),))
    others, own = mail(1, "C", "D", connector="SEA-NYC"), mail(2, "C", "C", connector="SEA-NYC")
    assert before_send(plan, "A", others) is GO
    assert arrives(plan, others) is None
    assert before_send(plan, "A", own) != GO or arrives(plan, own) is not None


def test_a_fault_without_a_store_acts_on_the_whole_mail(plan: FaultPlan) -> None:
    """Only a name divides a mail: all copies of it are meant otherwise. A cut comes first."""
    fault = plan.inject(Lose(from_="A"))
    both = mail(1, "C", "C", "D", connector="SEA-NYC")
    assert before_send(plan, "A", both) is GO
    assert arrives(plan, both) == fault
    plan.inject(Alter(from_="A", to="C"))
    plan.inject(Cut(connector="SEA-NYC"))
    assert before_send(plan, "A", both).refuse


# --- delay, duplicate, reorder


def test_delay_holds_a_mail_once(plan: FaultPlan) -> None:
    """A delayed mail stays in its queue for the given time, and is then sent."""
    plan.inject(Delay(from_="A", to="B", by="2 h"))
    assert before_send(plan, "A", mail(1, "B")).hold_until_at == NOW + 2 * HOUR_US
    assert before_send(plan, "A", mail(1, "B"), NOW + HOUR_US).hold_until_at == NOW + 2 * HOUR_US
    assert before_send(plan, "A", mail(1, "B"), NOW + 2 * HOUR_US) is GO
    assert before_send(plan, "A", mail(2, "B"), NOW + 2 * HOUR_US).hold_until_at == NOW + 4 * HOUR_US


def test_delay_counts_mails_not_attempts(plan: FaultPlan) -> None:
    """A count of one delays one mail, however often the driver asks."""
    plan.inject(Delay(from_="A", to="B", count=1, by="1 h"))
    assert before_send(plan, "A", mail(1, "B")).hold_until_at == NOW + HOUR_US
    assert before_send(plan, "A", mail(2, "B")) is GO
    assert before_send(plan, "A", mail(1, "B"), NOW + HOUR_US) is GO


def test_duplicate_sends_the_same_mail_twice(plan: FaultPlan) -> None:
    """The sender repeats the transmission, also if the first attempt failed."""
    plan.inject(Duplicate(from_="A", to="B"))
    assert before_send(plan, "A", mail(1, "B")).copies == 2
    after_send(plan, "A", mail(1, "B"), delivered=False)
    assert before_send(plan, "A", mail(1, "B")).copies == 2
    assert before_send(plan, "A", mail(1, "C")) is GO


def test_alter_alters_the_mail_until_it_has_crossed(plan: FaultPlan, reports: Reports) -> None:
    """The fault alters its mail at each attempt and counts it when it arrives; other mails stay as they are."""
    plan.inject(Alter(from_="A", to="B", count=1))
    for _ in range(2):
        assert before_send(plan, "A", mail(1, "B")).alter
        after_send(plan, "A", mail(1, "B"), delivered=False)
    assert before_send(plan, "A", mail(2, "B")) is GO
    assert before_send(plan, "A", mail(3, "C")) is GO
    assert before_send(plan, "A", mail(1, "B")).alter
    after_send(plan, "A", mail(1, "B"), delivered=True)
    assert before_send(plan, "A", mail(4, "B")) is GO
    assert reports.lines == ["F1 alter from=A to=B count=1", "F1 alters <1@a> from A to B", "F1 healed"]


def test_alter_has_a_direction_and_an_end(plan: FaultPlan, reports: Reports) -> None:
    """On a link it alters mail in one direction, on a connector all that crosses it; it ends after its time."""
    plan.inject(Alter(link=["A", "B"], lasts="1 h"))
    plan.inject(Alter(connector="SEA-NYC"))
    assert before_send(plan, "A", mail(1, "B")).alter
    assert before_send(plan, "B", mail(2, "A", sender="B")) is GO
    assert before_send(plan, "A", mail(3, "C", connector="SEA-NYC")).alter
    assert plan.next_end_at == NOW + HOUR_US
    assert before_send(plan, "A", mail(4, "B"), NOW + HOUR_US) is GO
    assert reports.lines[-1] == "F1 healed"
    with pytest.raises(LabError, match="no server 'X'"):
        plan.inject(Alter(from_="X"))


def test_reorder_holds_the_first_and_lets_the_second_pass(plan: FaultPlan) -> None:
    """Of each pair of mails the second overtakes the first; a count is the number of pairs."""
    plan.inject(Reorder(from_="A", to="B", count=1, by="20 min"))
    assert before_send(plan, "A", mail(1, "B")).hold_until_at == NOW + 20 * MINUTE_US
    assert before_send(plan, "A", mail(2, "B"), NOW + 15 * MINUTE_US) is GO
    assert not plan.active()
    assert before_send(plan, "A", mail(1, "B"), NOW + 20 * MINUTE_US) is GO
    assert before_send(plan, "A", mail(3, "B"), NOW + 30 * MINUTE_US) is GO


def test_the_longest_delay_applies(plan: FaultPlan) -> None:
    """A mail under two delays waits for the longer one."""
    plan.inject(Delay(from_="A", to="B", by="1 h"))
    plan.inject(Delay(type="content", by="3 h"))
    assert before_send(plan, "A", mail(1, "B")).hold_until_at == NOW + 3 * HOUR_US


# --- cut and black hole


def test_an_attempt_into_a_black_hole_fails_after_the_limit_for_connecting(plan: FaultPlan) -> None:
    """Each attempt first waits, then fails, and counts once. The reason says that nobody refused the connection."""
    fault = plan.inject(Blackhole(between=["A", "B"]))
    for began_at in (NOW, NOW + HOUR_US):
        waits = Decision(hold_until_at=began_at + CONNECT_US)
        assert before_send(plan, "A", mail(1, "B"), began_at) == waits
        assert before_send(plan, "A", mail(1, "B"), began_at + CONNECT_US - 1) == waits
        failed = before_send(plan, "A", mail(1, "B"), began_at + CONNECT_US)
        reason = f"no connection: B neither accepted nor refused it within 10 s: blackhole ({fault})"
        assert failed == Decision(refuse=reason)
    assert [each.acted for each in plan.active()] == [2]
    assert before_send(plan, "A", mail(2, "C")) is GO


def test_an_attempt_succeeds_if_a_black_hole_ends_while_it_waits(plan: FaultPlan) -> None:
    """The sender still asks for the connection, so the mail leaves."""
    fault = plan.inject(Blackhole(connector="SEA-NYC"))
    waiting = mail(1, "C", connector="SEA-NYC")
    assert before_send(plan, "A", waiting).hold_until_at == NOW + CONNECT_US
    plan.heal(fault)
    assert before_send(plan, "A", waiting, NOW + CONNECT_US) is GO


def test_a_mail_is_not_divided_before_a_black_hole(plan: FaultPlan) -> None:
    """A fault of mails for one of several recipients waits until the mail can cross the link."""
    plan.inject(Blackhole(between=["SEA", "NYC"]))
    plan.inject(Lose(to="D", link=["A", "C"]))
    assert before_send(plan, "A", mail(1, "C", "C", "D")).apart == ()


def test_a_cut_refuses_both_ways(plan: FaultPlan) -> None:
    """A cut between two servers refuses connections in both directions."""
    fault = plan.inject(Cut(between=["A", "B"]))
    for sender, to in (("A", "B"), ("B", "A")):
        refuse = before_send(plan, sender, mail(1, to, sender=sender)).refuse
        assert refuse is not None
        assert fault in refuse
    assert before_send(plan, "A", mail(1, "C")) is GO


def test_a_fault_counts_how_often_it_has_acted(plan: FaultPlan) -> None:
    """A loss counts mails, a delay mails and not attempts, and a cut refused connections."""
    plan.inject(Delay(from_="A", to="B", by="1 h"))
    plan.inject(Cut(between=["B", "C"]))
    plan.inject(Lose(from_="C", to="A"))
    for number in (1, 1, 2):
        before_send(plan, "A", mail(number, "B"))
        before_send(plan, "B", mail(number, "C", sender="B"))
    arrives(plan, mail(3, "A", sender="C"))
    assert [each.acted for each in plan.active()] == [2, 3, 1]


def test_a_one_way_cut_refuses_one_way(plan: FaultPlan) -> None:
    """A one-way cut refuses connections in one direction only."""
    plan.inject(Cut(between=["A", "B"], one_way=True))
    assert before_send(plan, "A", mail(1, "B")).refuse
    assert before_send(plan, "B", mail(1, "A", sender="B")) is GO


def test_a_cut_between_sites(plan: FaultPlan) -> None:
    """A cut between two sites lies between all servers of the one and the other."""
    plan.inject(Cut(between=["SEA", "NYC"]))
    assert before_send(plan, "B", mail(1, "D", sender="B")).refuse
    assert before_send(plan, "C", mail(1, "A", sender="C")).refuse
    assert before_send(plan, "A", mail(1, "B")) is GO


def test_a_cut_connector(plan: FaultPlan) -> None:
    """A cut connector refuses every hop over it, and no other."""
    plan.inject(Cut(connector="SEA-NYC"))
    assert before_send(plan, "A", mail(1, "C", connector="SEA-NYC")).refuse
    assert before_send(plan, "A", mail(1, "B")) is GO


# --- crash, heal, names


def test_a_crash_waits_for_its_stimulus(plan: FaultPlan) -> None:
    """A crash happens once, on its server, after the given number of further stimuli."""
    plan.inject(Crash(server="B", point="after commit", after=2))
    assert plan.has_crashes
    assert plan.crash_point("A") is None
    assert [plan.crash_point("B") for _ in range(4)] == [None, None, "after commit", None]
    assert not plan.has_crashes


def test_a_driver_without_crash_points_says_so(topology: Topology) -> None:
    """A driver that cannot crash a server inside a stimulus refuses the fault and says what can be done."""
    with pytest.raises(LabError, match="kill and start"):
        FaultPlan(topology, simulated=False).inject(Crash(server="A"))


def test_the_end_of_one_fault_may_end_another(topology: Topology, reports: Reports) -> None:
    """A healed fault can let a planned crash happen, which then is over before its turn comes. Each fault ends once."""

    def healed(fault: str) -> None:
        reports.healed(fault)
        crashing.crash_point("A")

    crashing = FaultPlan(topology, injected=reports.injected, altered=reports.altered, healed=healed)
    crashing.inject(Unstamp(server="A"))
    crashing.inject(Crash(server="A"))
    crashing.heal()
    assert reports.lines[-2:] == ["F1 healed", "F2 healed"]
    assert crashing.active() == ()


def test_heal_ends_one_or_all(plan: FaultPlan, reports: Reports) -> None:
    """A healed fault has no effect; healing without a name heals all faults except killed servers."""
    plan.killed("C")
    first, second, third = (
        plan.inject(Lose(from_="A", to="B")),
        plan.inject(Cut(between=["A", "B"])),
        plan.inject(Delay(from_="A")),
    )
    plan.heal(second)
    assert before_send(plan, "A", mail(1, "B")).refuse is None
    plan.heal()
    assert arrives(plan, mail(1, "B")) is None
    assert [active.asked for active in plan.active()] == [Kill(server="C")]
    assert reports.lines[-3:] == [f"{second} healed", f"{first} healed", f"{third} healed"]


@pytest.mark.parametrize(
    ("inject", "expected"),
    [
        (lambda plan: plan.inject(Lose(from_="X")), "no server 'X'; known: A, B, C, D"),
        (lambda plan: plan.inject(Lose(to="X")), "no server 'X'"),
        (lambda plan: plan.inject(Duplicate(connector="X")), "no connector 'X'; known: SEA-NYC"),
        (lambda plan: plan.inject(Cut(between=["A", "X"])), "no server or site 'X'"),
        (lambda plan: plan.heal("F9"), "no active fault 'F9'"),
    ],
)
def test_an_unknown_name_is_refused_with_what_there_is(
    plan: FaultPlan, reports: Reports, inject: object, expected: str
) -> None:
    """A fault with an unknown name is refused in one line with the known ones, and is not injected."""
    with pytest.raises(LabError, match=expected):
        inject(plan)  # type: ignore[operator]
    assert not plan.active()
    assert not reports.lines


# --- one mail


def test_a_fault_aimed_at_one_mail_takes_no_other(plan: FaultPlan, reports: Reports) -> None:
    """With a Message-ID, a hop and a count of 1, a fault acts on one copy of one mail, although others look the same."""
    fault = plan.inject(Lose(link=["A", "B"], mail="<2@a>", count=1))
    for number in (1, 2):
        assert before_send(plan, "A", mail(number, "B")) is GO
    assert [arrives(plan, mail(number, "B")) for number in (1, 2)] == [None, fault]
    assert reports.lines == [f"{fault} lose link=A -> B mail=<2@a> count=1", f"{fault} healed"]


@pytest.mark.parametrize("kind", [Delay, Duplicate, Alter])
def test_each_kind_can_be_aimed_at_one_mail(plan: FaultPlan, kind: type[MailFault]) -> None:
    """Delay, duplicate and alter act on the mail that they name only."""
    plan.inject(kind(mail="<2@a>"))
    assert before_send(plan, "A", mail(1, "B")) is GO
    assert before_send(plan, "A", mail(2, "B")) is not GO


def test_a_released_mail_is_not_held_again(plan: FaultPlan) -> None:
    """Release ends the delay of one mail at once; other mails of the same fault stay delayed."""
    plan.inject(Delay(to="B", by="1 h"))
    first, second = mail(1, "B"), mail(2, "B")
    for each in (first, second):
        assert before_send(plan, "A", each).hold_until_at == NOW + HOUR_US
    assert plan.held("<1@a>") == {("A", 1, "<1@a>"): NOW + HOUR_US}
    assert plan.release("<1@a>") == (("A", 1, "<1@a>"),)
    assert before_send(plan, "A", first) is GO
    assert before_send(plan, "A", second).hold_until_at == NOW + HOUR_US
    assert plan.release("<1@a>") == (), "it is not held any more"


def test_release_ends_a_delay_that_has_not_begun(plan: FaultPlan) -> None:
    """A delay aimed at one mail that is not yet due ends when the mail is released."""
    plan.inject(Delay(mail="<1@a>", count=1, by="1 h"))
    assert plan.release("<1@a>") == ()
    assert not plan.active()
    assert before_send(plan, "A", mail(1, "B")) is GO


def test_every_door_knows_every_fault() -> None:
    """The client's documentation and the words cover each kind that can be injected."""
    assert set(INJECTABLE) <= set(re.findall(r"\w+", Client.inject.__doc__ or ""))
    assert set(INJECTABLE) <= VERBS.keys()


def test_an_object_of_5_5_cannot_lose_a_link_that_it_has_not() -> None:
    """ML-8: the directory of 5.5 has no objects of trees."""
    plan = FaultPlan(topology_from_text("servers: {A: {version: '5.5'}, B: {version: '2000'}}"))
    with pytest.raises(LabError, match="server A has a version whose directory has no objects of trees"):
        plan.inject(Unlink(server="A"))
    plan.inject(Unlink(server="B"))
    assert plan.directory_damage().unlinked == ("B",)
