"""What a program adds to the HTTP server of a lab: routes, and an application below a path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from node.api.asgi import App
from node.api.routing.routes import Served
from pflab.server.events import LabAt


@dataclass(frozen=True, slots=True)
class Extension:
    """Routes and an application that belong together.

    routes: the routes.
    path, app: where the application is mounted; it gets the requests that no route answers.
    errors: errors of the routes, and the status of the answer for each.
    lab_at: gives the labs that the application serves.
    close: ends what the routes have started; the program calls it after the HTTP server has stopped.
    """

    routes: Sequence[Served]
    path: str
    app: App
    errors: Mapping[type[Exception], int]
    lab_at: LabAt
    close: Callable[[], Awaitable[None]]
