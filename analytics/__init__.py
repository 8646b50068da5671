"""Verdicts from the traces alone: segments -> bronze -> silver -> evidence -> gold, on Spark.

It reads what `traces` defines and imports nothing else of the project. It queries no node, and does not trust values
that a node derived. From the changes made and the versions applied at a store it computes what the store has. From the
acknowledged changes it computes what the store must have (CV-1, CV-2).
"""
