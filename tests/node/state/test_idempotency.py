"""Requests with an idempotency key: done once, answered the same, forgotten after a day."""

from __future__ import annotations

from pathlib import Path

import pytest

from node.errors import FolderUnknown, KeyReused
from node.store import idempotency
from tests.support.post_office import PostOffice
from traces.labtime import MINUTE_US

ONE, OTHER = b"one request", b"another"


def posted(office: PostOffice, key: str, request: bytes = ONE, folder: str = "Projects") -> bytes:
    node = office.nodes["A"]
    return node.once(office.start, key, request, lambda at: node.post(at, folder, subject="Hello").id.encode())


def test_a_request_is_done_once() -> None:
    """A repeated post with the same key gets the first post's id and posts nothing."""
    office = PostOffice()
    assert posted(office, "k") == posted(office, "k")
    assert office.nodes["A"].count("Projects") == 1
    posted(office, "other")
    assert office.nodes["A"].count("Projects") == 2


def test_a_key_belongs_to_one_request() -> None:
    """Another request with the same key is refused, and nothing is posted."""
    office = PostOffice()
    posted(office, "k")
    with pytest.raises(KeyReused, match="a new key for each change"):
        posted(office, "k", OTHER)
    assert office.nodes["A"].count("Projects") == 1


def test_a_refused_request_may_be_repeated() -> None:
    """A refused request has changed nothing, and its key is free."""
    office = PostOffice()
    with pytest.raises(FolderUnknown):
        posted(office, "k", folder="Nowhere")
    posted(office, "k", OTHER)
    assert office.nodes["A"].count("Projects") == 1


def test_the_answer_outlives_a_crash(tmp_path: Path) -> None:
    """A store that died after the commit answers the same request as before."""
    office = PostOffice(database_folder=tmp_path)
    first = posted(office, "k")
    office.nodes["A"].abandon()
    office.nodes["A"].reopen(office.start)
    assert posted(office, "k") == first
    assert office.nodes["A"].count("Projects") == 1


def test_an_answer_is_kept_for_a_day_of_lab_time() -> None:
    """After 24 hours of lab time a key can be used for a new request."""
    office = PostOffice()
    node = office.nodes["A"]

    def at(minutes: int) -> bytes:
        now = office.start + minutes * MINUTE_US
        return node.once(now, "k", ONE, lambda then: node.post(then, "Projects", subject="Hello").id.encode())

    first = at(0)
    assert at(24 * 60 - 1) == first
    assert at(24 * 60) != first
    assert node.count("Projects") == 2


def test_answers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the oldest answers go first."""
    monkeypatch.setattr(idempotency, "MOST_KEPT", 3)
    office = PostOffice()
    first = [posted(office, f"k{number}") for number in range(5)]
    assert [posted(office, f"k{number}") for number in (2, 3, 4)] == first[2:]
    assert posted(office, "k0") != first[0]
