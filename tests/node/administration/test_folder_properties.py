"""The properties of a folder that an administrator sets."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from node.administration.folder_properties import PROPERTIES
from node.errors import Misuse
from node.views import FolderView
from pflab.simulation.simulator import Simulator
from topology.arguments import FolderFields
from topology.file.load import topology_from_text
from traces.labtime import MINUTE_US

TOPOLOGY = """
servers: {A: , B: }
folders:
  Projects: {description: Plans and minutes, age_limit: 30 d, warning_limit: 8 MB, priority: urgent, resolve: last writer wins}
"""


def view(lab: Simulator, store: str, path: str = "Projects") -> FolderView:
    return next(folder for folder in lab.read(store, lambda node: node.folders()) if folder.path == path)


def test_each_field_that_people_give_is_declared() -> None:
    """Each property that a request may give has a row, except `replicas`, which moves content."""
    assert PROPERTIES.keys() | {"replicas"} == get_type_hints(FolderFields).keys()


async def test_a_description_replicates_and_can_be_taken_back() -> None:
    """A description is a property like the others: from the topology, in a change, on each store, and '' when it is removed."""
    async with Simulator(topology_from_text(TOPOLOGY)) as lab:
        assert view(lab, "B").description == "Plans and minutes"
        for text in ("Only plans", ""):
            await lab.do("A", lambda node, now: node.change_folder(now, "Projects", description=text))  # noqa: B023 - called at once
            await lab.advance(lab.now + 16 * MINUTE_US)
            assert view(lab, "B").description == text
        await lab.do("B", lambda node, now: node.create_folder(now, "Projects/2004", description="New"))
        await lab.advance(lab.now + 16 * MINUTE_US)
        assert view(lab, "A", "Projects/2004").description == "New"


async def test_a_folder_of_the_topology_has_the_properties_of_the_file() -> None:
    """The initial state takes the properties as people write them, by the same rows as a request."""
    topology = topology_from_text(TOPOLOGY)
    assert topology_from_text(topology.as_json()).as_document() == topology.as_document()
    async with Simulator(topology) as lab:
        shown = view(lab, "A")
    assert (shown.age_limit, shown.warning_limit, shown.priority, shown.resolve) == (
        "30 d",
        "8 MB",
        "urgent",
        "last writer wins",
    )


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("schedule", "sometimes", "sometimes"),
        ("priority", "high", "'high' is not a priority; write one of not urgent, normal, urgent"),
        ("alias", "a b", "'a b' is not an alias"),
        ("age_limit", "0 s", "is out of range; write 1 s to 36500 d, or none"),
        ("item_limit", "much", "much"),
        ("resolve", "first", "'first' is not a resolve method"),
    ],
)
async def test_a_wrong_value_is_refused_in_one_line(field: str, value: str, words: str) -> None:
    """Whatever door a value comes through, the store checks it and says what would be right."""
    async with Simulator(topology_from_text(TOPOLOGY)) as lab:
        with pytest.raises(Misuse, match=words.replace("'", ".")):
            await lab.do("A", lambda node, now: node.change_folder(now, "Projects", **{field: value}))  # type: ignore[arg-type]
