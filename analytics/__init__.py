"""Verdicts from the traces alone: segments -> bronze -> silver -> evidence -> gold, on Spark.

It reads what `traces` defines and imports nothing else of the project: no node is asked, and nothing that a node derived is
taken as true. What a store has is worked out anew from the changes made and the versions applied there, and what it must
have from the acknowledged changes (CV-1, CV-2).
"""
