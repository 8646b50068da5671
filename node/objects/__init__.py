"""Versions of messages and folders: made here, applied from mail, in conflict, deleted, expired.

Imported by: `node.mail`, `node.agent`.
Public: `local_changes`, `apply_versions`, `apply_folders`, `conflict_age`, `expiry`, `tombstones`.
"""
