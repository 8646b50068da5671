"""A client of a running lab: everything that a program outside pflab needs to post, inject faults, wait and read.

This package needs the standard library only. Users import `pflab.client`; nothing of pflab imports users' code.

Public names: `Client`, `ClientError`, `UNHEARD`, `quoted`, `url_at`.
"""

from pflab.client.client import Client
from pflab.client.requests import UNHEARD, ClientError, quoted, url_at

__all__ = ["UNHEARD", "Client", "ClientError", "quoted", "url_at"]
