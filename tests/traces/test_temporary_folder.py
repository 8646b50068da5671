"""Temporary folders are removed, whenever a signal comes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from traces.temporary_folder import temporary_folder

_INTERRUPTED_EVERYWHERE = """
import contextlib, sys
from pathlib import Path
from traces import temporary_folder as subject

watched = {subject.__file__, contextlib.__file__, __file__}


def use(within):
    with subject.temporary_folder("pflab-", within) as folder:
        Path(folder, "file").write_text("content")


def is_interrupted(within, steps):
    def trace(frame, event, _argument):
        nonlocal steps
        if frame.f_code.co_filename not in watched:
            return None
        frame.f_trace_opcodes = True
        steps -= event == "opcode"
        if steps == 0:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        use(within)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


steps = 1
while is_interrupted(Path(sys.argv[1]), steps):
    steps += 1
print(steps)
"""


def test_an_interrupt_at_any_step_leaves_no_folder(tmp_path: Path, project_root: Path) -> None:
    """An interrupt before any of the interpreter's steps, from before the folder is made until after it is removed, leaves no
    folder when the process has ended."""
    program, place = tmp_path / "program.py", tmp_path / "place"
    program.write_text(_INTERRUPTED_EVERYWHERE, "utf-8")
    place.mkdir()
    order = [sys.executable, str(program), str(place)]
    done = subprocess.run(
        order, capture_output=True, text=True, check=True, cwd=project_root, env={**os.environ, "PYTHONPATH": "."}
    )
    assert int(done.stdout) > 100, (
        "there are as many steps as interrupts, and the folder's life has more than a hundred"
    )
    assert list(place.iterdir()) == []


def test_a_folder_is_there_in_the_block_only(tmp_path: Path) -> None:
    """A folder belongs to the user alone, has its prefix, and is gone after the block with its content, also after an error."""
    seen: list[Path] = []

    def use() -> None:
        with temporary_folder("pflab-", tmp_path) as folder:
            seen.append(Path(folder))
            (seen[0] / "file").write_text("content")
            assert seen[0].stat().st_mode & 0o777 == 0o700
            raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        use()
    assert seen[0].name.startswith("pflab-")
    assert list(tmp_path.iterdir()) == []
