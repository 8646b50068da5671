"""The oracle: from acknowledged work to what every store must have. It shares no code with the agent (CV-2).

Imported by: campaigns, scenarios and the command line.
Public: `oracle`, `judge`, `convergence_bound`.
"""
