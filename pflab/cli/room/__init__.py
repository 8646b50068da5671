"""The verb `pflab class`: it serves a class on the network, and prints the addresses of the trainer and of the pupils.

Imported by: `pflab.cli.app`, by name.
Public: `verb.class_`.
"""
