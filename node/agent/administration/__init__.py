"""What administrators order a store to do: send changes again, request statuses, change the replicas of many folders.

`node.store.node` calls these functions. The changes of a single folder are in `node.agent.folder_admin`.
"""
