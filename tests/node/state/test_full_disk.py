"""A store that cannot write: a refused act changes nothing, acknowledged data stays, and the store recovers by itself."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from node.errors import CannotWrite, MailRefused
from node.state.database import LOG_SHARE
from node.store.node import FREE_FOR_STORES, FREE_SHARE
from tests.support.disk import no_file_grows, no_more_memory, no_new_files
from tests.support.post_office import PostOffice
from traces.reading import read_folder
from transport.envelope import IncomingHop
from transport.mime.headers import incoming_mail
from transport.sql import Connection

MAIL = b"From: kim@test.test\r\nMessage-ID: <1@test.test>\r\nSubject: s\r\n\r\n" + b"text\r\n" * 400_000
LARGE = "x" * 2_000_000
VERY_LARGE = "x" * 100_000_000
VAST = "organization: Test\nservers: {A: {settings: {Store Size Limit: 1000000 GB}}}\nfolders: {P: {}}\n"
FROM_OUTSIDE = IncomingHop("stranger.test", None, 0)


def connection(office: PostOffice, name: str) -> Connection:
    return office[name]._database.reading()


def subjects(office: PostOffice, name: str) -> list[str]:
    return sorted(each.subject for each in office[name].messages("Projects"))


def test_a_full_disk_refuses_and_loses_nothing(tmp_path: Path) -> None:
    """DU-1, IN-2: a store without room refuses a post, and the post leaves no trace. Earlier posts stay. When there is room
    again the store takes posts and replicates all, without a gap in its events."""
    office = PostOffice(database_folder=tmp_path)
    office["A"].post(office.at(1), "Projects", subject="before")
    with (
        no_file_grows(100_000),
        pytest.raises(CannotWrite, match=r"store A cannot write: .*the store continues by itself"),
    ):
        office["A"].post(office.at(2), "Projects", subject="lost", body=LARGE)
    assert subjects(office, "A") == ["before"]
    office["A"].post(office.at(3), "Projects", subject="after", body=LARGE)
    office.run(office.at(15))
    assert subjects(office, "A") == subjects(office, "B") == ["after", "before"]
    numbers = [event.seq for event in office.events if event.node == "A"]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_store_without_memory_refuses_and_loses_nothing(tmp_path: Path) -> None:
    """DU-1: a store that gets no memory refuses a post as on a full disk, and continues by itself."""
    office = PostOffice(database_folder=tmp_path)
    office["A"].post(office.at(1), "Projects", subject="before")
    with (
        no_more_memory(),
        pytest.raises(CannotWrite, match=r"store A cannot write: no memory is free; the store continues"),
    ):
        office["A"].post(office.at(2), "Projects", subject="lost", body=VERY_LARGE)
    office["A"].post(office.at(3), "Projects", subject="after")
    assert subjects(office, "A") == ["after", "before"]


def test_a_database_that_may_not_grow_refuses_and_recovers(tmp_path: Path) -> None:
    """DU-1: SQLite's own "database is full", after which SQLite rolls back by itself, gives the same refusal."""
    office = PostOffice(database_folder=tmp_path)
    conn = connection(office, "A")
    pages = conn.exec_driver_sql("PRAGMA page_count").scalar_one()
    conn.exec_driver_sql(f"PRAGMA max_page_count = {pages + 10}")
    taken = 0
    with pytest.raises(CannotWrite, match="full"):
        for taken in range(1000):
            office["A"].post(office.at(1), "Projects", subject=f"{taken:04}")
    for _ in range(3):
        with pytest.raises(CannotWrite):
            office["A"].post(office.at(1), "Projects", subject="lost", body="x" * 200_000)
    connection(office, "A").exec_driver_sql("PRAGMA max_page_count = 1000000")
    office["A"].post(office.at(2), "Projects", subject="last")
    office.run(office.at(15))
    assert subjects(office, "B") == [*(f"{each:04}" for each in range(taken)), "last"]


