"""Administrators change folders and connectors in the console."""
