"""Verbs about messages and mail: post, edit, delete, recover, resolve, messages, send, mailbox, queue, export.

Imported by: `pflab.cli.app`, which finds a verb by the name of its module.
"""