def test_mail_that_cannot_be_written_is_not_taken(tmp_path: Path) -> None:
    """IN-2, ML-5: the sender gets no 250, and when the mail comes again it is posted once."""
    office = PostOffice(database_folder=tmp_path)

    address = f"Projects@{office.topology.domain}"

    def come() -> None:
        office["B"].mail_in(office.at(1), FROM_OUTSIDE, incoming_mail("kim@test.test", [address], MAIL))

    with no_file_grows(100_000), pytest.raises(CannotWrite):
        come()
    assert subjects(office, "B") == []
    come()
    assert subjects(office, "B") == ["s"]


def test_without_file_handles_nothing_is_lost(tmp_path: Path) -> None:
    """DU-1: a store that can open no file takes posts or refuses them, and exports its events later."""
    office = PostOffice(database_folder=tmp_path)
    node, traces = office["A"], tmp_path / "traces"
    traces.mkdir()
    node.traces_dir = traces
    with no_new_files():
        node.post(office.at(1), "Projects", subject="posted")
        with pytest.raises(CannotWrite):
            node.export()
    assert subjects(office, "A") == ["posted"]
    node.export()
    trace = read_folder(traces)
    assert trace.events == [event for event in office.events if event.node == "A"]
    assert trace.report() == []


def test_an_export_for_which_there_is_no_room_leaves_no_half_segment(tmp_path: Path) -> None:
    """The events stay in the database, no partial file stays on the full disk, and the next export has them all."""
    office = PostOffice(database_folder=tmp_path)
    node, traces = office["A"], tmp_path / "traces"
    traces.mkdir()
    node.traces_dir = traces
    with no_file_grows(100), pytest.raises(CannotWrite):
        node.export()
    assert list(traces.iterdir()) == []
    node.export()
    trace = read_folder(traces)
    assert trace.events == [event for event in office.events if event.node == "A"]
    assert trace.report() == []


def test_mail_from_outside_is_refused_when_the_store_is_full(tmp_path: Path) -> None:
    """ML-7: a store over its Store Size Limit refuses mail from outsiders temporarily, and still takes mail from stores."""
    office = PostOffice(
        "organization: Test\nservers: {A: {settings: {Store Size Limit: 2 MB}}, B: {}}\nfolders: {P: {}}\n", tmp_path
    )
    office["A"].check_room(20_000)
    office["A"].post(office.at(1), "P", subject="large", body=LARGE)
    with pytest.raises(MailRefused, match=r"452 4\.3\.1 this store is full \(Store Size Limit 2 MB\)"):
        office["A"].check_room(20_000)
    office["B"].post(office.at(2), "P", subject="of a store")
    office.run(office.at(15))
    assert len(office["A"].messages("P")) == 2


def test_mail_from_outside_leaves_room_on_the_disk(tmp_path: Path) -> None:
    """ML-7: an outsider's mail that would leave too little of the disk free is refused temporarily, before its content is
    sent."""
    office = PostOffice(VAST, tmp_path)
    office["A"].check_room(0)
    free = shutil.disk_usage(tmp_path).free
    assert free > FREE_FOR_STORES
    with pytest.raises(MailRefused, match=r"452 4\.3\.1 no room on the disk"):
        office["A"].check_room(free // 4)


def test_a_small_disk_takes_mail_until_an_eighth_of_it_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ML-7: on a disk smaller than the space that is kept free on large disks, mail is still accepted."""
    office = PostOffice(VAST, tmp_path)
    total = 64_000_000
    free = total // 2
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=total, free=free))
    office["A"].check_room(1_000_000)
    free = total // FREE_SHARE + 1
    office["A"].check_room(0)
    with pytest.raises(MailRefused, match=r"452 4\.3\.1 no room on the disk"):
        office["A"].check_room(1_000)


def test_the_wal_on_a_small_disk_leaves_room_for_mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ML-7: the WAL, whose file never shrinks by itself, takes a small share of a small disk, however much is written."""
    total = 64_000_000
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=total, free=total // 2))
    office = PostOffice(VAST, tmp_path)
    for number in range(100):
        office["A"].post(office.at(1), "P", subject=f"large {number}", body=LARGE)
    longest = max(each.stat().st_size for each in tmp_path.glob("*.db-wal"))
    assert 0 < longest < total // LOG_SHARE + 2 * len(LARGE)
