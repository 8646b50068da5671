"""Checks and campaigns in tasks of Spark, and what does not depend on how Spark divides the work."""
