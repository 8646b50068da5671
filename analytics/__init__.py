"""Verdicts from the traces alone: segments -> bronze -> silver -> evidence -> gold, on Spark.

It reads what `traces` defines and imports nothing else of the project. It asks no node, and it does not trust what a node
derived. It computes what a store has from the changes made and the versions applied there, and what the store must have from
the acknowledged changes (CV-1, CV-2).
"""
