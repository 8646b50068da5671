"""Write console/state/events.d.ts: the types of the events that the console gets, so that tsc finds a wrong field name.

python docs/event_types.py            write the file
python docs/event_types.py --check    exit with 1, and say why, if the file is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import generated
import msgspec

from traces.events import EVENT_TYPES, Event

FILE: Final = "console/state/events.d.ts"

HEAD: Final = """/**
 * The events of a trace, as the console gets them. Made by `make rules` from traces/events; do not edit.
 *
 * A field with a question mark is left out if it has its default value. docs/reference/events/ says what the fields mean.
 */
"""

TYPES: Final = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}


def _type(hint: Any) -> str:
    """Return the TypeScript type of a field."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in {Union, UnionType}:
        return " | ".join(dict.fromkeys(map(_type, arguments)))
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin is tuple:
        return f"readonly {_type(arguments[0])}[]"
    if origin is dict:
        return f"Record<{', '.join(map(_type, arguments))}>"
    return TYPES[hint] if hint in TYPES else str(hint.__name__)


def _fields(struct: type[msgspec.Struct], inherited: frozenset[str] = frozenset()) -> Iterator[str]:
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        if field.name not in inherited:
            optional = "?" if struct.__struct_config__.omit_defaults and not field.required else ""
            yield f"  {field.name}{optional}: {_type(hints[field.name])};\n"


def _interface(name: str, fields: Iterator[str], base: str = "") -> str:
    return f"\nexport interface {name}{base} {{\n{''.join(fields)}}}\n"


def _parts(hint: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs in the type of a field, such as the folders of a mail."""
    for argument in get_args(hint):
        yield from _parts(argument)
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint


def render() -> str:
    """Return the file."""
    header = frozenset(field.name for field in msgspec.structs.fields(Event))
    structs = {
        part: None for event in EVENT_TYPES.values() for hint in get_type_hints(event).values() for part in _parts(hint)
    }
    texts = [HEAD, _interface("Header", iter([*_fields(Event), "  words?: string;\n"]))]
    texts += [_interface(struct.__name__, _fields(struct)) for struct in structs]
    for tag, event in EVENT_TYPES.items():
        fields = iter([f'  type: "{tag}";\n', *_fields(event, header)])
        texts.append(_interface(event.__name__, fields, " extends Header"))
    texts.append(
        "\nexport type LabEvent =\n" + "\n".join(f"  | {event.__name__}" for event in EVENT_TYPES.values()) + ";\n"
    )
    texts.append("\n/** The event with a type, such as `change.made`. */\n")
    texts.append('export type EventOf<T extends LabEvent["type"]> = Extract<LabEvent, { type: T }>;\n')
    return "".join(texts)


if __name__ == "__main__":
    sys.exit(generated.main(f"Write {FILE} from the definitions of the events.", lambda: {FILE: render()}))
