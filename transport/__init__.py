"""Mail: the codec of replication mails, the MTA (queues, routes, retry, expiry) and its SMTP sockets.

This floor knows bytes, addresses and property bags. It knows nothing of folders or of replication.
"""
