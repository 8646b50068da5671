"""Faults: what can go wrong with a mail, a link or a server, and the plan that decides where it happens.

Imported by: the labs, scenarios and campaigns.
Public: `fault`, `fault_plan`, `mail_capture`.
"""
