"""What joins a store with the world: its sockets, its mails on their way, its clock.

Imported by: `node.api`, `node.process`, and the drivers of `pflab`.
Public: `host` (class `Host`), `clock` (class `LabClock`).
"""
