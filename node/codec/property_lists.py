"""Property lists whose properties are declared once, for writing and for reading.

A list is a table with a row for each property, in the order in which they are written: the type of the value on the wire, and
how it is read and written. So a value that has the wrong type, or is missing, never gets further than this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from node.tracking.change_number import ChangeNumber
from node.tracking.pcl import Pcl
from transport.errors import CodecError
from transport.mapi.properties import Bag

Values = dict[int, Any]
"""The values of a property list by tag."""


class Property(NamedTuple):
    """One property of a list.

    kind     the type of the value on the wire
    read     returns the value that is meant; raises CodecError, or another error of the codec, if it is not valid
    write    the reverse of `read`
    default  the value for which the property is left out; None: the property is required
    """

    kind: type
    read: Callable[[Any], Any] = lambda value: value
    write: Callable[[Any], Any] = lambda value: value
    default: Any = None


Properties = Mapping[int, Property]

NUMBER: Final = Property(bytes, ChangeNumber.from_xid, ChangeNumber.to_xid)
PREDECESSORS: Final = Property(bytes, Pcl.decode, Pcl.encode)


def write(values: Values, properties: Properties) -> Bag:
    """Return the property list with these values."""
    return {
        tag: written(values[tag])
        for tag, (_, _, written, default) in properties.items()
        if default is None or values[tag] != default
    }


def read(bag: Bag, properties: Properties) -> Values:
    """Return the values in a property list. Other properties are ignored. Raise CodecError if a property is missing."""
    values: Values = {}
    for tag, (kind, meaning, _, default) in properties.items():
        value = bag.get(tag)
        if isinstance(value, kind):
            values[tag] = meaning(value)
        elif value is None and default is not None:
            values[tag] = default
        else:
            raise CodecError(f"the property {tag:#010x} is missing or has the wrong type")
    return values
