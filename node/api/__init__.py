"""The HTTP API of a node: routes, bodies, access, and the server and client of HTTP.

Imported by: `node.process`, and the lab's server in `pflab`.
Public: `app`, `http_server`, `http_client`.
"""
