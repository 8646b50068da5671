"""The final state does not depend on the order in which mails arrive, or on repeats (spec: CN-4, CF-1, DL-2, HI-5, IN-3)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from node.errors import NodeError
from node.store.node import Node
from tests.support.post_office import PostOffice
from traces.labtime import LabTime
from transport.envelope import Transmission

FIVE = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {}, C: {}, D: {}, E: {}}
folders:
  P: {replicas: [A, B, C, D, E]}
  P/Q: {replicas: [A, B, C, D, E]}
"""

WRITERS = "ABC"


def _path(node: Node, pick: int) -> str:
    return node.folders()[pick].path


ACTS: dict[str, Callable[[Node, LabTime, int, str], object]] = {
    "post": lambda node, now, pick, text: node.post(now, "P", subject=text),
    "edit": lambda node, now, pick, text: node.edit(now, "P", node.messages("P")[pick].id, subject=text),
    "delete": lambda node, now, pick, text: node.delete(now, "P", node.messages("P")[pick].id),
    "create": lambda node, now, pick, text: node.create_folder(now, f"P/New{pick % 2}", replicas=list("ABCDE")),
    "rename": lambda node, now, pick, text: node.change_folder(now, _path(node, pick), rename=text),
    "move": lambda node, now, pick, text: node.change_folder(now, _path(node, pick), move_to=_path(node, -1)),
    "drop": lambda node, now, pick, text: node.delete_folder(now, _path(node, pick)),
    "exchange": lambda node, now, pick, text: None,
}

acts = st.lists(
    st.tuples(
        st.sampled_from(WRITERS),
        st.sampled_from(["post", "edit", "edit", "delete", "rename", "move", "create", "drop", "exchange"]),
        st.integers(0, 7),
    ),
    min_size=3,
    max_size=14,
)


def play(office: PostOffice, steps: list[tuple[str, str, int]]) -> list[tuple[str, Transmission]]:
    """Run the actions on A, B and C, which exchange mail only at an `exchange`. Return every mail that was sent."""
    sent: list[tuple[str, Transmission]] = []
    now = 0
    for name, act, pick in steps:
        now += 15
        with suppress(NodeError, IndexError):  # refused, or nothing there to act on
            ACTS[act](office[name], office.at(now - 5), pick, f"{act} {now}")
        for writer in WRITERS:
            mails = office.cycle(writer, office.at(now))
            sent.extend(mails)
            for mail in mails:
                if act == "exchange" and mail[1].next_hop in WRITERS:
                    office.deliver(mail, office.at(now))
    return sent


@settings(max_examples=60)
@given(acts, st.randoms(use_true_random=False))
def test_shuffled_and_doubled_mails_end_in_the_same_state(steps: list[tuple[str, str, int]], shuffle: object) -> None:
    """A store that gets the mails in order and one that gets them shuffled and twice have the same knowledge and content."""
    office = PostOffice(FIVE)
    sent = play(office, steps)
    late = office.at(10_000)
    for mail in sent:
        if mail[1].next_hop == "D":
            office.deliver(mail, late)
    mixed = [mail for mail in sent if mail[1].next_hop == "E"] * 2
    shuffle.shuffle(mixed)  # type: ignore[attr-defined]
    for mail in mixed:
        office.deliver(mail, late)
    assert_alike(office, "D", "E")


def assert_alike(office: PostOffice, one: str, other: str) -> None:
    here, there = office[one], office[other]
    assert [view.path for view in here.folders()] == [view.path for view in there.folders()]
    for path in ["1-1", *(view.path for view in here.folders() if not view.hidden)]:
        known, also = here.knowledge(path), there.knowledge(path)
        assert (known.versions, known.shown, known.tombstones) == (also.versions, also.shown, also.tombstones), path
        assert known.numbers == also.numbers, path
