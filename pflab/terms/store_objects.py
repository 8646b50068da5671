"""Which directory object each store has, from the events of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traces.events import StoreCreated, StoreDeleted


class StoreObjects:
    """A store that did not run learns late that an old object was deleted, perhaps after the creation of a new store (spec:
    RP-7)."""

    def __init__(self) -> None:
        self._present: dict[str, int] = {}

    def created(self, event: StoreCreated) -> None:
        """Note that a store was created again."""
        self._present[event.store] = event.directory_object

    def ends_store(self, event: StoreDeleted) -> bool:
        """Return whether the present object was deleted, not one that another has replaced."""
        return event.directory_object >= self._present.get(event.store, 0)
