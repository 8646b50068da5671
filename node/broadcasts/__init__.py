"""Broadcasts: the cycles in which a store sends its new changes, and changes that an administrator has sent again.

Imported by: `node.replicas`, `node.agent`, `node.administration`, `node.store`.
Public: `cycles`, `resend`.
"""
