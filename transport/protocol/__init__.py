"""The bytes that servers exchange in addition to the content of a mail: encoding and decoding, no I/O.

Imported by: the MTA, both ends of SMTP, the simulator and the fault plan.
Public: `hop_headers`, `link_state`, `auth`, `xexch50`, `fault_points`.
"""
