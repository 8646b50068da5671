"""The targets of `make fuzz` are what they should be, and no input of the corpus is a finding any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import BY_NAME, TARGETS, Target

CORPUS = sorted(path for path in (Path(__file__).parent / "corpus").glob("*/*") if path.is_file())


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_each_target_accepts_its_seeds_and_refuses_others(target: Target) -> None:
    """A target that refused its own seed would fuzz nothing behind the first check."""
    for seed in target.seeds:
        target.read(seed)
        target(seed[: len(seed) // 2])
    target(b"")
    target(b"\xff" * 100)


def test_a_target_finds_an_error_that_is_not_its_own() -> None:
    """Any other exception is a finding."""
    with pytest.raises(ZeroDivisionError):
        Target("planted", lambda data: 1 // len(data), (ValueError,), ())(b"")


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_finding_stays_mended(path: Path) -> None:
    """Each input that once was a finding is read, or refused by an error of the target's own."""
    BY_NAME[path.parent.name](path.read_bytes())
