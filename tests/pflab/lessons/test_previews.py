"""What a page shows of a lab in a browser tab before the lab is up."""

from __future__ import annotations

import json

from node.seeded_ids import setup_guid
from pflab.lessons.course import lessons_of_pflab
from pflab.lessons.previews import previews
from topology.file.examples import EXAMPLES, yaml_names
from topology.file.load import load_topology


def test_each_example_and_each_lesson_has_a_preview() -> None:
    """A preview has the topology as `GET /lab/topology` returns it, and the GUID that numbers its folders; that of a lesson its
    title and introduction."""
    found = {path.as_posix(): json.loads(content) for path, content in previews()}
    lessons = lessons_of_pflab()
    examples = yaml_names(EXAMPLES)
    assert set(found) == {
        *(f"preview/topology/{name}.json" for name in examples),
        *(f"preview/lesson/{name}.json" for name in lessons),
    }
    for name, lesson in lessons.items():
        preview = found[f"preview/lesson/{name}.json"]
        assert (preview["title"], preview["text"]) == (lesson.title, lesson.lesson)
        assert preview["topology"] == json.loads(lesson.topology.as_json())
    for name in examples:
        organization = load_topology(EXAMPLES / f"{name}.yaml")
        preview = found[f"preview/topology/{name}.json"]
        assert (preview["title"], preview["text"]) == (organization.organization, "")
        assert preview["topology"] == json.loads(organization.as_json())
        assert preview["setup"] == setup_guid(organization.organization).hex()
