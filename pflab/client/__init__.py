"""A client of a running lab, with which other programs post, inject faults, wait and read.

It needs only the standard library.

Public names: `Client`, `ClientError`, `UNHEARD`, `quoted`, `url_at`.
"""

from pflab.client.client import Client
from pflab.client.requests import UNHEARD, ClientError, quoted, url_at

__all__ = ["UNHEARD", "Client", "ClientError", "quoted", "url_at"]
