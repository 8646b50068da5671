"""Ordinary mail at a store: it becomes posts or goes to people, and the store writes notices to people.

Imported by: `node.replicas`, `node.agent`, `node.store`.
Public: `deliveries`, and a module for each kind of notice.
"""
