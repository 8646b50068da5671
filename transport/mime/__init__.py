"""Mails as RFC 5322 text: header fields, parts, body encodings, and the conversion between a mail and an item.

Imported by: the MTA, both ends of SMTP, and `node`.
Public: `message`, `headers`, `item_conversion`, `describe`, `tamper`.
"""
