"""The host of a node: the part that has sockets, mails in flight and a clock.

Imported by: `node.api`, `node.process`, and the drivers of `pflab`.
Public: `host` (class `Host`), `clock` (class `LabClock`).
"""
