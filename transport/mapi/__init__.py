"""MAPI properties and what is built of them: items, TNEF streams, MDBEF and the system message of a replication mail.

Imported by: `transport.mime`, and the codec of `node`.
Public: `properties`, `item`, `tnef`, `mdbef`, `system_message`.
"""
