"""The matrix of folders by servers, and one folder in detail (spec: RST-3)."""

from __future__ import annotations

import pytest

from node.views import FolderStatus, InstanceView, ReplicaStatus, SyncState
from pflab.explain.status_tables import detail, instances_table, matrix, status_json
from topology.natural_order import natural_order
from traces.labtime import SECOND_US, parse_instant

NOON = parse_instant("2003-10-22T12:15Z")


def replica(
    store: str, sync: SyncState = SyncState.IN_SYNC, missing: str = "", *, pending: bool = False
) -> ReplicaStatus:
    return ReplicaStatus(store, sync, pending, missing, "", NOON, 2 * SECOND_US)


def status(path: str, own: ReplicaStatus, *others: ReplicaStatus, unsent: str = "") -> FolderStatus:
    return FolderStatus("x:1", path, own.store, unsent, (own, *others))


def lines(statuses: dict[str, list[FolderStatus]], width: int = 80) -> list[str]:
    return [line.plain for line in matrix(statuses, width)]


def test_the_matrix_has_a_row_for_each_folder_and_a_column_for_each_server() -> None:
    """Each cell is the status of the server's own replica; only words that occur are explained."""
    behind = replica("B", SyncState.BEHIND, "A-1")
    found = {
        "A": [status("1-1", replica("A")), status("News", replica("A", SyncState.LOCALLY_MODIFIED))],
        "B": [status("1-1", replica("B")), status("News", behind), status("Old", replica("B", pending=True))],
    }
    assert lines(found) == [
        "Folder                  A         B",
        "Folder hierarchy (1-1)  in sync   in sync",
        "News                    modified  behind",
        "Old                     -         leaving",
        "",
        "behind: lacks changes that another store has",
        "modified: not all others have reported a change that was made here",
        "leaving: delete-pending: the replica is being removed",
        "1 of 3 folders is in sync on all servers, as far as the servers know.",
    ]


@pytest.mark.parametrize("servers", [5, 12, 60])
def test_the_matrix_is_never_wider_than_the_terminal(servers: int) -> None:
    """With many servers, marks replace the words, and then the servers are divided over several tables."""
    path = "A very long name of a folder/with a folder in it"
    found = {f"SRV{n}": [status(path, replica(f"SRV{n}", SyncState.BEHIND))] for n in range(servers)}
    told = lines(found, 80)
    assert max(map(len, told)) <= 80
    assert " ".join(told).count("SRV") == servers


def test_instances_of_a_folder_are_compared() -> None:
    """AD-1: the replicas of a folder stand together; a replica with fewer items is marked, unless it is being removed."""
    found = [
        InstanceView("x:1", "News", "A", False, 5, 1, 2049, NOON),
        InstanceView("x:1", "News", "B", False, 3, 0, 0, None),
        InstanceView("x:1", "News", "C", True, 1, 0, 10, NOON),
    ]
    columns = [list(map(str, column.cells)) for column in instances_table(found).columns]
    assert columns == [
        ["News", "", ""],
        ["A", "B", "C"],
        ["5 + 1", "3", "1"],
        ["3 KB", "0 KB", "1 KB"],
        ["2003-10-22T12:15:00Z", "never", "2003-10-22T12:15:00Z"],
        ["", "2 fewer", "delete-pending"],
    ]


def test_folders_are_in_natural_order() -> None:
    """2 comes before 10, and a folder before its subfolders."""
    paths = ["Team 2", "Team 10", "Team", "Team/Old", "team 1"]
    assert sorted(paths, key=natural_order) == ["Team", "Team/Old", "team 1", "Team 2", "Team 10"]


def test_the_detail_shows_each_replica_as_the_store_knows_it() -> None:
    """As Exchange's Replication tab: status, last received, average time; then what the replica lacks."""
    own = ReplicaStatus("A", SyncState.LOCALLY_MODIFIED, False, "", "", None, None)
    never = ReplicaStatus("C", SyncState.NOT_HEARD, False, "", "", None, None)
    found = status("News", own, replica("B", SyncState.BEHIND, "A-3..4"), never, unsent="A-5")
    assert [line.plain for line in detail(found, 80)] == [
        "News, as Server A knows it",
        "  Server  Status            Last received         Average time",
        "  A       locally modified",
        "  B       behind            2003-10-22T12:15:00Z  2 s",
        "          has not reported A-3..4",
        "  C       not yet heard     never",
        "  waits for its broadcast: A-5",
    ]
    document = status_json(found)
    assert (document["sync"], document["unsent"]) == ("locally modified", {"A": [[5, 5]]})
    assert document["replicas"][1]["missing"] == {"A": [[3, 4]]}
