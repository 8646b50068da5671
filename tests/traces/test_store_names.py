"""The names of a store's replica GUIDs."""

from __future__ import annotations

import pytest

from topology.file.load import topology_from_text
from topology.problems import ProblemsError
from traces.store_names import guid_name, store_of_guid_name


@pytest.mark.parametrize("store", ["A", "EX1", "S-2"])
def test_a_second_guid_has_a_name_that_no_server_can_have(store: str) -> None:
    """RP-4: a restored store EX1 is shown as EX1.2, which names it alone, because a server's name has no dot."""
    assert [guid_name(store, place) for place in (1, 2, 11)] == [store, f"{store}.2", f"{store}.11"]
    assert [store_of_guid_name(guid_name(store, place)) for place in (1, 2, 11)] == [store] * 3
    with pytest.raises(ProblemsError):
        topology_from_text(f"servers: {{{guid_name(store, 2)}: }}")
