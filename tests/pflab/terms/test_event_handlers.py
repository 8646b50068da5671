"""Handlers of events: the annotation of a method says which events it takes."""

from __future__ import annotations

from pflab.terms.event_handlers import event_handler, event_handlers_of
from traces.events import ChangeMade, Event, NodeStarted, NodeStopped


class Watcher:
    @event_handler
    def _changed(self, event: NodeStarted | NodeStopped) -> None: ...

    @event_handler
    def _made(self, event: ChangeMade) -> None: ...

    @event_handler
    def _any(self, event: Event) -> None: ...

    def _checked(self, event: ChangeMade) -> None: ...


def test_a_method_takes_the_classes_of_its_annotation() -> None:
    """A union stands for each of its classes; a method without the mark takes nothing."""
    watcher = Watcher()

    assert event_handlers_of(watcher) == {
        NodeStarted: watcher._changed,
        NodeStopped: watcher._changed,
        ChangeMade: watcher._made,
        Event: watcher._any,
    }
