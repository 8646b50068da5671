"""Versions of messages and folders: made here, applied from mail, in conflict, deleted, expired.

Imported by: all folders between `node.mail` and `node.store`.
Public: `local_changes`, `apply_versions`, `apply_folders`, `conflict_age`, `expiry`, `tombstones`.
"""
