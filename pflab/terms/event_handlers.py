"""Methods that handle events. The annotation of a method says which classes it handles, as with `functools.singledispatch`.

    class Starts:
        @event_handler
        def _changed(self, event: NodeStarted | NodeStopped) -> None: ...

`event_handlers_of(Starts())` returns a dict that has this method for both classes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final, TypeVar, get_args, get_type_hints

from traces.events import Event

MethodT = TypeVar("MethodT", bound=Callable[..., Any])

_CLASSES: Final[dict[Callable[..., Any], tuple[type[Event], ...]]] = {}
"""The event classes of each method."""


def event_handler(method: MethodT) -> MethodT:
    """Mark a method as an event handler. It handles the class, or each class of the union, of its parameter `event`."""
    annotation = get_type_hints(method)["event"]
    _CLASSES[method] = get_args(annotation) or (annotation,)
    return method


def event_handlers_of(owner: object) -> dict[type[Event], Callable[[Any], Any]]:
    """Return the marked methods of an object, by event class."""
    methods = inspect.getmembers(type(owner), inspect.isfunction)
    return {kind: getattr(owner, name) for name, method in methods for kind in _CLASSES.get(method, ())}


def event_taker_of(owner: object) -> Callable[[Event], None]:
    """Return a function that takes an event and calls the method of `owner` that is marked for the event's class, if any."""
    handlers = event_handlers_of(owner)

    def take(event: Event) -> None:
        handler = handlers.get(type(event))
        if handler is not None:
            handler(event)

    return take
