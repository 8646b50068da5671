"""Organizations, as YAML, that several test modules use."""

from __future__ import annotations

TWO_STORES = """
servers: {A: , B: }
folders: {Projects: }
"""

THREE_STORES = """
servers: {A: , B: , C: }
folders:
  Projects: {replicas: [A, B, C]}
"""

THREE_STORES_AND_CONTACT = """
organization: Test
sites: [SEA]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: SEA}}
folders:
  Projects: {replicas: [A, B, C], contacts: [kim@test.test]}
"""

TWO_SITES = """
organization: Test
sites: [SEA, NYC]
connectors: [{name: SEA-NYC, between: [SEA, NYC], cost: 10}]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}}
folders:
  Projects: {replicas: [A, B, C]}
"""

FOUR_STORES_IN_TWO_SITES = """
sites: [SEA, NYC]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10, latency: 80 ms}
servers:
  A: {site: SEA}
  B: {site: SEA}
  C: {site: NYC}
  D: {site: NYC}
folders:
  Projects: {replicas: [A, B, C, D]}
"""

SIX_STORES = "servers: {A: , B: , C: , D: , E: , Z: }"

LATE_STORE = """
servers: {A: , B: , C: {joins: later}}
folders:
  Projects: {replicas: [A, B]}
"""

LATE_STORE_AND_SHORT_TOMBSTONES = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {}, E: {joins: later}}
settings: {Replication Folder Tombstone Age Limit: 1 d}
folders:
  P: {replicas: [A, B]}
"""

THREE_SITES = """
sites: [SEA, NYC, LON]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10}
  - {name: SEA-LON, between: [SEA, LON], cost: 3}
  - {name: LON-NYC, between: [LON, NYC], cost: 3, schedule: never}
servers:
  A: {site: SEA}
  B: {site: NYC}
  C: {site: LON}
folders:
  Projects: {replicas: [A, B, C]}
"""
