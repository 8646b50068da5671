"""What a store sends: broadcasts, backfill responses, notices, and the mail of users that becomes posts.

Imported by: `node.agent`, `node.store`.
Public: `broadcast`, `backfill_responses`, `user_mail`, `suspension`.
"""
