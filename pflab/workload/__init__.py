"""Work for a lab: seeded load at a given rate; import and export of mail files.

Imported by: the command line and the server.
Public: `load`, `mail_files`, `mail_transfer`, `mbox`.
"""
