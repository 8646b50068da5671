"""The arguments of changes in JSON: what is accepted, and what a mistake says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from node.api.changes.arguments import python_arguments
from node.api.changes.table import CHANGES
from node.api.routing import reading
from node.api.routing.reading import MOST_MISTAKES, Wrong
from node.views import Post
from topology.arguments import MOST_BODY_LETTERS, MOST_DAYS, MOST_LETTERS, MOST_NAMES, MOST_POSTS


def read(change: str, body: object) -> dict[str, Any]:
    return read_bytes(change, json.dumps(body).encode())


def read_bytes(change: str, content: bytes) -> dict[str, Any]:
    kind = CHANGES[change].body
    assert kind is not None
    return python_arguments(reading.read(content, kind))


def mistakes(change: str, body: object) -> list[str]:
    with pytest.raises(Wrong) as caught:
        read(change, body)
    return str(caught.value).split("; ")


def test_arguments_are_as_the_method_takes_them() -> None:
    """Files are pairs of name and bytes, messages are posts, and what is null or missing is left out or has its default."""
    files = [{"name": "a", "content": "AAE="}]
    assert read("post", {"folder": "P", "subject": "x", "attachments": files})["attachments"] == (("a", b"\0\1"),)
    batch = read("post_batch", {"folder": "P", "messages": [{"subject": "x", "attachments": files}, {"subject": "y"}]})
    assert batch["messages"] == (Post("x", attachments=(("a", b"\0\1"),)), Post("y"))
    assert read("edit", {"subject": None, "body": ""}) == {"body": ""}
    assert read("create_folder", {"path": "P", "priority": "urgent"}) == {"path": "P", "priority": "urgent"}
    assert CHANGES["delete"].body is None


def test_what_json_means_is_accepted() -> None:
    """7.0 is the whole number 7, and base64 may be in lines, also together."""
    assert read("send_again", {"folder": "P", "days": 7.0}) == {"folder": "P", "days": 7}
    lines = {"name": "a", "content": "AA\r\nE=\n"}
    assert read("post", {"folder": "P", "subject": "x", "attachments": [lines]})["attachments"] == (("a", b"\0\1"),)


@pytest.mark.parametrize(
    ("change", "body", "words"),
    [
        ("post", [], 'body: "[]" is not an object'),
        ("post", {"subject": "x"}, "folder: missing"),
        ("post", {"folder": "P", "subject": 1}, 'subject: "1" is not a text'),
        ("post", {"folder": "P", "subject": "x", "associated": 1}, 'associated: "1" is not true or false'),
        ("post", {"folder": "P", "subject": "x" * (MOST_LETTERS + 1)}, f"subject: too long; at most {MOST_LETTERS} c"),
        ("post", {"folder": "P", "subject": "\ud800"}, "subject: not Unicode"),
        (
            "post",
            {"folder": "P", "subjekt": "x", "subject": "x"},
            'subjekt: there is no such field; did you mean "subject"',
        ),
        (
            "post",
            {"folder": "P", "subject": "x", "attachments": [{"name": "a", "content": "?"}]},
            "attachments.0.content: ",
        ),
        ("post", {"folder": "P", "subject": "x", "attachments": [["a", "AA=="]]}, "attachments.0: "),
        ("edit", {"body": "x" * (MOST_BODY_LETTERS + 1)}, "body: too long"),
        ("post_batch", {"folder": "P", "messages": []}, "messages: too few entries; at least 1"),
        (
            "post_batch",
            {"folder": "P", "messages": [{"subject": "x"}] * (MOST_POSTS + 1)},
            "messages: too many entries",
        ),
        ("post_batch", {"folder": "P", "messages": [{}]}, "messages.0.subject: missing"),
        ("create_folder", {"path": "P", "replicas": ["A"] * (MOST_NAMES + 1)}, "replicas: too many entries"),
        ("create_folder", {"path": "P", "priority": "high"}, "write 'not urgent', 'normal' or 'urgent'"),
        ("send_again", {"folder": "P", "days": True}, 'days: "true" is not a whole number'),
        ("send_again", {"folder": "P", "days": 0}, 'days: "0" is too small; at least 1'),
        ("send_again", {"folder": "P", "days": MOST_DAYS + 1}, "is too large"),
        ("send_again", {"folder": "P", "days": 1.5}, 'days: "1.5" is not a whole number'),
        ("send_again", {"folder": "P", "days": 10**400}, ""),
    ],
)
def test_a_mistake_says_where_it_is_and_what_would_be_right(change: str, body: object, words: str) -> None:
    """Each limit and each type of an argument has its words, the same for HTTP whatever the library says."""
    assert words in "; ".join(mistakes(change, body))


def test_few_mistakes_are_named() -> None:
    """A body with a thousand mistakes gets a short answer."""
    assert len(mistakes("post", {f"x{number}": 0 for number in range(1000)})) < 3 * MOST_MISTAKES


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b'{"days": ' + b"1" * 10_000 + b"}"])
def test_what_is_no_json_is_refused_in_one_line(content: bytes) -> None:
    """Bytes that are no JSON, or JSON that cannot be read, are a mistake of the request, not of pflab."""
    with pytest.raises(Wrong) as caught:
        read_bytes("send_again", content)
    assert str(caught.value).startswith("body: ") and "\n" not in str(caught.value)
