"""The oracle: what every store must have, computed from acknowledged changes. It shares no code with the agent (CV-2).

Imported by: campaigns, scenarios and the command line.
Public: `oracle`, `judge`, `convergence_bound`.
"""
