"""Mail: the codec of replication mails, the MTA (queues, routes, retry, expiry) and its SMTP sockets.

This floor works on bytes, addresses and property bags. It knows nothing of folders or replication.
"""
