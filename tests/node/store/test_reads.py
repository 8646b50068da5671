"""Reads whose work does not grow with the store: the number of a folder's messages, and the list of folders."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from node.store.node import Node
from node.views import Post
from pflab.campaign.draw.scenario import draw_scenario
from tests.support.campaign_scenarios import simulated
from tests.support.post_office import PostOffice


def statements(node: Node, read: Callable[[Node], Any]) -> list[str]:
    """Return the SQL statements of a read."""
    found: list[str] = []
    raw = node._opened()[1].raw
    raw.set_trace_callback(found.append)
    try:
        read(node)
    finally:
        raw.set_trace_callback(None)
    return found


def check_counts(node: Node) -> int:
    """Check the count of every folder against its rows, and the list of folders against one made from the tables. Return the
    number of all messages."""
    ctx, conn = node._opened()
    rows = conn.exec_driver_sql("SELECT fid, sum(deleted = 0 AND shown = 1) FROM message GROUP BY fid").all()
    counted = conn.exec_driver_sql("SELECT fid, messages FROM message_count").all()
    assert {(fid, count) for fid, count in counted if count} == {(fid, count) for fid, count in rows if count}
    cached = node.folders()
    ctx.folder_views = None
    assert cached == node.folders()
    return sum(count for _, count in rows)


def test_a_count_reads_one_row() -> None:
    """However many messages a folder has, `count` reads one row by its key."""
    office = PostOffice()
    node = office["A"]
    node.post_batch(office.at(1), "Projects", [Post(f"post {number}", "", "", ()) for number in range(50)])
    assert node.count("Projects") == len(node.messages("Projects")) == 50
    (statement,) = statements(node, lambda node: node.count("Projects"))
    (step,) = [row[3] for row in node._opened()[1].exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}")]
    assert step == "SEARCH message_count USING INTEGER PRIMARY KEY (rowid=?)"


def test_a_message_is_read_by_its_key() -> None:
    """However many messages a folder has, reading one of them as a mail looks at one."""
    office = PostOffice()
    node = office["A"]
    message = node.post(office.at(1), "Projects", subject="Hello").id
    read = [each for each in statements(node, lambda node: node.mail("Projects", message)) if "item" in each]
    (steps,) = [node._opened()[1].exec_driver_sql(f"EXPLAIN QUERY PLAN {each}").all() for each in read]
    assert [row[3] for row in steps] == ["SEARCH message USING INDEX sqlite_autoindex_message_1 (object=?)"]


def test_a_change_counts_by_its_own_row() -> None:
    """A post causes as many statements in a large folder as in a small one, those of the triggers included."""
    office = PostOffice()
    node = office["A"]

    def post(node: Node) -> None:
        node.post(office.at(2), "Projects", subject="one more")

    post(node)
    few = statements(node, post)
    node.post_batch(office.at(2), "Projects", [Post(f"post {number}", "", "", ()) for number in range(200)])
    assert len(statements(node, post)) == len(few)
    assert node.count("Projects") == 203


def test_the_list_of_folders_needs_no_query() -> None:
    """`folders` reads the tree in memory, and again only after a change of the tree or of the replicas here."""
    office = PostOffice()
    node = office["A"]
    for number in range(20):
        node.create_folder(office.at(1), f"F{number}", replicas=["A", "B"])
    assert statements(node, lambda node: node.folders()) == []
    assert all(one is other for one, other in zip(node.folders(), node.folders(), strict=True))
    for change in ({"replicas": ["B"]}, {"replicas": ["A", "B"]}, {"contacts": ["kim@contoso.test"]}, {"alias": "f"}):
        node.change_folder(office.at(2), "F3", **change)  # type: ignore[arg-type]
        check_counts(node)
    node.delete_folder(office.at(3), "F4")
    check_counts(node)


def test_a_count_follows_edits_conflicts_and_deletions() -> None:
    """A message in conflict counts once, a deleted one not."""
    office = PostOffice()
    message = office["A"].post(office.at(1), "Projects", subject="both edit").id
    deleted = office["A"].post(office.at(1), "Projects", subject="goes").id
    office.run(office.at(15))
    for name in "AB":
        office[name].edit(office.at(20), "Projects", message, body=name)
    office["B"].delete(office.at(20), "Projects", deleted)
    office.run(office.at(60))
    for name in "AB":
        assert check_counts(office[name]) == office[name].count("Projects") == 1


@pytest.mark.parametrize("seed", [3, 11, 32, 40])
def test_counts_are_true_after_a_campaign(seed: int) -> None:
    """After crashes, restores, expiry and removed replicas each store counts what it has."""

    async def play() -> None:
        lab, player = simulated(draw_scenario(seed))
        async with lab:
            await player.play()
            for name in lab.names:
                if lab.running(name):
                    check_counts(lab.read(name, lambda node: node))

    asyncio.run(play())
