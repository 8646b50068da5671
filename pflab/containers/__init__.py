"""The lab in containers: nodes that Docker keeps alive, the coordinator that manages them, snapshots and the compose file.

Imported by: the command line.
Public: `managed_lab`, `compose_file`, `snapshots`.
"""
