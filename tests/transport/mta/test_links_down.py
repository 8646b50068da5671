"""Links that are down and up again, as MTAs find them and tell each other; without a socket."""

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.state.version_profiles import PROFILES
from tests.support.clock import START_AT
from tests.support.mta_server import database, outgoing
from topology.enums import ServerVersion
from topology.file.load import topology_from_text
from topology.model import Topology
from topology.routing import IGNORE_LINKS, Routing
from traces.events import LinkDown, LinkUp
from traces.events.header import Event
from traces.labtime import DAY_US, MINUTE_US, SECOND_US
from traces.recorder import Recorder
from transport.envelope import SendOutcome, SendState, Transmission
from transport.mta.mta import Mta
from transport.mta.retry_policy import RETRY_US, MtaPolicy
from transport.protocol.link_state import LinkReport, LinkRule, line_of, read_line, reports_of
from transport.sql import Connection
from transport.stimulus import Stimulus

RING = topology_from_text("""
organization: Contoso
domain: contoso.test
sites: [SEA, NYC, LON, TKO]
servers: {A: {site: SEA}, A2: {site: SEA}, B: {site: NYC}, C: {site: LON}, T: {site: TKO}}
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10}
  - {name: SEA-LON, between: [SEA, LON], cost: 10}
  - {name: LON-NYC, between: [LON, NYC], cost: 30}
  - {name: SEA-TKO, between: [SEA, TKO], cost: 10}
""")
NOBODY = SendOutcome(SendState.DEFERRED, "connection refused", unreachable=True)
BUSY = SendOutcome(SendState.DEFERRED, "451 busy")
DONE = SendOutcome(SendState.DELIVERED, "250")


class Server:
    """One server's MTA; `at` is the lab time of its next stimulus."""

    def __init__(self, name: str, conn: Connection, rule: LinkRule = LinkRule.TOLD_IF_ANOTHER_WAY) -> None:
        self.name = name
        self.conn = conn
        self.rule = rule
        self.at = START_AT
        self.trace = Recorder(run="r", node=name, checked=True)
        self.mta = self.begun()

    def begun(self) -> Mta:
        homes = {f"{server}-IS@contoso.test": server for server in RING.servers}
        mta = Mta(self.name, Routing(RING), homes.get, MtaPolicy(link_rule=self.rule))
        mta.recall(self.conn)
        return mta

    def stimulus(self) -> Stimulus:
        self.trace.begin(self.at)
        return Stimulus(self.conn, self.at, self.trace)

    def submit(self, to: str) -> None:
        self.mta.submit(self.stimulus(), outgoing(f"{to}-IS@contoso.test"))

    def ready(self) -> list[Transmission]:
        return self.mta.ready(self.conn, self.at, 100)

    def mails(self) -> list[tuple[str, str | None]]:
        return [(sent.next_hop, sent.connector) for sent in self.ready() if not sent.is_call]

    def calls(self) -> list[tuple[str, str | None]]:
        return [(sent.next_hop, sent.connector) for sent in self.ready() if sent.is_call]

    def attempt(self, outcome: SendOutcome) -> list[Event]:
        """Everything due ends so; what was traced of links."""
        told: list[Event] = []
        for sent in self.ready():
            self.mta.concluded(self.stimulus(), sent.queue_id, outcome)
            told += self.links_traced()
        return told

    def fail(self, times: int) -> list[Event]:
        told: list[Event] = []
        for _ in range(times):
            told += self.attempt(NOBODY)
            self.at += RETRY_US
        return told

    def hear(self, *reports: LinkReport, peer: str = "C") -> list[Event]:
        self.mta.receive_link_reports(self.stimulus(), peer, reports)
        return self.links_traced()

    def links_traced(self) -> list[Event]:
        return [event for event in self.trace.events if isinstance(event, LinkDown | LinkUp)]


@pytest.fixture
def a(conn: Connection) -> Server:
    return Server("A", conn)


def down(connector: str, server: str, minutes: float = 0, *, up: bool = False) -> LinkReport:
    return LinkReport(connector, server, START_AT + int(minutes * MINUTE_US), not up)


# --- what a server finds


def test_three_failures_in_a_row_take_a_link_down_and_move_its_mail(a: Server) -> None:
    """RT-2: three failures in a row take a link down; the routes change, for queued mail too."""
    a.submit("B")
    assert a.fail(2) == []
    assert a.mails() == [("B", "SEA-NYC")]
    (event,) = a.attempt(NOBODY)
    assert isinstance(event, LinkDown)
    assert (event.connector, event.by, event.avoided, event.reason) == ("SEA-NYC", "A", True, "connection refused")
    assert a.mails() == [("C", "SEA-LON")]


