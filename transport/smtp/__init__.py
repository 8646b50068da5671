"""Both socket ends of SMTP: the listener on aiosmtpd and the sender on aiosmtplib.

Imported by: `node.host`, `node.process` and the drivers of `pflab`; nobody else opens sockets.
Public: `listener`, `sender`, `limits`.
"""
