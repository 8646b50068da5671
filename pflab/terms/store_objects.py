"""Which directory object each store has, and which servers only show the store of another one, from the events of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traces.events import BackupElsewhere, StoreCreated, StoreDeleted


class StoreObjects:
    """A store that did not run learns late that an old object was deleted, perhaps after the creation of a new store (spec:
    RP-7).

    copies: the servers that only show the store of another one (spec: RP-8).
    """

    def __init__(self) -> None:
        self._present: dict[str, int] = {}
        self.copies: set[str] = set()

    def created(self, event: StoreCreated) -> None:
        """Note that a store was created again."""
        self._present[event.store] = event.directory_object
        self.copies.discard(event.store)

    def elsewhere(self, event: BackupElsewhere) -> None:
        """Note that a server shows the store of another one from now on, until a store is created for it."""
        self.copies.add(event.store)

    def ends_store(self, event: StoreDeleted) -> bool:
        """Return whether the present object was deleted, not one that another has replaced."""
        return event.directory_object >= self._present.get(event.store, 0)
