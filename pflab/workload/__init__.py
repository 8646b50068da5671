"""Work for a lab: seeded load at a rate, and mail files in and out.

Imported by: the command line and the server.
Public: `load`, `mail_files`, `mail_transfer`.
"""
