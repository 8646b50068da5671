"""Whether the events of a trace agree with each other: the facts that several of them state, and the order in which they come.

Imported by: `analytics.evidence.evidence`.
Public: `facts` and `lifecycles`, tables to extend; `statements`.
"""
