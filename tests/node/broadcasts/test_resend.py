"""Send Hierarchy and Send Contents: recent changes go again to chosen stores (spec: AD-1)."""

from __future__ import annotations

import pytest

from node.errors import FolderUnknown, Misuse, NoReplicaHere
from node.views import SentAgain
from pflab.faults.fault import Lose
from pflab.simulation.simulator import Simulator
from tests.support.lab_actions import events_of, post, subjects
from tests.support.topologies import THREE_STORES
from topology.file.load import topology_from_text
from traces.events import EntryMade, MailSubmitted
from traces.labtime import DAY_US, HOUR_US, MINUTE_US
from transport import stimulus

NEVER = "servers: {A: , B: , C: }\nfolders: {Projects: {replicas: [A, B, C], schedule: never}}\n"
OLD = "servers: {A: {version: '2000'}, B: , C: }\nfolders: {Projects: {replicas: [A, B]}, Plans: {replicas: [B]}}\n"


def sent_again(lab: Simulator, store: str = "A") -> list[tuple[tuple[str, ...], str]]:
    """Return the recipients and the set of each mail that a store sent again."""
    mails = [each for each in events_of(lab, MailSubmitted, store) if "resent" in each.marks]
    return [(tuple(to.partition("-")[0] for to in each.recipients), each.folders[0].cnset) for each in mails]


async def test_recent_changes_go_to_the_chosen_store() -> None:
    """Only the changes of the last days go, only to the chosen store, and together with the holes before them (CN-6)."""
    async with Simulator(topology_from_text(THREE_STORES)) as lab:
        lab.faults.inject(Lose(to="B"))
        await post(lab, "A", "old")
        await lab.advance(lab.now + 2 * DAY_US + HOUR_US)
        await lab.do("A", lambda node, now: node.create_folder(now, "Other", replicas=["A"]))
        await post(lab, "A", "recent")
        await lab.advance(lab.now + 16 * MINUTE_US)
        lab.faults.heal()
        done = await lab.do("A", lambda node, now: node.send_again(now, "Projects", days=2, to=["B"]))
        assert done == SentAgain("Projects", ["B"], "A-2..3")
        await lab.settle()
        assert subjects(lab, "B") == ["recent"]
        (mail,) = sent_again(lab)
        assert mail[0] == ("B",) and mail[1].endswith(":2-3")
        (entry,) = events_of(lab, EntryMade, "B")[-1:]
        assert entry.cnset.endswith(":1")  # B learns of the older change from the row in the mail


@pytest.mark.parametrize("whole", [True, False])
async def test_unsent_changes_go_under_the_schedule_never(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the schedule never, the order sends unsent changes, which then count as broadcast (RST-1). The result does not
    depend on how many stimuli send the mails."""
    if not whole:
        monkeypatch.setattr(stimulus, "STIMULUS_BYTES", 1)
    async with Simulator(topology_from_text(NEVER)) as lab:
        for number in range(3):
            await post(lab, "A", f"post {number}", "x" * 200_000)
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "B") == subjects(lab, "C") == []
        await lab.do("A", lambda node, now: node.send_again(now, "Projects", days=1, to=["B"]))
        await lab.settle()
        assert len(subjects(lab, "B")) == 3
        assert [numbers.rpartition(":")[2] for _, numbers in sent_again(lab)] == ["1", "2", "3"]
        assert events_of(lab, EntryMade, "B") == []
        assert await lab.until(lambda: len(subjects(lab, "C")) == 3, lab.now + 3 * DAY_US)


async def test_each_mail_closes_the_holes_of_both_kinds() -> None:
    """The number of an associated message is a hole in the set of the posts, so a mail claims it although a later mail has
    the message (CN-6, CN-9). Simulated seed 2558970224 found that it did not."""
    async with Simulator(topology_from_text(NEVER)) as lab:
        await post(lab, "A", "first", "x" * 400_000)
        view = await lab.do("A", lambda node, now: node.post(now, "Projects", subject="view", associated=True).id)
        await post(lab, "A", "second", "x" * 400_000)
        await lab.do("A", lambda node, now: node.edit(now, "Projects", view, subject="view of both"))
        await lab.do("A", lambda node, now: node.send_again(now, "Projects", days=1, to=["B"]))
        parts = [each.folders[0] for each in events_of(lab, MailSubmitted, "A") if "resent" in each.marks]
        claims = [(part.cnset.rpartition(":")[2], part.cnset_fai.rpartition(":")[2]) for part in parts]
        assert claims == [("1", "1"), ("2-3", "3"), ("", "2,4")]
        await lab.settle()
        assert subjects(lab, "B") == ["first", "second", "view of both"]


async def test_an_order_that_cannot_be_carried_out_is_refused() -> None:
    """The version must have the command, the stores must hold the folder, and content must not be suspended (RP-5, SE-1)."""
    async with Simulator(topology_from_text(OLD)) as lab:

        async def refused(store: str, kind: type[Exception], folder: str = "Projects", **more: object) -> str:
            with pytest.raises(kind) as caught:
                await lab.do(store, lambda node, now: node.send_again(now, folder, **{"days": 1, **more}))  # type: ignore[arg-type]
            return str(caught.value)

        assert "version 2000" in await refused("A", Misuse)
        assert "the other holders are A" in await refused("B", Misuse, to=["C"])
        assert "no other store holds it" in await refused("B", Misuse, "Plans")
        assert "write 1 or more" in await refused("B", Misuse, days=0)
        await refused("B", FolderUnknown, "Nowhere")
        await refused("C", NoReplicaHere)
        with pytest.raises(Misuse, match="version 2000"):
            await lab.do("A", lambda node, now: node.synchronize(now, "1-1"))
        await lab.do("B", lambda node, now: node.configure(now, {"Content Replication Suspended": 1}))
        assert "resume it" in await refused("B", Misuse)
        done = await lab.do("B", lambda node, now: node.send_again(now, "1-1", days=1))
        assert done == SentAgain("1-1", ["A", "C"], "Setup-1..2")