def test_failures_that_come_together_count_as_one(a: Server) -> None:
    """RT-2: ten mails that fail within a minute do not take a link down."""
    for _ in range(10):
        a.submit("B")
    assert a.attempt(NOBODY) == []
    a.at += 30 * SECOND_US
    a.submit("B")
    assert a.attempt(NOBODY) == []


def test_an_answer_between_failures_restarts_the_count(a: Server) -> None:
    """RT-2: only failures in a row count, and a refusal is an answer."""
    a.submit("B")
    a.fail(2)
    assert a.attempt(BUSY) == []
    a.at += RETRY_US
    assert a.fail(2) == []


def test_the_only_way_is_never_down(a: Server) -> None:
    """RT-2: without another way, 2003 never avoids a link, and mail waits for it."""
    a.submit("T")
    assert a.fail(5) == []
    assert a.mails() == [("T", "SEA-TKO")] and a.calls() == []


def test_exchange_2000_avoids_the_only_link_too(conn: Connection) -> None:
    """RT-2: in 2000 a link that is down is never a route, so mail without another way waits."""
    a = Server("A", conn, LinkRule.TOLD)
    a.submit("T")
    (event,) = a.fail(3)
    assert isinstance(event, LinkDown) and event.avoided
    assert [(mail.next_hop, mail.connector) for mail in a.mta.queued(conn)] == [(None, None)]


def test_a_version_without_link_state_keeps_its_routes(conn: Connection) -> None:
    """RT-2: a server without link state finds no link down, accepts no reports and makes none."""
    a = Server("A", conn, LinkRule.IGNORED)
    a.submit("B")
    assert a.fail(5) == [] and a.hear(down("SEA-NYC", "A")) == []
    assert a.mails() == [("B", "SEA-NYC")] and a.ready()[0].links == ()


def test_a_link_that_is_down_is_called_until_somebody_answers(a: Server) -> None:
    """RT-2: the server calls at every retry interval; an answer takes the link up, and queued mail uses it again."""
    a.submit("B")
    a.fail(2)
    a.attempt(NOBODY)
    assert ("B", "SEA-NYC") not in a.calls()
    a.at += RETRY_US
    assert ("B", "SEA-NYC") in a.calls()
    assert a.attempt(NOBODY) == []
    a.at += RETRY_US
    assert ("B", "SEA-NYC") in a.calls()
    (up,) = [event for event in a.attempt(DONE) if isinstance(event, LinkUp)]
    assert (up.connector, up.by) == ("SEA-NYC", "A")
    assert a.mails() == [("B", "SEA-NYC")]
    while a.ready():
        a.attempt(DONE)
    assert a.mta.next_due(a.conn) is None


def test_a_server_reports_to_its_neighbours_at_once(a: Server) -> None:
    """RT-2: the server that finds a link down calls its neighbours, except the one behind that link."""
    a.submit("B")
    a.fail(3)
    a.at -= RETRY_US
    assert a.calls() == [("A2", None), ("C", "SEA-LON"), ("T", "SEA-TKO")]
    assert reports_of(a.ready()[0].links)[0].connector == "SEA-NYC"


def test_a_neighbour_that_does_not_answer_is_not_called_without_end(a: Server) -> None:
    """RT-2: the next mail brings the reports; only a link that is down is called without end."""
    a.hear(down("LON-NYC", "C"))
    a.fail(3)
    assert a.calls() == [] and a.mta.next_due(a.conn) is None


def test_what_is_known_of_links_survives_a_restart(a: Server) -> None:
    """RT-2: reports, counts of failures and calls are rows."""
    a.submit("B")
    a.fail(2)
    a.mta = a.begun()
    (event,) = a.attempt(NOBODY)
    assert isinstance(event, LinkDown)
    a.mta = a.begun()
    a.submit("B")
    assert a.mails() == [("C", "SEA-LON")] * 2 and a.calls()


def test_the_end_of_an_attempt_on_the_old_route_is_ignored(a: Server) -> None:
    """RT-2: a copy that was rerouted while it was in flight has a new id."""
    a.submit("B")
    (under_way,) = a.ready()
    a.hear(down("SEA-NYC", "B"))
    assert a.mta.concluded(a.stimulus(), under_way.queue_id, NOBODY) == []
    (moved,) = [sent for sent in a.ready() if not sent.is_call]
    assert (moved.next_hop, moved.attempts) == ("C", 0) and moved.queue_id != under_way.queue_id


