"""Public folders for mail programs: one IMAP listener for each store.

Needs the extra `imap` (pymap). So a driver imports `node.imap.listener` only when it is to serve IMAP, and nothing else does.

pymap speaks the protocol. The modules here give it folders as mailboxes below `#public`, and limit what a client may use up.
"""
