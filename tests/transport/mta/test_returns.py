"""Mail that does not get through: tried again, expired, refused, returned."""

import pytest

from tests.support.clock import START_AT
from tests.support.mta_server import Server, fail_until_empty, make_server, to
from topology.enums import ServerVersion
from topology.settings.values import RawSetting, Settings
from traces.events import HopExpired, HopFailed, HopSent
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, SECOND_US
from transport import stimulus
from transport.envelope import IncomingHop, Priority, RecipientRefusal, SendOutcome, SendState
from transport.mta.retry_policy import EXPIRY_US, RETRY_US, MtaPolicy, PriorityPolicy
from transport.sql import Connection


def test_a_failed_mail_is_tried_again_after_the_interval(a: Server) -> None:
    """RT-2: the retry is a due time, and the event of the failure has it."""
    a.submit(*to("B"))
    (t,) = a.ready()
    a.mta.concluded(a.stimulus(), t.queue_id, SendOutcome(SendState.DEFERRED, "450 later"))
    (event,) = a.trace.events
    assert isinstance(event, HopFailed)
    assert (event.next_hop, event.reason, event.retry_at) == ("B", "450 later", START_AT + RETRY_US)
    assert a.ready() == [] and a.next_due() == START_AT + RETRY_US
    a.at += RETRY_US
    (again,) = a.ready()
    assert (again.queue_id, again.attempts) == (t.queue_id, 1)
    assert a.mta.queued(a.conn)[0].last_error == "450 later"


