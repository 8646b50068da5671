"""Faults: what can go wrong with a mail, a link or a server, and the plan that decides where it does.

Imported by: the labs, scenarios and campaigns.
Public: `fault`, `fault_plan`, `link_faults`, `mail_capture`.
"""
