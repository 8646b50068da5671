"""A client of a running lab, with which other programs post, inject faults, wait and read.

It needs only the standard library.

Public names: `CHECK_S`, `Client`, `ClientError`, `RequestOptions`, `UNHEARD`, `quoted`, `url_at`.
"""

from pflab.client.client import Client
from pflab.client.requests import CHECK_S, UNHEARD, ClientError, RequestOptions, quoted, url_at

__all__ = ["CHECK_S", "UNHEARD", "Client", "ClientError", "RequestOptions", "quoted", "url_at"]