def test_an_expired_mail_is_returned(a: Server) -> None:
    """RT-2, ML-7: after two days the sender gets a notice, and the trace has an event."""
    a.submit(*to("B", "C2"))
    attempts, local = fail_until_empty(a)
    # One at once, one after each interval; the last retry of the mail over the link comes at the expiry, too.
    assert attempts == 2 * (EXPIRY_US // RETRY_US + 1)
    assert a.at == START_AT + EXPIRY_US
    assert [(delivery.recipients, delivery.sender) for delivery in local] == [(to("A"), "")] * 2
    assert b"nobody there" in local[0].content and b"4.4.7" in local[0].content
    event = a.trace.events[-1]
    assert isinstance(event, HopExpired) and event.reason.startswith("4.4.7 not delivered before it expired")


def test_many_expiries_are_divided(a: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """RT-2: mails without a route that expire at one instant are returned in several stimuli; the rest stays due."""
    monkeypatch.setattr(stimulus, "STIMULUS_BYTES", 1)
    a.route("slow")
    for _ in range(3):
        a.submit(*to("E"))
    a.at = START_AT + EXPIRY_US
    for left in (2, 1, 0):
        work = a.stimulus()
        assert len(a.mta.tick(work)) == 1
        assert work.enough
        assert a.count("mta_queue") == left
        assert (a.next_due() == a.at) == bool(left)
    assert a.mta.tick(a.stimulus()) == []


def test_retry_and_expiry_depend_on_the_priority(conn: Connection) -> None:
    """RT-2: retry interval and expiry are settings for each priority."""
    policy = MtaPolicy(urgent=PriorityPolicy(MINUTE_US, HOUR_US), not_urgent=PriorityPolicy(HOUR_US, DAY_US))
    for priority, attempts in ((Priority.URGENT, 61), (Priority.NOT_URGENT, 25)):
        server = make_server(conn, policy=policy)
        server.submit(*to("B"), priority=priority)
        assert fail_until_empty(server)[0] == attempts


def test_the_number_of_retries_can_be_limited(conn: Connection) -> None:
    """RT-2: after that many retries a mail is returned, even if it has not expired."""
    server = make_server(conn, policy=MtaPolicy(max_retries=3))
    server.submit(*to("B"))
    attempts, (notice,) = fail_until_empty(server)
    assert attempts == 4 and b"not delivered in 3 retries" in notice.content


def test_the_policy_comes_from_the_settings() -> None:
    """SE-1: the policy has the values of the settings, and both have the same defaults."""
    assert MtaPolicy.of_settings(Settings.read(ServerVersion.V2003)) == MtaPolicy()
    own: dict[str, RawSetting] = {
        "MTA Retry Interval Urgent": "1 min",
        "MTA Expiry Not Urgent": "1 h",
        "MTA Hop Limit": 5,
        "MTA Maximum Retries": 2,
    }
    policy = MtaPolicy.of_settings(Settings.read(ServerVersion.V2003, own))
    assert policy == MtaPolicy(
        urgent=PriorityPolicy(retry_us=MINUTE_US),
        not_urgent=PriorityPolicy(expiry_us=HOUR_US),
        hop_limit=5,
        max_retries=2,
    )
    with pytest.raises(ValueError, match="greater than zero"):
        PriorityPolicy(retry_us=0)


def test_a_refused_mail_is_returned_at_once(a: Server) -> None:
    """RT-2: after 5xx a mail is not tried again."""
    a.submit(*to("B"))
    outcome = SendOutcome(SendState.REFUSED, "554 5.4.6 a mail loop")
    (notice,) = a.mta.concluded(a.stimulus(), a.ready()[0].queue_id, outcome)
    assert b"Status: 5.4.6" in notice.content and a.count("mta_content") == 0
    failed, expired = a.trace.events
    assert isinstance(failed, HopFailed) and failed.retry_at is None
    assert isinstance(expired, HopExpired) and expired.recipients == to("B")


def test_no_notice_answers_a_notice(a: Server) -> None:
    """ML-7: a mail from the null sender that fails only leaves an event in the trace."""
    a.submit(*to("B"), sender="")
    assert a.refused(a.ready()[0].queue_id, "550 no") == []
    assert isinstance(a.trace.events[-1], HopExpired)
    assert (a.count("mta_queue"), a.count("mta_content")) == (0, 0)


def test_a_notice_travels_to_a_sender_elsewhere(conn: Connection) -> None:
    """ML-7: a server that gives up on another server's mail queues the notice, from the null sender."""
    c = make_server(conn, "C")
    hop = IncomingHop("A", None, 0)
    c.accept(hop, to("D"), b"Subject: a\r\n\r\n")
    assert c.refused(c.ready()[0].queue_id, "550 5.1.1 no") == []
    c.at += SECOND_US
    (notice,) = c.ready()
    assert (notice.sender, notice.recipients, notice.next_hop) == ("", to("A"), "A")
    assert notice.subject == "Undeliverable: a"


def test_a_mail_to_nobody_comes_back_at_once(a: Server) -> None:
    """ML-7: for an unknown address the sender gets a notice; the other recipients get the mail."""
    (notice,) = a.submit("x@contoso.test", *to("B"))
    assert notice.recipients == to("A") and b"5.1.1 no such address" in notice.content
    assert [t.recipients for t in a.ready()] == [to("B")]
    assert a.submit("x@contoso.test", sender="y@elsewhere.test") == []


def test_each_recipient_of_a_copy_has_its_own_result(a: Server) -> None:
    """Of one copy, some recipients may get the mail, some be returned and some be tried again."""
    a.submit(*to("C", "C2", "D"))
    a.at += SECOND_US
    refusals = (RecipientRefusal(to("C2")[0], "550 no", True), RecipientRefusal(to("D")[0], "450 full", False))
    outcome = SendOutcome(SendState.DELIVERED, "250 ok", refusals)
    (notice,) = a.mta.concluded(a.stimulus(), a.ready()[0].queue_id, outcome)
    sent, failed, expired = a.trace.events
    assert isinstance(sent, HopSent) and sent.recipients == to("C")
    assert isinstance(failed, HopFailed) and failed.retry_at == a.at + RETRY_US
    assert isinstance(expired, HopExpired) and expired.recipients == to("C2")
    assert b"550 no" in notice.content and b"450 full" not in notice.content
    assert [(q.recipients, q.attempts) for q in a.mta.queued(a.conn)] == [(to("D"), 1)]


def test_a_copy_that_every_recipient_refused(a: Server) -> None:
    """Recipients that were refused for good are returned; the others are tried again."""
    a.submit(*to("C", "D"))
    a.at += SECOND_US
    refusals = (RecipientRefusal(to("C")[0], "550 no", True), RecipientRefusal(to("D")[0], "450 full", False))
    outcome = SendOutcome(SendState.DEFERRED, "550 no; 450 full", refusals)
    (notice,) = a.mta.concluded(a.stimulus(), a.ready()[0].queue_id, outcome)
    assert [type(event) for event in a.trace.events] == [HopFailed, HopExpired]
    assert notice.recipients == to("A")
    assert [q.recipients for q in a.mta.queued(a.conn)] == [to("D")]


def test_a_notice_to_another_organization_comes_from_this_one(a: Server) -> None:
    """ML-7: a sender elsewhere gets the notice from the organization's postmaster, not from one of its own domain."""
    a.known["kim@elsewhere.test"] = "A"
    (notice,) = a.submit("x@contoso.test", sender="kim@elsewhere.test")
    assert notice.recipients == ("kim@elsewhere.test",)
    assert b"<postmaster@contoso.test>" in notice.content and b"@elsewhere.test>\r\nSubject" in notice.content
