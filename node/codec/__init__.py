"""Items and replication messages as bytes, and the signatures and certificates of the lab's authority.

Imported by: `node.state` and everything above.
Public: `items`, `replication_message`, `signing`, `certificates`.
"""
