"""Ordinary mail at a store: it becomes posts or goes to people, and the store writes notices to people.

Imported by: `node.replicas`, `node.agent`, `node.store`.
Public: `deliveries` (mail that arrives), `letters` (mail that the store writes), and a module for each kind of notice.
"""
