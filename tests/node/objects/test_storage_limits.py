"""Storage limits of folders: what a replica refuses, what passes, and when contacts are warned (AD-2)."""

from __future__ import annotations

import re
from typing import TypeVar

import pytest

from node.errors import Misuse, OverLimit
from node.views import Post
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice
from traces.events import MailboxDelivered, MailNotPosted, PostRefused
from traces.events.header import Event
from transport.envelope import IncomingHop
from transport.mime.headers import incoming_mail

E = TypeVar("E", bound=Event)

DAY = 24 * HOUR_MIN
TEXT = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {}, C: {version: "5.5"}}
folders:
  Projects: {replicas: [A, B, C], contacts: [kim@contoso.test], LIMITS}
  Projects/Plans: {replicas: [A, B]}
"""
BODY = "x" * 8192  # about 8 KB in an item


def lab(limits: str) -> PostOffice:
    return PostOffice(TEXT.replace("LIMITS", limits))


def of_type(office: PostOffice, kind: type[E]) -> list[E]:
    return [each for each in office.events if isinstance(each, kind)]


def test_a_folder_that_has_reached_its_post_limit_refuses_posts() -> None:
    """A post is refused, with an event and without a change, when the messages on this store have reached the limit."""
    office = lab("post_limit: 10 KB")
    for _ in range(2):
        office["A"].post(office.at(1), "Projects", subject="fits", body=BODY)
    with pytest.raises(
        OverLimit, match=r"Projects has 1\d,\d{3} bytes on A; a folder of 10 KB or more accepts no posts"
    ):
        office["A"].post(office.at(1), "Projects", subject="refused")
    (event,) = of_type(office, PostRefused)
    assert (event.node, event.folder) == ("A", office["A"].folders()[0].id)
    assert "a folder of 10 KB or more accepts no posts" in event.reason
    office["A"].delete(office.at(2), "Projects", office["A"].messages("Projects")[0].id)
    office["A"].post(office.at(2), "Projects", subject="fits again")


def test_a_batch_is_refused_as_a_whole() -> None:
    """A batch whose last message would be posted into a full folder posts nothing."""
    office = lab("post_limit: 10 KB")
    with pytest.raises(OverLimit):
        office["A"].post_batch(office.at(1), "Projects", [Post("each", BODY, "", ())] * 3)
    assert office["A"].messages("Projects") == []
    office["A"].post_batch(office.at(1), "Projects", [Post("each", BODY, "", ())] * 2)


def test_a_repeated_request_is_refused_with_an_event() -> None:
    """A post with an idempotency key is refused like any other: the refusal is recorded although nothing else is."""
    office = lab("item_limit: 1 KB")
    with pytest.raises(OverLimit):
        office["A"].once(
            office.at(1),
            "key",
            b"",
            lambda now: office["A"].post(now, "Projects", subject="large", body=BODY).id.encode(),
        )
    assert len(of_type(office, PostRefused)) == 1


def test_a_message_above_the_item_limit_is_refused() -> None:
    """The item limit holds for posts and for edits; a message of just this size passes."""
    office = lab("item_limit: 8 KB")
    message = office["A"].post(office.at(1), "Projects", subject="small").id
    with pytest.raises(OverLimit, match="accepts messages of at most 8 KB"):
        office["A"].post(office.at(1), "Projects", subject="large", body=BODY)
    with pytest.raises(OverLimit):
        office["A"].edit(office.at(1), "Projects", message, body=BODY)
    assert [each.subject for each in office["A"].messages("Projects")] == ["small"]
    assert len(of_type(office, PostRefused)) == 2


def test_a_mail_has_the_size_of_its_item() -> None:
    """The item limit holds for the item of a mail: its text, and the mail itself. A refusal uses up no change number."""
    mail = b"Subject: report\r\nFrom: kim@fabrikam.test\r\n\r\n" + b"x" * 5000 + b"\r\n"
    office = lab("item_limit: 16 KB")
    (version,) = office["A"].versions(office["A"].post_mail(office.at(1), "Projects", mail).id)
    assert 15 * 1024 < version.size <= 16 * 1024
    office["A"].change_folder(office.at(2), "Projects", item_limit="15 KB")
    received = incoming_mail("kim@fabrikam.test", ["Projects@contoso.test"], mail)
    office["A"].mail_in(office.at(3), IncomingHop("mail.fabrikam.test", None, 0), received)
    (event,) = of_type(office, MailNotPosted)
    # Its header got the line Received.
    assert re.search(r"the message has 15,\d{3} bytes, and Projects accepts messages of at most 15 KB", event.reason)
    office["A"].change_folder(office.at(4), "Projects", item_limit="16 KB")
    (next_one,) = office["A"].versions(office["A"].post_mail(office.at(5), "Projects", mail).id)
    assert (version.number, next_one.number) == ("A-1", "A-4")


def test_limits_replicate_and_replication_passes_them() -> None:
    """A limit set on one store holds on all; 5.5 knows only the warning; replicated versions are never refused."""
    office = lab("item_limit: 1 GB")
    office["B"].change_folder(office.at(1), "Projects", item_limit="4 KB", post_limit="6 KB", warning_limit="none")
    office.run(office.at(16))
    view = office["A"].folders()[0]
    assert (view.warning_limit, view.post_limit, view.item_limit) == (None, "6 KB", "4 KB")
    with pytest.raises(OverLimit):
        office["A"].post(office.at(17), "Projects", subject="large", body=BODY)
    office["C"].post(office.at(17), "Projects", subject="large", body=BODY)
    office.run(office.at(31))
    assert [each.subject for each in office["A"].messages("Projects")] == ["large"]
    with pytest.raises(OverLimit, match="no posts"):
        office["A"].post(office.at(32), "Projects", subject="small")


def test_what_was_accepted_before_can_be_resolved() -> None:
    """A conflict whose versions are larger than a limit set later can be resolved."""
    office = lab("item_limit: 1 GB")
    message = office["A"].post(office.at(1), "Projects", subject="one", body=BODY).id
    office.run(office.at(16))
    for name in "AB":
        office[name].edit(office.at(17), "Projects", message, subject=name)
    office.run(office.at(31))
    office["A"].change_folder(office.at(32), "Projects", item_limit="1 KB", post_limit="1 KB")
    assert len(office["A"].resolve(office.at(33), "Projects", message, "all").changes) == 2


def test_contacts_are_warned_each_midnight() -> None:
    """The home store warns the contacts at each midnight while the folder has reached its warning limit."""
    office = lab("warning_limit: 10 KB, post_limit: 1 MB")
    office.run(office.at(DAY + 1))
    assert of_type(office, MailboxDelivered) == []
    messages = [office["B"].post(office.at(DAY + 2), "Projects", subject="one", body=BODY).id for _ in range(2)]
    for minutes in (DAY + 16, 2 * DAY, 3 * DAY):
        office.run(office.at(minutes))
    warned = of_type(office, MailboxDelivered)
    assert [(each.node, each.recipient) for each in warned] == [("A", "kim@contoso.test")] * 2
    (mail, _) = office["A"].mailbox()
    assert mail.subject == "Projects has reached its storage limit"
    assert "A warning is sent from 10 KB on" in mail.body
    assert "It accepts no posts when it has 1 MB or more" in mail.body
    office["A"].delete(office.at(3 * DAY + 2), "Projects", messages[0])
    office.run(office.at(4 * DAY))
    assert len(of_type(office, MailboxDelivered)) == 2


def test_limits_are_propagated() -> None:
    """Subfolders get the limits of a folder."""
    office = lab("warning_limit: 1 MB, post_limit: 2 MB, item_limit: 300 KB")
    office["A"].propagate(office.at(1), "Projects", ["warning_limit", "post_limit", "item_limit"])
    (plans,) = [each for each in office["A"].folders() if each.path == "Projects/Plans"]
    assert (plans.warning_limit, plans.post_limit, plans.item_limit) == ("1 MB", "2 MB", "300 KB")


@pytest.mark.parametrize("wrong", ["10", "100 B", "0 KB", "9000 GB", "much"])
def test_a_wrong_limit_is_refused(wrong: str) -> None:
    """A limit is a whole number of KB that Exchange can keep, or none."""
    office = lab("item_limit: 1 KB")
    with pytest.raises(Misuse, match="write"):
        office["A"].change_folder(office.at(1), "Projects", post_limit=wrong)
