"""A listener for each test, ended with it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.smtp_desk import Desk


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    yield desk
    await desk.end()
