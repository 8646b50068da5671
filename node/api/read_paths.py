"""The reads of a store that HTTP offers: one table for the routes (`node.api.reads`) and for clients in Python
(`pflab.lab.remote_node`).

The method of `StoreReader` declares a read's parameters, result and description; this table adds only its path. To offer
another read over HTTP, write the method, name its path here, and document its route in `node.api`.
"""

from __future__ import annotations

import inspect
from typing import Any, Final
from urllib.parse import quote

from node.reads import StoreReader

MOST_LISTED: Final = 10_000
"""The largest number of messages that one request lists."""


class HttpRead:
    """One read: `path` is below `/nodes/{name}`, and parameters that are not in the path are in the query."""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path
        declared = getattr(StoreReader, name)
        self.says: str = declared.__doc__
        self.signature = inspect.signature(declared, eval_str=True)
        self.kind: Any = self.signature.return_annotation

    def target(self, *positional: object, **named: object) -> str:
        """Return the path and query of a request with these arguments. None is left out."""
        bound = self.signature.bind(None, *positional, **named)
        bound.apply_defaults()
        _, *arguments = bound.arguments.items()
        texts = {name: quote(str(value), safe="") for name, value in arguments if value is not None}
        query = "&".join(f"{name}={text}" for name, text in texts.items() if f"{{{name}}}" not in self.path)
        return self.path.format_map(texts) + ("?" + query if query else "")


READS: Final = {
    name: HttpRead(name, path)
    for name, path in (
        ("folders", "/folders"),
        ("versions", "/versions"),
        ("retained", "/retained"),
        ("body", "/messages/{message}/body"),
        ("mail", "/messages/{message}/mail"),
        ("state", "/state"),
        ("replication_status", "/replication-status"),
        ("instances", "/instances"),
        ("sources", "/sources"),
        ("backfill", "/backfill"),
        ("knowledge", "/knowledge"),
        ("directory", "/directory"),
        ("setting_views", "/settings/details"),
        ("queue", "/queue"),
        ("frozen_queues", "/frozen-queues"),
        ("queued_mail", "/queue/{row}"),
        ("bad_mail", "/bad-mail"),
        ("event_log", "/log"),
        ("mailbox", "/mailbox"),
        ("mailbox_mail", "/mailbox/{notice}"),
    )
}
