"""The mail transfer agent: queues, routes, retries, the link monitor and non-delivery reports. It does no I/O.

Imported by: `node.store`, and whoever shows a queue.
Public: `mta` (class `Mta`), `link_monitor`, `retry_policy`.
"""
