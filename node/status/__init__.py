"""Statuses and status requests: how stores learn what other stores have.

Imported by: `node.replicas`, `node.agent`, `node.administration`.
Public: `statuses`, `responders`.
"""
