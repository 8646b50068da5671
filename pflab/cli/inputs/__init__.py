"""What a user names on the command line: files, run folders, examples that come with pflab, lessons.

Imported by: `pflab.cli` and its verbs.
"""
