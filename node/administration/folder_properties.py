"""The properties of a folder that an administrator sets. Each is declared once: its field, the text that people write, and the
text that they read.

A new property has a row here, a line in `topology.arguments.FolderFields`, its place in an item (`node.codec.items`) and in
`node.views.FolderView`. Requests, clients, the initial state and propagation take it from there. `replicas`, the name and the
parent are no rows, because a change of them moves content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from node.codec.items import RESOLVE_NAMES, FolderProperties
from node.errors import Misuse
from node.state.addresses import is_alias
from topology.arguments import FolderFields
from topology.file.fields import MAX_AGE_US
from topology.problems import ValueTextError
from topology.quantities import format_size, parse_storage_limit
from topology.schedule import parse_schedule
from traces.errors import TimeTextError
from traces.labtime import SECOND_US, format_duration, parse_duration

_RESOLVE_METHODS: Final = {name: method for method, name in RESOLVE_NAMES.items()}
_PRIORITIES: Final = {"not urgent": -1, "normal": 0, "urgent": 1}
_PRIORITY_NAMES: Final = {priority: name for name, priority in _PRIORITIES.items()}


class Property(NamedTuple):
    """One property.

    attribute: the field of FolderProperties that has it.
    value: returns the value that people give as text; raises Misuse for a wrong one.
    text: returns what people read in its place.
    propagated: whether subfolders can get it from a folder.
    """

    attribute: str
    value: Callable[[Any], Any]
    text: Callable[[Any], Any]
    propagated: bool = True


def _schedule(schedule: str) -> str | None:
    if schedule == "default":
        return None
    try:
        parse_schedule(schedule)
    except ValueError as error:
        raise Misuse(str(error)) from None
    return schedule


def _age(text: str) -> int | None:
    """Return an age limit such as `30 d` in microseconds, or None for no limit (spec: DL-3).

    Raise Misuse if the text is not valid.
    """
    if text == "none":
        return None
    try:
        age_us = parse_duration(text)
    except TimeTextError as error:
        raise Misuse(str(error)) from None
    if not SECOND_US <= age_us <= MAX_AGE_US:
        raise Misuse(f"the age limit {text} is out of range; write 1 s to 36500 d, or none")
    return age_us


def _limit(text: str) -> int | None:
    """Return a storage limit such as `10 MB` in bytes, or None for no limit (spec: AD-2). Raise Misuse if it is not valid."""
    if text == "none":
        return None
    try:
        return parse_storage_limit(text)
    except ValueTextError as error:
        raise Misuse(str(error)) from None


def _alias(alias: str) -> str | None:
    """Return the alias. None means that it is made from the name; '' means that the folder has no alias."""
    if alias == "default":
        return None
    if alias == "none":
        return ""
    if not is_alias(alias):
        raise Misuse(
            f"{alias!r} is not an alias; write letters and digits with . - _ between them, or the word none or default"
        )
    return alias


def _resolve(resolve: str) -> int:
    try:
        return _RESOLVE_METHODS[resolve]
    except KeyError:
        raise Misuse(f"{resolve!r} is not a resolve method; write one of {', '.join(_RESOLVE_METHODS)}") from None


def _priority(priority: str) -> int:
    if priority not in _PRIORITIES:
        raise Misuse(f"{priority!r} is not a priority; write one of {', '.join(_PRIORITIES)}")
    return _PRIORITIES[priority]


def _same(value: Any) -> Any:
    return value


def _size_text(limit_bytes: int | None) -> str | None:
    return None if limit_bytes is None else format_size(limit_bytes)


def _age_text(age_us: int | None) -> str | None:
    return None if age_us is None else format_duration(age_us)


PROPERTIES: Final[Mapping[str, Property]] = {
    "description": Property("description", _same, _same, propagated=False),
    "schedule": Property("schedule", _schedule, _same),
    "contacts": Property("contacts", tuple, _same),
    "priority": Property("priority", _priority, _PRIORITY_NAMES.__getitem__),
    "alias": Property("alias", _alias, _same, propagated=False),
    "age_limit": Property("age_limit_us", _age, _age_text),
    "warning_limit": Property("warning_limit_bytes", _limit, _size_text),
    "post_limit": Property("post_limit_bytes", _limit, _size_text),
    "item_limit": Property("item_limit_bytes", _limit, _size_text),
    "resolve": Property("resolve", _resolve, lambda method: RESOLVE_NAMES.get(method, str(method))),
}
"""Each property by its name in `FolderFields`."""


def with_fields(props: FolderProperties, fields: FolderFields) -> FolderProperties:
    """Return the properties with the fields that are given. Raises Misuse for a wrong value."""
    changes = ((PROPERTIES[name], value) for name, value in fields.items() if name in PROPERTIES and value is not None)
    return replace(props, **{row.attribute: row.value(value) for row, value in changes})


def texts(props: FolderProperties) -> dict[str, Any]:
    """Return the properties as people read them, by name."""
    return {name: row.text(getattr(props, row.attribute)) for name, row in PROPERTIES.items()}
