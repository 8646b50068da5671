"""The servers that tests of the MTA begin with."""

from collections.abc import Iterator

import pytest

from tests.support.mta_server import Server, database, make_server
from transport.sql import Connection


@pytest.fixture
def conn() -> Iterator[Connection]:
    with database() as connection:
        yield connection


@pytest.fixture
def a(conn: Connection) -> Server:
    """Server A of site SEA, which is the bridgehead there."""
    return make_server(conn)
