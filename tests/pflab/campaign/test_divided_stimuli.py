"""Campaigns in which every broadcast, removal, expiry and dropping of tombstones is divided into the smallest stimuli.

In a usual campaign nothing is large enough to be divided, so no seed would show what is lost between two parts.
"""

from __future__ import annotations

import pytest

from node.mail import packing
from node.objects import expiry, tombstones
from pflab.campaign.seed import run_seed
from transport import stimulus

SEEDS = range(201, 205)


@pytest.fixture(autouse=True)
def smallest_stimuli(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stimulus, "STIMULUS_BYTES", 1)
    monkeypatch.setattr(packing, "UPDATES_A_MAIL", 1)
    for module in (expiry, tombstones):
        monkeypatch.setattr(module, "MOST_AT_ONCE", 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_labs_with_the_smallest_stimuli_converge(seed: int) -> None:
    """TM-1: how work is divided into stimuli decides nothing; the stores converge and violate no invariant."""
    assert run_seed(seed).in_words() == [f"seed {seed}: converged"]
