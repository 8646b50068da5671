"""Backfill: the array of missing numbers, the choice of sources, requests, and the responses to the requests of other stores.

Imported by: the folders above it, from `node.broadcasts` to `node.store`.
Public: `array`, `rows` (the tables), `sources`, `responses`, `suspension`.
"""
