"""Whether the events of a trace agree with each other: the facts that several of them state, and the order in which they come.

Imported by: `analytics.evidence.tables`; `analytics.rules.agreement`.
Public: `facts` and `lifecycles`, tables to extend; `fields`, what each field is worth; `statements`; `node_facts`.
"""
