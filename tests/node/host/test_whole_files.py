"""Files that are complete whenever another process reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from node.host.whole_files import write_whole
from tests.support.disk import no_file_grows


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    """If there is no room, the old content stays, and nothing is left beside the file."""
    path = tmp_path / "note"
    write_whole(path, b"old", mode=0o600)
    with no_file_grows(100), pytest.raises(OSError, match="too large"):
        write_whole(path, bytes(200))
    assert path.read_bytes() == b"old"
    assert path.stat().st_mode & 0o777 == 0o600
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
