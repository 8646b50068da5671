"""Stimuli that share a transaction: each has its own outcome, a failing one undoes only itself, a crash keeps all or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from node.errors import Crashed, FolderUnknown, OverLimit
from tests.support.post_office import PostOffice
from tests.support.topologies import THREE_STORES_AND_CONTACT
from traces.events import PostRefused

AT_ONCE = THREE_STORES_AND_CONTACT + "settings: {Replication Always Interval: 0}\n"
"""A change is sent at once."""


def posts(office: PostOffice, *folders: str, body: str = "") -> list[Callable[[], str]]:
    """Return a stimulus for each folder, which posts s0, s1 and so on there."""

    def post(folder: str, subject: str) -> Callable[[], str]:
        return lambda: office["A"].post(office.at(1), folder, subject=subject, body=body)

    return [post(folder, f"s{index}") for index, folder in enumerate(folders)]


def subjects(office: PostOffice, name: str) -> list[str]:
    return sorted(message.subject for message in office[name].messages("Projects"))


def committed(office: PostOffice) -> list[int]:
    return [event.seq for event in office.events if event.node == "A"]


def test_each_has_its_own_outcome() -> None:
    """A stimulus that fails raises its own error and changes nothing; the others have their results and follow one another in
    numbers and events, as if each had been alone (CN-2, OUT-9)."""
    office = PostOffice(AT_ONCE)
    outcomes = office["A"].together(
        office.at(1), posts(office, "Projects", "Nowhere", "Projects", "Nowhere", "Projects")
    )
    assert [type(outcome.error) for outcome in outcomes] == [
        type(None),
        FolderUnknown,
        type(None),
        FolderUnknown,
        type(None),
    ]
    assert subjects(office, "A") == ["s0", "s2", "s4"]
    assert sorted(message.number for message in office["A"].messages("Projects")) == ["A-1", "A-2", "A-3"]
    assert committed(office) == list(range(1, office["A"].seq + 1))


def test_a_wrong_one_among_eight_costs_the_others_one_more_run() -> None:
    """If one of eight stimuli fails, each of the others runs twice at most, and they still share a mail: so a client that sends
    only wrong requests slows the others a little."""
    office = PostOffice(AT_ONCE)
    runs: Counter[int] = Counter()

    def counted(place: int, act: Callable[[], str]) -> Callable[[], str]:
        def run() -> str:
            runs[place] += 1
            return act()

        return run

    acts = posts(office, *["Projects"] * 3, "Nowhere", *["Projects"] * 4)
    outcomes = office["A"].together(office.at(1), [counted(place, act) for place, act in enumerate(acts)])
    assert sum(outcome.error is None for outcome in outcomes) == 7
    assert max(runs.values()) == 2
    assert len({mail.message_id for _, mail in office.take("A", office.at(1))}) == 1


def test_all_may_fail() -> None:
    """If every stimulus fails, each gets its own error, and the store has not changed."""
    office = PostOffice(AT_ONCE)
    before = office["A"].seq
    outcomes = office["A"].together(office.at(1), posts(office, *["Nowhere"] * 6))
    assert [type(outcome.error) for outcome in outcomes] == [FolderUnknown] * 6
    assert office["A"].seq == before


def test_a_refusal_is_recorded_once() -> None:
    """A post above the limit is refused, and its event is recorded once although the stimulus ran twice."""
    office = PostOffice(AT_ONCE)
    office["A"].change_folder(office.at(1), "Projects", item_limit="1 KB")
    acts = [*posts(office, "Projects"), *posts(office, "Projects", body="x" * 3000)]
    outcomes = office["A"].together(office.at(1), acts)
    assert [type(outcome.error) for outcome in outcomes] == [type(None), OverLimit]
    assert sum(isinstance(event, PostRefused) for event in office.events) == 1


def test_changes_of_a_folder_share_a_mail() -> None:
    """Changes that share a transaction are sent in one broadcast, which names each once (CN-6, OUT-5)."""
    office = PostOffice(AT_ONCE)
    office["A"].together(office.at(1), posts(office, "Projects", "Projects", "Projects"))
    mails = office.take("A", office.at(1))
    assert len({mail.message_id for _, mail in mails}) == 1
    for mail in mails:
        office.deliver(mail, office.at(1))
    assert subjects(office, "B") == subjects(office, "C") == ["s0", "s1", "s2"]


def test_repeated_requests_share_too() -> None:
    """Two requests with one idempotency key in one transaction are one change."""
    office = PostOffice(AT_ONCE)
    node = office["A"]

    def once(key: str) -> Callable[[], bytes]:
        return lambda: node.once(
            office.at(1), key, b"request", lambda at: node.post(at, "Projects", subject=key).number.encode()
        )

    outcomes = node.together(office.at(1), [once("k"), once("k"), once("other")])
    assert outcomes[0].result == outcomes[1].result != outcomes[2].result
    assert subjects(office, "A") == ["k", "other"]


@pytest.mark.parametrize(("point", "kept"), [("before commit", []), ("after commit", ["s0", "s1"])])
def test_a_crash_keeps_all_or_none(point: str, kept: list[str], tmp_path: Path) -> None:
    """A store that dies at the commit has all changes that shared it, or none (IN-2)."""
    office = PostOffice(AT_ONCE, tmp_path)
    office["A"].crash_at = point
    with pytest.raises(Crashed):
        office["A"].together(office.at(1), posts(office, "Projects", "Projects"))
    office["A"].abandon()
    office["A"].reopen(office.at(2))
    assert subjects(office, "A") == kept
