"""The words of events over HTTP: readers who read piece by piece are told the same names as one who reads all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.lab_with_beginning import DRIVERS, lab_with_beginning

pytestmark = pytest.mark.live

PIECE = 7


@pytest.mark.parametrize("driver", DRIVERS[:1])
def test_events_in_pieces_have_the_same_words(tmp_path: Path, driver: str) -> None:
    """Two readers who take turns, one of them a piece behind, get the events with the words that a whole reading has."""
    with lab_with_beginning(tmp_path, driver, "servers: {A: , B: }\nfolders: {Projects: {replicas: [A, B]}}\n") as lab:
        for number in range(5):
            lab.post("A", "Projects", subject=f"Post {number}")
        lab.advance("20 min")

        def read(after: int, limit: int = 1000) -> list[bytes]:
            return lab.content("GET", f"/lab/events?words=true&after={after}&limit={limit}").splitlines()

        whole = read(0)
        assert len(whole) > 3 * PIECE
        assert any(b"makes 'Post 4'" in line for line in whole)
        one: list[bytes] = read(0, PIECE)
        other: list[bytes] = []
        for _ in range(0, len(whole), PIECE):
            other += read(len(other), PIECE)
            one += read(len(one), PIECE)
        assert one == other == whole
