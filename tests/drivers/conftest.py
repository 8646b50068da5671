"""The fixture that makes labs for the driver under test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.lab_factory import LabFactory, lab_factory


@pytest.fixture(
    params=[
        "simulator",
        pytest.param("live", marks=pytest.mark.live),
        pytest.param("processes", marks=pytest.mark.live),
    ]
)
def driver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make_lab(driver: str, tmp_path: Path) -> Iterator[LabFactory]:
    with ExitStack() as at_end:
        yield lab_factory(driver, tmp_path, at_end)
