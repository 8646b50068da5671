"""Write docs/reference/events.md: each event of a trace, its fields, and what each field is worth as evidence.

python docs/events_page.py            write the page
python docs/events_page.py --check    exit with 1, and say why, if the page is out of date
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from typing import Final, get_args

import generated

from analytics.evidence.agreement.fields import FIELDS, HEADER, Fields, Worth
from traces.events import EVENT_TYPES, ChangeEvent, Event, MailEvent, ReplicationEvent, RunEvent

PAGE: Final = "docs/reference/events.md"
FAMILIES: Final = {
    "The run": RunEvent,
    "Mails and hops": MailEvent,
    "Changes, versions and conflicts": ChangeEvent,
    "Replication": ReplicationEvent,
}
_HEAD: Final = """# The events of a trace

A trace has these events, one JSON object in a line. This page says what each field is worth as evidence: what else in the trace
says the same, so that `pflab check` notices an altered trace. `make tamper` alters each field and counts what is noticed.

| worth | meaning |
|---|---|
| evidence | another event states the same, or other events imply it: each alteration is noticed |
| bounded | other events limit it: an alteration beyond the limits is noticed |
| derived | other events imply it, but no check uses them |
| informational | nothing else in the trace says it, and nothing depends on it |
"""

_OF_FIELDS: Final = re.compile(r"^(\w+(?:(?:, | and )\w+)*): ", re.MULTILINE)
"""How the line of a docstring begins that says what a field is, or several."""

_NAME: Final = re.compile(r"\b(?!and\b)\w+")


def _table(fields: Fields) -> Iterator[str]:
    if fields:
        yield "\n| field | worth | what else says it |\n|---|---|---|\n"
        for name, (worth, why) in fields.items():
            yield f"| `{name}` | {worth.value} | {why} |\n"


def _says(event: type[Event]) -> str:
    """Return an event's docstring as Markdown; the lines of its fields are a list."""
    text = re.sub(r"\n +", " ", inspect.getdoc(event) or "")
    return _OF_FIELDS.sub(lambda of: "- " + _NAME.sub(r"`\g<0>`", of[0]), text)


def render() -> str:
    """Return the page."""
    counts = {worth: sum(each is worth for of in FIELDS.values() for each, _ in of.values()) for worth in Worth}
    parts = [_HEAD, "\nOf the fields, " + ", ".join(f"{number} are {worth.value}" for worth, number in counts.items())]
    parts += [".\n\n## The header\n\nAll events have these fields.\n", *_table(HEADER)]
    tags = {event: tag for tag, event in EVENT_TYPES.items()}
    for title, family in FAMILIES.items():
        parts.append(f"\n## {title}\n")
        for event in get_args(family):
            parts += [f"\n### {tags[event]}\n\n{_says(event)}\n", *_table(FIELDS[tags[event]])]
    return "".join(parts)


if __name__ == "__main__":
    sys.exit(generated.main(f"Write {PAGE} from the definitions of the events.", {PAGE: render}))
