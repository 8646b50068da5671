"""The organization that the mailing list writes to: two sites, and a folder for each subject."""

import pytest

from pflab.testing import Organization


@pytest.fixture(scope="session")
def lab_topology():
    return (
        Organization("Contoso", domain="contoso.test")
        .site("SEA")
        .server("A")
        .site("NYC")
        .server("B")
        .connector("SEA", "NYC", latency="1 s")
        .folder("Projects")
        .folder("News")
    )
