"""A store as an object: its life cycle, the transaction around each stimulus, its changes and its reads.

Imported by: `node.host`, `node.api`, `node.process`, and `pflab`.
Public: `node` (class `Node`), `queries` (class `StoreQueries`), `offline_reader`, `trace_export`.
"""
