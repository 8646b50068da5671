"""What a page shows of a lab in its tab before the lab is up: the organization, and of a lesson its title and introduction.

The build writes these files beside the console (`console/tab/opening.js` reads them).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import msgspec

from node.seeded_ids import setup_guid
from pflab.lessons.course import lessons_of_pflab
from topology.file.examples import EXAMPLES, yaml_names
from topology.file.load import load_topology

if TYPE_CHECKING:
    from topology.model import Topology

FOLDER: Final = PurePosixPath("preview")
"""The folder of these files, below that of the page."""


def previews() -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the path and the content of the preview of each example and each lesson of pflab."""
    for name in yaml_names(EXAMPLES):
        organization = load_topology(EXAMPLES / f"{name}.yaml")
        yield FOLDER / "topology" / f"{name}.json", _preview(organization, organization.organization, "")
    for name, lesson in lessons_of_pflab().items():
        yield FOLDER / "lesson" / f"{name}.json", _preview(lesson.topology, lesson.title, lesson.lesson or "")


def _preview(organization: Topology, title: str, text: str) -> bytes:
    return msgspec.json.encode(
        {
            "title": title,
            "text": text,
            "setup": setup_guid(organization.organization).hex(),
            "topology": msgspec.Raw(organization.as_json().encode()),
        }
    )
