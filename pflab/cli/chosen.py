"""Which of a run's stores a verb is about."""

from __future__ import annotations

from pflab.cli.output import CommandError
from pflab.runread import RunReader
from topology.problems import did_you_mean


def chosen_stores(reader: RunReader, server: str | None) -> list[str]:
    """All stores that left a database, or the one asked for. Raises CommandError if there is none."""
    stores = reader.stores()
    if not stores:
        raise CommandError(f"{reader.path}: no databases here; a live run leaves them, a simulated one with --traces")
    if server is None:
        return stores
    if server not in stores:
        raise CommandError(f"--server {server}: no such server in this run; {did_you_mean(server, stores)}")
    return [server]
