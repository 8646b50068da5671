"""Messages of one instant are in the order of their numbers, wherever they are listed (spec: CN-1)."""

from __future__ import annotations

import pytest

from node.errors import Misuse
from node.views import Post, in_order_of_change
from pflab.workload.mail_transfer import export_mbox
from pflab.workload.mbox import split_mbox
from tests.support.post_office import PostOffice

STORES = """
servers: {S2: , S10: , B: , A: }
folders: {Projects: }
"""
COUNTS = {"A": 12, "B": 11, "S2": 10, "S10": 10}
"""How many messages each server posts, in the order of the servers' names: S2 before S10."""

NUMBERS = [f"{store}-{number}" for store, count in COUNTS.items() for number in range(1, count + 1)]


def office() -> PostOffice:
    """Return stores that all have the messages of all, which were made at one instant."""
    office = PostOffice(STORES)
    for store in reversed(COUNTS):
        posts = [Post(f"{store}-{number}", "", "", ()) for number in range(1, COUNTS[store] + 1)]
        office[store].post_batch(office.at(1), "Projects", posts)
    mails = [mail for store in COUNTS for mail in office.cycle(store, office.at(15))]
    for mail in mails:
        office.deliver(mail, office.at(16))
    return office


@pytest.mark.parametrize("store", COUNTS)
def test_messages_of_one_instant_are_in_the_order_of_their_numbers(store: str) -> None:
    """By id, by change, as an mbox and by IMAP: A-9 comes before A-10, and S2-1 before S10-1, on every store."""
    node = office()[store]
    messages = node.messages("Projects")
    assert [each.number for each in messages] == NUMBERS
    assert [each.number for each in in_order_of_change(messages)] == NUMBERS
    mails = split_mbox(b"".join(export_mbox(node, "Projects")))
    assert [mail.partition(b"Subject: ")[2].partition(b"\r\n")[0].decode() for mail in mails] == NUMBERS
    node.number_messages(office().at(17), "Projects", 1)
    numbers = {each.id: each.number for each in messages}
    assert [numbers[each.id] for each in node.numbered("Projects", "kim").messages] == NUMBERS


def test_a_list_continues_after_a_message_that_was_deleted() -> None:
    """The messages after an id are those that came after it when it was listed, also if it is gone."""
    stores = office()
    node = stores["B"]
    last = node.messages("Projects")[9]
    node.delete(stores.at(20), "Projects", last.id)
    node.edit(stores.at(20), "Projects", node.messages("Projects")[20].id, subject="edited")
    assert [each.number for each in node.messages("Projects", last.id)] == [*NUMBERS[10:21], "B-13", *NUMBERS[22:]]
    with pytest.raises(Misuse, match="not a message id"):
        node.messages("Projects", "A-9")


def test_versions_in_conflict_are_in_the_order_of_their_numbers() -> None:
    """The shown version comes first, and then the others; those of one instant in the order of their numbers."""
    stores = office()
    message = stores["A"].messages("Projects")[0].id
    for store in COUNTS:
        stores[store].edit(stores.at(20), "Projects", message, subject=f"of {store}")
    mails = [mail for store in COUNTS for mail in stores.cycle(store, stores.at(30))]
    for mail in mails:
        stores.deliver(mail, stores.at(31))
    for store in COUNTS:
        (view,) = [each for each in stores[store].messages("Projects") if each.id == message]
        edits = [f"{name}-{COUNTS[name] + 1}" for name in COUNTS]
        assert list(view.numbers) == [view.number, *(each for each in edits if each != view.number)]
        assert [each.number for each in stores[store].versions(message)] == list(view.numbers)