# --- what a server is told


def test_a_report_changes_routes_until_a_later_one(a: Server) -> None:
    """RT-2: a report from a server at the link holds until a later one; an older one is ignored."""
    assert a.hear(down("SEA-NYC", "B", 5))
    a.submit("B")
    assert a.mails() == [("C", "SEA-LON")]
    assert a.hear(down("SEA-NYC", "B", 4, up=True)) == []
    assert a.hear(down("SEA-NYC", "B", 5, up=True)) == []
    assert a.hear(down("SEA-NYC", "B", 6, up=True))
    assert a.mails() == [("B", "SEA-NYC")]


def test_a_new_report_is_passed_on_but_not_back(a: Server) -> None:
    """RT-2: a new report goes to all neighbours except the sender; a known one goes to nobody."""
    a.hear(down("LON-NYC", "C"), peer="C")
    assert a.calls() == [("A2", None), ("B", "SEA-NYC"), ("T", "SEA-TKO")]
    a.attempt(DONE)
    a.hear(down("LON-NYC", "C"), peer="B")
    assert a.calls() == []


@pytest.mark.parametrize(
    "report",
    [
        down("no such link", "B"),
        down("SEA-NYC", "C"),
        down("SEA-NYC", "nobody"),
        down("SEA-NYC", "A2"),
        down("SEA-NYC", "B", 3 * DAY_US / MINUTE_US),
        down("SEA-NYC", "B", up=True),
    ],
)
def test_an_impossible_report_is_ignored(a: Server, report: LinkReport) -> None:
    """RT-2: an unknown link, a server that is not at the link, a time far ahead, "up" for a link that was never down."""
    assert a.hear(report) == [] and a.calls() == []


def test_a_restored_server_takes_back_reports_that_it_has_forgotten(a: Server) -> None:
    """RT-2: a server that goes back to a backup reports its links as up, so that no forgotten report stays in force."""
    with database() as conn:
        b = Server("B", conn)
        b.hear(down("SEA-NYC", "A", 5), peer="A")
        a.at = b.at = START_AT + 10 * MINUTE_US
        a.mta.report_links_up(a.stimulus())
        assert a.links_traced() == []
        assert {to for to, _ in a.calls()} == {"A2", "B", "C", "T"}
        (told,) = b.hear(*reports_of(a.ready()[0].links), peer="A")
        assert isinstance(told, LinkUp) and told.by == "A"
        assert b.mta.routing.down == frozenset()


def test_a_restored_server_keeps_calling_over_a_link_that_is_down(a: Server) -> None:
    """RT-2: a link that was down at the backup counts as down until somebody answers."""
    a.submit("B")
    a.fail(3)
    before = a.conn.exec_driver_sql("SELECT * FROM mta_link_report").all()
    a.mta.report_links_up(a.stimulus())
    after = a.conn.exec_driver_sql("SELECT * FROM mta_link_report").all()
    assert set(before) <= set(after)
    assert any(isinstance(event, LinkUp) for event in a.attempt(DONE))


def test_two_links_down_that_leave_no_way_are_both_used(a: Server) -> None:
    """RT-2: links without another way count as up, and mail is routed as before."""
    a.hear(down("SEA-NYC", "B"))
    (event,) = a.hear(down("LON-NYC", "C", 1))
    assert isinstance(event, LinkDown) and not event.avoided
    a.submit("B")
    assert a.mails() == [("B", "SEA-NYC")]


# --- lines


@given(
    connector=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=129),
    at=st.integers(0, 10**17),
    is_down=st.booleans(),
    lamport=st.integers(0, 10**12),
)
def test_a_report_is_read_as_it_was_written(connector: str, at: int, is_down: bool, lamport: int) -> None:
    """RT-2: for any name of a connector."""
    report = LinkReport(connector, "A", at, is_down, lamport)
    assert read_line(line_of(report)) == report and len(line_of(report)) < 1000


@pytest.mark.parametrize(
    "line",
    ["", None, "x", "1 2 down A", "1 2 sideways A U0VB", "1 2 down A U0V", "1 2 down A /////w==", f"{10**18 - 1} 2 up A U0VB",
     f"1 {10**14} up A U0VB"],
)  # fmt: skip
def test_a_malformed_line_is_no_report(line: str | None) -> None:
    """RT-2: it is ignored."""
    assert read_line(line) is None


# --- no loops

