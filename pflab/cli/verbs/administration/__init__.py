"""Verbs of administrators: folder, content, replicas, resend, synchronize, settings, directory, analyze.

Imported by: `pflab.cli.app`, which finds a verb by the name of its module.
"""
