"""Save and restore what invariants remember of a store, together with its backups.

When a store is restored, its state goes back to the backup, so what an invariant remembers of it must go back too (RP-4).
If the store begins as new, nothing is left (DL-4). An invariant makes each of its dicts with `follow`. The keys are
stores, or tuples that begin with a store.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, TypeVar

from traces.events import BackupMade, BackupRestored, NodeStarted

MappingT = TypeVar("MappingT", bound=MutableMapping[Any, Any])


class Backups:
    def __init__(self) -> None:
        self._followed: list[MutableMapping[Any, Any]] = []
        self._copies: dict[str, list[dict[Any, Any]]] = {}
        self._next: dict[str, str] = {}

    def follow(self, mapping: MappingT) -> MappingT:
        """Return the mapping. From now on, copy a store's entries in this dict at each backup, and put them back at each
        restore."""
        self._followed.append(mapping)
        return mapping

    def made(self, event: BackupMade) -> None:
        self._copies[event.backup] = [
            {key: _copied(mapping[key]) for key in mapping if _store_of(key) == event.store}
            for mapping in self._followed
        ]

    def restored(self, event: BackupRestored) -> None:
        self._next[event.store] = event.backup

    def started(self, event: NodeStarted) -> None:
        if event.reason == "restart":
            return
        backup = self._next.pop(event.node, None)
        empty_tables: list[dict[Any, Any]] = [{} for _ in self._followed]
        copies = self._copies[backup] if backup is not None and event.reason == "restored" else empty_tables
        for mapping, copy in zip(self._followed, copies, strict=True):
            for key in [key for key in mapping if _store_of(key) == event.node]:
                del mapping[key]
            mapping.update({key: _copied(value) for key, value in copy.items()})


def _store_of(key: Any) -> Any:
    return key[0] if isinstance(key, tuple) else key


def _copied(value: Any) -> Any:
    """Return a copy of collections; events, texts and numbers in them never change and are shared."""
    if isinstance(value, dict):
        return {key: _copied(element) for key, element in value.items()}
    if isinstance(value, set | list):
        return type(value)(value)
    return value
