"""What administrators order a store to do: change folders and replicas, delete stores, send changes again, request statuses.

Imported by: `node.store`.
Public: `folder_changes` (one folder), `subtrees` (many folders), `orders`, `store_deletion`.
"""
