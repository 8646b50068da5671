"""A cycle and a response of any size are divided into stimuli of limited length, at one instant."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pflab.faults.fault import Lose
from pflab.simulation.simulator import Simulator
from tests.support.lab_actions import events_of, post, subjects
from tests.support.post_office import PostOffice
from tests.support.topologies import THREE_STORES, TWO_STORES
from topology.file.load import topology_from_text
from traces.events import MailSubmitted, RequestAnswered, VersionApplied
from traces.labtime import DAY_US, LabTime
from transport import stimulus

POSTS = 6
BODY = "x" * 200_000
"""One post is a mail, because two exceed the size limit of a mail."""


@dataclass(frozen=True, slots=True)
class Course:
    """What one run showed."""

    converged_at: LabTime
    claims: list[str]
    answers: list[tuple[str, int]]
    applied: list[tuple[LabTime, str]]


async def course(*, lost: bool) -> Course:
    """A makes posts, and edits the second.

    lost: B gets nothing of the cycle, and must request it.
    """
    lab = Simulator(topology_from_text(TWO_STORES))
    async with lab:
        first = [await post(lab, "A", f"post {number}", BODY) for number in range(POSTS)]
        await lab.do("A", lambda node, now: node.edit(now, "Projects", first[1], subject="edited"))
        if lost:
            lab.faults.inject(Lose(from_="A", to="B", type="content"))
        assert await lab.until(lambda: len(subjects(lab, "B")) == POSTS, lab.now + 3 * DAY_US)
        mails = [each for each in events_of(lab, MailSubmitted, "A") if any(part.updates for part in each.folders)]
        return Course(
            lab.now,
            sorted(each.folders[0].cnset for each in mails),
            [(each.cnset, each.mails) for each in events_of(lab, RequestAnswered, "A")],
            sorted((each.at, each.number) for each in events_of(lab, VersionApplied, "B")),
        )


@pytest.mark.parametrize("lost", [False, True], ids=["cycle", "response"])
async def test_a_divided_course_is_the_same(lost: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one mail for each stimulus, the mails claim the same, one event ends the answer, and all arrives at the same
    instants."""
    # spec: OUT-1, CN-6, CN-7, BF-5, TM-1
    whole = await course(lost=lost)
    monkeypatch.setattr(stimulus, "STIMULUS_BYTES", 1)
    assert await course(lost=lost) == whole
    assert len(whole.claims) == POSTS * (2 if lost else 1)
    assert len(whole.answers) == (1 if lost else 0)


def test_a_kill_between_two_stimuli_of_a_cycle_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stimulus commits its mails with the rest still due, so a store that starts again goes on."""
    # spec: OUT-9
    monkeypatch.setattr(stimulus, "STIMULUS_BYTES", 1)
    office = PostOffice(THREE_STORES)
    for number in range(POSTS):
        office["A"].post(office.at(1), "Projects", subject=f"post {number}", body=BODY)
    assert office["A"].tick(office.at(15))
    assert office["A"].state("Projects").rows[0].numbers == "A-1"
    assert office["A"].next_due() == office.at(15)
    office["A"].abandon()
    office["A"].reopen(office.at(15))
    office.run(office.at(15))
    assert [each.subject for each in office["B"].messages("Projects")] == [f"post {number}" for number in range(POSTS)]


def test_a_cycle_without_other_holders_is_divided_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the changes count as broadcast without a mail, however many stimuli that takes."""
    # spec: RP-2
    monkeypatch.setattr(stimulus, "STIMULUS_BYTES", 1)
    office = PostOffice("servers: {A: , B: }\nfolders: {Projects: {replicas: [A]}}\n")
    for number in range(POSTS):
        office["A"].post(office.at(1), "Projects", subject=f"post {number}", body=BODY)
    ticks = 0
    while office["A"].tick(office.at(15)):
        ticks += 1
    assert ticks == POSTS
    assert office["A"].state("Projects").rows[0].numbers == f"A-1..{POSTS}"
