"""MAPI properties, and the formats that consist of them: items, TNEF streams, MDBEF, and the system message of a mail.

Imported by: `transport.mime`, and the codec of `node`.
Public: `properties`, `item`, `tnef`, `mdbef`, `system_message`.
"""
