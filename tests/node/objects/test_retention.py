"""Deleted-item retention: what a store keeps, how it is recovered, and for how long (DL-5)."""

from __future__ import annotations

import pytest

from node.errors import FolderExists, FolderUnknown, MessageUnknown
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice
from traces.events import ItemRecovered
from traces.labtime import DAY_US

DAY = 24 * HOUR_MIN
TEXT = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {settings: {Deleted Item Retention: 3 d}}}
folders:
  Projects: {replicas: [A, B], contacts: [kim@test.test]}
  Projects/Plans: {replicas: [A, B]}
"""


def lab() -> tuple[PostOffice, str]:
    """A message with an attachment on both stores."""
    office = PostOffice(TEXT)
    message = (
        office["A"]
        .post(
            office.at(1),
            "Projects",
            subject="one",
            body="text",
            sender="kim@test.test",
            attachments=[("a.bin", b"1234")],
        )
        .id
    )
    office.run(office.at(16))
    return office, message


def subjects(office: PostOffice, folder: str = "Projects") -> list[list[str]]:
    return [sorted(each.subject for each in office[name].messages(folder)) for name in "AB"]


def test_nothing_is_retained_by_default() -> None:
    """The retention of a store is 0 days unless it is set."""
    office, message = lab()
    office["A"].delete(office.at(17), "Projects", message)
    assert office["A"].retained() == []
    with pytest.raises(MessageUnknown, match="its Deleted Item Retention is 0"):
        office["A"].recover(office.at(18), "Projects", message)


@pytest.mark.parametrize("author", ["A", "B"])
def test_a_recovered_message_is_a_new_change(author: str) -> None:
    """A store recovers a message that it or another store deleted: a new message with the same content on all stores."""
    office, message = lab()
    office[author].delete(office.at(17), "Projects", message)
    office.run(office.at(31))
    (kept,) = office["B"].retained()
    assert (kept.folder, kept.message, kept.subject) == ("Projects", message, "one")
    assert "A-1" in kept.numbers
    made = office["B"].recover(office.at(32), "Projects", message).id
    assert made != message
    assert office["B"].retained() == []
    office.run(office.at(46))
    assert subjects(office) == [["one"], ["one"]]
    assert office["A"].body("Projects", made) == "text"
    assert office["A"].attachments("Projects", made) == [("a.bin", b"1234")]
    (event,) = [each for each in office.events if isinstance(each, ItemRecovered)]
    assert (event.node, event.object, event.of, event.retention_us) == ("B", made, message, 3 * DAY_US)
    with pytest.raises(MessageUnknown, match="was recovered already"):
        office["B"].recover(office.at(47), "Projects", message)


def test_the_retention_ends() -> None:
    """After its retention a deleted message is gone, whether anybody looks or not."""
    office, message = lab()
    office["B"].delete(office.at(17), "Projects", message)
    office.run(office.at(17 + 3 * DAY - 1))
    assert len(office["B"].retained()) == 1
    office.run(office.at(17 + 3 * DAY))
    assert office["B"].retained() == []
    with pytest.raises(MessageUnknown, match="its retention has passed"):
        office["B"].recover(office.at(18 + 3 * DAY), "Projects", message)


def test_a_shorter_retention_applies_at_once() -> None:
    """The setting is a value of the directory: what is older than the new retention goes."""
    office, message = lab()
    office["B"].delete(office.at(17), "Projects", message)
    office.run(office.at(17 + DAY))
    office["B"].configure(office.at(18 + DAY), {"Deleted Item Retention": "1 d"})
    office.run(office.at(18 + DAY))
    assert office["B"].retained() == []


def test_the_version_that_was_shown_is_retained() -> None:
    """Of a message in conflict a store retains the winner."""
    office, message = lab()
    office["A"].edit(office.at(17), "Projects", message, subject="from A")
    office["B"].edit(office.at(18), "Projects", message, subject="from B")
    office.run(office.at(31))
    office["B"].delete(office.at(32), "Projects", message)
    office["B"].recover(office.at(33), "Projects", message)
    assert subjects(office)[1] == ["from B"]


def test_a_folder_comes_back_with_its_subfolders_and_messages() -> None:
    """A recovered folder has its properties, its subfolders and its messages, on all stores of its replica list."""
    office, _ = lab()
    office["A"].post(office.at(17), "Projects/Plans", subject="two")
    early = office["B"].post(office.at(17), "Projects", subject="deleted before").id
    office["B"].delete(office.at(18), "Projects", early)
    office.run(office.at(31))
    office["A"].delete_folder(office.at(32), "Projects")
    office.run(office.at(46))
    assert [each.path for each in office["B"].folders() if not each.hidden] == []
    made = office["B"].recover_folder(office.at(47), "Projects").id
    office.run(office.at(47 + 2 * DAY))
    for name in "AB":
        views = {each.path: each for each in office[name].folders() if not each.hidden}
        assert sorted(views) == ["Projects", "Projects/Plans"]
        assert (views["Projects"].id, views["Projects"].contacts) == (made, ("kim@test.test",))
    assert subjects(office) == [["one"], ["one"]]
    assert subjects(office, "Projects/Plans") == [["two"], ["two"]]
    office["B"].recover(office.at(48 + 2 * DAY), "Projects", early)
    assert subjects(office)[1] == ["deleted before", "one"]


def test_a_folder_that_cannot_come_back() -> None:
    """A folder is recovered only where it was retained, under a living parent, and beside no folder of its name."""
    office, _ = lab()
    office["A"].delete_folder(office.at(17), "Projects")
    office.run(office.at(31))
    with pytest.raises(FolderUnknown, match="A retains no deleted folder 'Projects'"):
        office["A"].recover_folder(office.at(32), "Projects")
    with pytest.raises(FolderUnknown, match="the folder above Projects/Plans is deleted; recover that folder first"):
        office["B"].recover_folder(office.at(32), "Projects/Plans")
    office["B"].create_folder(office.at(32), "Projects")
    with pytest.raises(FolderExists, match="rename it before Projects is recovered"):
        office["B"].recover_folder(office.at(33), "Projects")
    office["B"].recover_folder(office.at(33), "Projects/Plans")
    assert "Projects/Plans" in [each.path for each in office["B"].folders() if not each.hidden]