SITES = ["S0", "S1", "S2", "S3", "S4"]


@st.composite
def organizations(draw: st.DrawFn) -> Topology:
    """One server a site; every site is joined, some by relays."""
    pairs = [(draw(st.sampled_from(SITES[:index])), SITES[index]) for index in range(1, len(SITES))]
    others = [(one, other) for one in SITES for other in SITES if one < other and (one, other) not in pairs]
    pairs += draw(st.lists(st.sampled_from(others), unique=True, max_size=5))
    kinds = st.sampled_from(["routing-group", "routing-group", "x400", "smtp-relay"])
    links = "\n".join(
        f"  - {{name: {one}-{other}, between: [{one}, {other}], cost: {draw(st.integers(1, 9))}, kind: {draw(kinds)}}}"
        for one, other in pairs
    )
    versions = st.sampled_from(["2003", "2003", "2003", "2000", "2007", "5.5"])
    servers = ", ".join(f'{site}: {{site: {site}, version: "{draw(versions)}"}}' for site in SITES)
    return topology_from_text(
        f"organization: O\nsites: [{', '.join(SITES)}]\nconnectors:\n{links}\nservers: {{{servers}}}\n"
    )


@given(topology=organizations(), data=st.data())
def test_mail_never_circles_whatever_each_server_knows_of_links(topology: Topology, data: st.DataObject) -> None:
    """RT-2, ML-7: with each hop a server learns the reports of the last one, except across a relay or if its version ignores
    reports; the mail arrives."""
    usual = Routing(topology)
    told = [each.name for each in topology.connectors if each.name not in usual.relays]
    knows = {
        site: frozenset(data.draw(st.lists(st.sampled_from(told), unique=True), label=site) if told else [])
        for site in SITES
    }
    version = {name: str(server.version) for name, server in topology.servers.items()}
    watching = {site for site in SITES if usual.tells_links and version[site] in ("2000", "2003")}
    at, to = data.draw(st.permutations(SITES))[:2]
    hops = 0
    while at != to:
        down = knows[at] if at in watching else frozenset()
        hop = usual.with_down(down if version[at] == "2000" else usual.bridged(down)).next_hop(at, to)
        if hop is None:
            assert version[at] == "2000", "only 2000 waits for a link"
            return
        assert hop.connector is not None
        if hop.connector.name not in usual.relays and {at, hop.server} <= watching:
            knows[hop.server] |= knows[at]
        at, hops = hop.server, hops + 1
        assert hops <= 30, "a loop"


@pytest.mark.parametrize("version", list(ServerVersion))
def test_a_version_that_ignores_links_at_a_ring_ends_reports(version: ServerVersion) -> None:
    """RT-2, ML-7: C avoids LON-NYC and sends by way of A; if A ignored that, it would send the mail back to C."""
    ring = "{name: SEA-NYC, between: [SEA, NYC], cost: 50}, {name: LON-NYC, between: [LON, NYC], cost: 20}"
    text = (
        "organization: O\nsites: [SEA, NYC, LON]\n"
        f"connectors: [{ring}, {{name: LON-SEA, between: [LON, SEA], cost: 10}}]\n"
        f'servers: {{A: {{site: SEA, version: "{version}"}}, B: {{site: NYC}}, C: {{site: LON}}}}\n'
    )
    ignores = PROFILES[version].link_rule is LinkRule.IGNORED
    assert Routing(topology_from_text(text)).tells_links is not ignores
    assert ignores is (version in IGNORE_LINKS)
    tree = topology_from_text(text.replace(", {name: LON-SEA, between: [LON, SEA], cost: 10}", ""))
    assert Routing(tree).tells_links


def test_reports_reach_every_server_of_the_organization() -> None:
    """RT-2: every server passes reports on, so in the end all have them, and no calls remain."""
    with ExitStack() as stack:
        servers = {name: Server(name, stack.enter_context(database())) for name in RING.servers}
        servers["B"].submit("A")
        servers["B"].fail(2)
        servers["B"].attempt(NOBODY)
        for _ in range(20):
            for server in servers.values():
                for call in server.ready():
                    server.mta.concluded(server.stimulus(), call.queue_id, DONE)
                    other = servers[call.next_hop]
                    other.mta.receive_link_reports(other.stimulus(), server.name, reports_of(call.links))
        assert all(server.mta.routing.down == {"SEA-NYC"} for server in servers.values())
        # B looks after its link; the others have nothing left to do.
        assert [name for name, server in servers.items() if server.mta.next_due(server.conn)] == ["B"]
