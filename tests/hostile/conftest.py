"""The fixture that runs an SMTP listener for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.smtp_peers import ListenerHarness


@pytest.fixture
async def harness() -> AsyncIterator[ListenerHarness]:
    async with ListenerHarness() as harness:
        yield harness
