"""What is remembered of a store goes back with its backup: as it stood then, or nothing where the store begins as new
(RP-4, DL-4).

Whoever keeps something by store in a dict lets it follow; keys are stores, or tuples that begin with one.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from traces.events import BackupMade, BackupRestored, NodeStarted


class Backups:
    def __init__(self) -> None:
        self._followed: list[MutableMapping[Any, Any]] = []
        self._copies: dict[str, list[dict[Any, Any]]] = {}
        self._next: dict[str, str] = {}

    def follow(self, mapping: MutableMapping[Any, Any]) -> None:
        """From now on what it holds of a store is kept at each backup, and put back at each restore."""
        self._followed.append(mapping)

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
        nothing: list[dict[Any, Any]] = [{} for _ in self._followed]
        copies = self._copies[backup] if backup is not None and event.reason == "restored" else nothing
        for mapping, copy in zip(self._followed, copies, strict=True):
            for key in [key for key in mapping if _store_of(key) == event.node]:
                del mapping[key]
            mapping.update({key: _copied(value) for key, value in copy.items()})


def _store_of(key: Any) -> Any:
    return key[0] if isinstance(key, tuple) else key


def _copied(value: Any) -> Any:
    """Collections anew, what is in them as it is: events, texts and numbers never change."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, set | list):
        return type(value)(value)
    return value
