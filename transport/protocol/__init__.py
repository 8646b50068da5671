"""What servers tell each other beside the content of a mail: bytes in, bytes out.

Imported by: the MTA, both ends of SMTP, the simulator and the fault plan.
Public: `hop_headers`, `link_state`, `auth`, `xexch50`, `fault_points`.
"""
