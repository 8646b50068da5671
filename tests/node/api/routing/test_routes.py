"""Routes: which one answers a request, and what its function gets."""

from __future__ import annotations

import json
from typing import Annotated

import pytest
from msgspec import Meta

from node.api.app import Api
from node.api.asgi import Response
from node.api.routing.dispatch import Answer, dispatch
from node.api.routing.openapi import document
from node.api.routing.parameters import Header
from node.api.routing.reading import Body
from node.api.routing.routes import RouteIndex, Routes
from node.api.values import json_response

THINGS = Routes[str]("/things", tag="things")
Size = Annotated[int, Meta(ge=0, le=9)]


class Order(Body, frozen=True, kw_only=True):
    """What to do. A hundred is the most that `size` may be over its double."""

    size: Size
    words: Annotated[list[str], Meta(max_length=2)] = []

    def __post_init__(self) -> None:
        if self.size == len(self.words):
            raise ValueError("size: as many as there are words")


@THINGS.get("/all")
async def all_of_them(owner: str) -> Response:
    """Return all."""
    return json_response([owner, "all"])


@THINGS.get("/{name}")
async def one(owner: str, name: str, size: Size = 1, is_open: bool = False, to: list[str] = []) -> Response:  # noqa: B006 - never changed
    """Return one."""
    return json_response([owner, name, size, is_open, to])


@THINGS.put("/{name}")
async def put(owner: str, name: str, order: Order) -> Response:
    """Put one."""
    return json_response([owner, name, order.size, order.words])


@THINGS.post("/{name}")
async def post(owner: str, name: str, order: Order | None = None) -> Response:
    """Post one, with an order or without."""
    return json_response([owner, name, order and order.size])


@THINGS.get("/{path:path}/parts/{part}")
async def part(
    owner: str, path: str, part: str, from_: str, key: Annotated[str | None, Header("X-Key")] = None
) -> Response:
    """Return a part."""
    return json_response([owner, path, part, from_, key])


@THINGS.get("/{path:path}")
async def anything(owner: str, path: str) -> Response:
    """Return anything."""
    return json_response([owner, "anything", path])


APP = Api(THINGS.serving(lambda: "kim"))


async def asked(method: str, target: str, body: object = None, **headers: str) -> Answer:
    content = b"" if body is None else json.dumps(body).encode()
    return await dispatch(
        APP, method, target, content, {name.replace("_", "-"): text for name, text in headers.items()}
    )


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("/things/all", ["kim", "all"]),
        ("/things/a%20b", ["kim", "a b", 1, False, []]),
        ("/things/x?size=7&is_open=true&to=a&to=b&unknown=1", ["kim", "x", 7, True, ["a", "b"]]),
        ("/things/a/b/parts/c?from=d", ["kim", "a/b", "c", "d", None]),
        ("/things/a/b/c", ["kim", "anything", "a/b/c"]),
        ("/things/", ["kim", "anything", ""]),
    ],
)
async def test_a_request_finds_its_route(target: str, answer: list[object]) -> None:
    """A word goes before a name, a name before any number of parts, and texts become values of the parameters' types."""
    got = await asked("GET", target)
    assert (got.status, json.loads(got.body)) == (200, answer)


async def test_a_header_field_is_a_parameter() -> None:
    """A parameter that is marked with the name of a header field gets its text."""
    assert json.loads((await asked("GET", "/things/a/parts/c?from=d", X_Key="k")).body)[-1] == "k"


@pytest.mark.parametrize(
    ("method", "target", "body", "status", "words"),
    [
        ("GET", "/things/x?size=10", None, 422, 'size: "10" is too large; at most 9'),
        ("GET", "/things/x?size=many&is_open=perhaps", None, 422, 'is_open: "perhaps" is not true or false'),
        ("GET", f"/things/x?size={'9' * 200}", None, 422, "is too large; at most 9"),
        ("GET", "/things/x?size=", None, 422, "is not a whole number"),
        ("GET", "/things/a/parts/c", None, 422, "from: missing; this field must be given"),
        ("PUT", "/things/x", None, 422, "body: missing"),
        ("PUT", "/things/x", {"size": True}, 422, 'size: "true" is not a whole number'),
        ("PUT", "/things/x", {"sise": 1}, 422, 'sise: there is no such field; did you mean "size"?'),
        ("PUT", "/things/x", {"size": 2, "words": ["a", "b", "c"]}, 422, "words: too many entries; at most 2"),
        ("PUT", "/things/x", {"size": 1, "words": ["a"]}, 422, "size: as many as there are words"),
        ("PATCH", "/things/x", {}, 405, "this path does not support that method"),
        ("GET", "/nothing", None, 404, "there is nothing at this path"),
    ],
)
async def test_a_mistake_is_one_line_of_words(method: str, target: str, body: object, status: int, words: str) -> None:
    """A request that no function can answer gets a status and one line that says what would be right."""
    answer = await asked(method, target, body)
    assert answer.status == status
    assert words in json.loads(answer.body)["detail"]


async def test_a_body_is_json() -> None:
    """A body without the Content-Type of JSON is refused, because a page of another site can send that; it may be missing."""
    assert (await asked("POST", "/things/x", {"size": 1}, Content_Type="text/plain")).status == 415
    assert json.loads((await asked("POST", "/things/x", {"size": 1}, Content_Type="text/x+json")).body)["status"] == 415
    assert json.loads((await asked("POST", "/things/x", {"size": 1.0})).body) == ["kim", "x", 1]
    assert json.loads((await asked("POST", "/things/x")).body) == ["kim", "x", None]


async def test_a_path_tells_its_methods() -> None:
    """405 has the header Allow with the methods of every route that has the path."""
    assert (await asked("DELETE", "/things/x")).headers["allow"] == "GET, POST, PUT"


def test_the_document_is_made_of_the_signatures() -> None:
    """A parameter and its limits stand once, in the signature; so do the fields of a body."""
    paths = document((entry.route for entry in THINGS.serving(lambda: "")), title="t", description="d")["paths"]
    size = next(entry for entry in paths["/things/{name}"]["get"]["parameters"] if entry["name"] == "size")
    assert size == {
        "name": "size",
        "in": "query",
        "required": False,
        "schema": {"type": "integer", "minimum": 0, "maximum": 9, "default": 1},
    }
    content = paths["/things/{name}"]["put"]["requestBody"]["content"]["application/json"]
    assert content["schema"]["required"] == ["size"]
    assert {entry["in"] for entry in paths["/things/{path}/parts/{part}"]["get"]["parameters"]} == {
        "path",
        "query",
        "header",
    }


def test_a_route_may_be_passed_on() -> None:
    """An application that passes requests on needs the table of routes only, and no subject."""

    async def forward(_scope: object, _receive: object, _send: object) -> None: ...

    found = RouteIndex(THINGS.forwarded(forward)).find("GET", "/things/all")
    assert found is not None
    assert found.served.forward is forward
