"""Routes as a table: each has a method, a path, and a function that answers; an index finds the route of a request.

    FOLDERS = Routes[Hosts]("/nodes/{name}", tag="folders")

    @FOLDERS.get("/count")
    async def count(hosts: Hosts, name: Name, folder: FolderQuery) -> Response: ...

A route is declared once, when its module is loaded. An application serves it with its own subject, the function's first
argument. The docstring of the function is the route's text in the documentation.

A part of a path is a word, `{name}` for one part, or `{name:path}` for any number of parts. A word goes before `{name}`, and
both before `{name:path}`; among the paths with `{name:path}`, the one that was declared first.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final, Generic, NamedTuple, TypeVar

from node.api.asgi import App, Response
from node.api.routing.parameters import Parameters

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")

S = TypeVar("S")
Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Response]])

_FIELD: Final = re.compile(r"\{([a-z_]+)(:path)?\}")


@dataclass(frozen=True)
class Route:
    """One route.

    name: in the documentation, and for the id of its operation.
    text: what it does, for the documentation.
    status: of its answer if nothing goes wrong.
    answers: the documentation of its answers by status.
    body: the documentation of a body that no parameter gets.
    schema: what the schema of a body in JSON has beside what its type says.
    shown: whether the documentation lists it.
    check: called with the subject and the method before the function; raises an error if the subject takes no such request.
    """

    method: str
    path: str
    function: Callable[..., Awaitable[Response]]
    signature: inspect.Signature | None
    name: str
    tag: str
    text: str
    status: int = HTTPStatus.OK
    answers: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    schema: Mapping[str, Any] = field(default_factory=dict)
    shown: bool = True
    check: Callable[[Any, str], None] | None = None

    @cached_property
    def in_path(self) -> tuple[str, ...]:
        """The names of the parameters in the path, in its order."""
        return tuple(name for name, _ in _FIELD.findall(self.path))

    @cached_property
    def parameters(self) -> Parameters:
        return Parameters(self.signature or inspect.signature(self.function, eval_str=True), self.in_path)

    @property
    def shown_path(self) -> str:
        """The path as OpenAPI writes it."""
        return self.path.replace(":path}", "}")


class Routes(Generic[S]):
    """Routes of one subject below a common path."""

    def __init__(
        self,
        prefix: str = "",
        *,
        tag: str = "more",
        shown: bool = True,
        answers: Mapping[int, Mapping[str, Any]] | None = None,
        check: Callable[[S, str], None] | None = None,
    ) -> None:
        self._prefix = prefix
        self._common: dict[str, Any] = {"tag": tag, "shown": shown, "check": check}
        self._answers = answers or {}
        self._routes: list[Route] = []

    def get(self, path: str, **about: Any) -> Callable[[Handler], Handler]:
        """Declare the route of a function.

        about: fields of Route.
        """
        return self._declare("GET", path, about)

    def post(self, path: str, **about: Any) -> Callable[[Handler], Handler]:
        """Declare the route of a function, as `get` does."""
        return self._declare("POST", path, about)

    def put(self, path: str, **about: Any) -> Callable[[Handler], Handler]:
        """Declare the route of a function, as `get` does."""
        return self._declare("PUT", path, about)

    def patch(self, path: str, **about: Any) -> Callable[[Handler], Handler]:
        """Declare the route of a function, as `get` does."""
        return self._declare("PATCH", path, about)

    def delete(self, path: str, **about: Any) -> Callable[[Handler], Handler]:
        """Declare the route of a function, as `get` does."""
        return self._declare("DELETE", path, about)

    def _declare(self, method: str, path: str, about: dict[str, Any]) -> Callable[[Handler], Handler]:
        def declared(function: Handler) -> Handler:
            self.add(method, path, function, **about)
            return function

        return declared

    def add(self, method: str, path: str, function: Callable[..., Awaitable[Response]], **about: Any) -> None:
        """Declare the route of a function.

        about: fields of Route. The defaults of `signature`, `name` and `text` come from the function.
        """
        named = {"signature": None, "name": function.__name__, "text": inspect.cleandoc(function.__doc__ or "")}
        options = {**self._common, **named, **about}
        options["answers"] = {**self._answers, **about.get("answers", {})}
        self._routes.append(Route(method, self._prefix + path, function, **options))

    def serving(self, subject: Callable[[], S]) -> list[Served]:
        """Return the routes as an application serves them.

        subject: returns what the functions get as their first argument; called for each request.
        """
        return [Served(route, subject) for route in self._routes]

    def forwarded(self, forward: App) -> list[Served]:
        """Return the routes as an application serves them that passes their requests on."""
        return [Served(route, None, forward) for route in self._routes]


class Served(NamedTuple):
    """A route in an application: it calls the route's function with a subject, or passes the request on."""

    route: Route
    subject: Callable[[], Any] | None
    forward: App | None = None


class Found(NamedTuple):
    """The route of a request, and the parts of its path by name."""

    served: Served
    in_path: Mapping[str, str]


class _Step:
    """A place in the tree of paths: the next words, the next `{name}`, and the routes that end here by method."""

    def __init__(self) -> None:
        self.words: dict[str, _Step] = {}
        self.field: _Step | None = None
        self.ends: dict[str, Served] = {}


class RouteIndex:
    """Finds the route of a request."""

    def __init__(self, served: Iterable[Served]) -> None:
        self._root = _Step()
        self._wild: list[tuple[re.Pattern[str], Served]] = []
        for entry in served:
            self._add(entry)

    def _add(self, entry: Served) -> None:
        path = entry.route.path
        if ":path}" in path:
            parts = _FIELD.split(path)  # words, name, kind, words, name, kind, words
            pattern = re.escape(parts[0])
            for name, kind, words in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
                pattern += f"(?P<{name}>{'.*' if kind else '[^/]+'}){re.escape(words)}"
            self._wild.append((re.compile(pattern), entry))
            return
        step = self._root
        for part in path.split("/"):
            if _FIELD.fullmatch(part):
                step.field = step.field or _Step()
                step = step.field
            else:
                step = step.words.setdefault(part, _Step())
        step.ends.setdefault(entry.route.method, entry)

    def find(self, method: str, path: str) -> Found | None:
        """Return the route; None if there is none for this method and path."""
        return next((candidate for candidate in self._at(path) if candidate.served.route.method == method), None)

    def methods(self, path: str) -> list[str]:
        """Return the methods that a path supports."""
        supported = {candidate.served.route.method for candidate in self._at(path)}
        return [method for method in METHODS if method in supported]

    def _at(self, path: str) -> Iterator[Found]:
        """Yield the routes of a path. A word in a route's path hides the fields of other routes at its place."""
        ends, values = next((end for end in _ends(self._root, path.split("/"), 0, ()) if end[0]), ({}, ()))
        for entry in ends.values():
            yield Found(entry, dict(zip(entry.route.in_path, values, strict=True)))
        for pattern, entry in self._wild:
            match = pattern.fullmatch(path)
            if match is not None:
                yield Found(entry, match.groupdict())


def _ends(
    step: _Step, parts: list[str], number: int, values: tuple[str, ...]
) -> Iterator[tuple[dict[str, Served], tuple[str, ...]]]:
    if number == len(parts):
        yield step.ends, values
        return
    part = parts[number]
    if part in step.words:
        yield from _ends(step.words[part], parts, number + 1, values)
    if step.field is not None and part:
        yield from _ends(step.field, parts, number + 1, (*values, part))
