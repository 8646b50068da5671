"""Reading a fault that people wrote: every mistake has a place, and words for what is wrong and what would be right."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from node.api.routing.reading import Wrong, read, read_value
from pflab.faults.fault import INJECTABLE, KINDS, AnyFault, Cut, Delay, InjectableFault, Lose, Smtp
from pflab.faults.schemas import schema_of


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("lose", {"cuont": 1}, "cuont: there is no such field; did you mean"),
        ("lose", {"count": 0}, "count: .* too small; at least 1"),
        ("lose", {"type": "letter"}, "type: .* not known here; write 'hierarchy', 'content'"),
        ("lose", {"from": "A", "to": "A"}, "to: no mail travels from A to itself"),
        ("lose", {"link": ["A"]}, "link: too few entries; at least 2"),
        ("delay", {"by": "0 s"}, "by: must be longer than zero, not 0 s; write for example 20 min"),
        ("delay", {"by": "soon"}, "by: 'soon' is not a duration"),
        ("delay", {"by": "500 d"}, "by: 500 d is too long; at most 400 d"),
        ("cut", {}, "between: missing; a cut needs two ends"),
        ("cut", {"between": ["A", "B"], "connector": "WAN"}, "connector: cannot be given together with between"),
        ("cut", {"connector": "WAN", "one_way": True}, "one_way: a cut in one direction needs two ends"),
        ("hold", {"to": "B"}, "lasts: missing"),
        ("smtp", {"verb": "NOOP", "does": "451"}, 'verb: "NOOP" is not known here; write .connect., .EHLO.'),
        *(
            (
                "smtp",
                {"verb": "MAIL", "does": wrong},
                f"does: {wrong!r} cannot happen at an SMTP verb".replace("\\", "\\\\"),
            )
            for wrong in ("200", "later", "45", "451\r\nx")
        ),
        ("smtp", {"verb": "MAIL", "does": "451", "by": "5 min"}, "by: allowed only with tarpit"),
        ("unstamp", {}, "server: missing"),
        ("skew", {"server": "A", "by": "0 s"}, "by: must be longer than zero"),
    ],
)
def test_each_mistake_has_words(kind: str, given: dict[str, Any], words: str) -> None:
    """A wrong field or combination is refused in one line: the field, what is wrong, what would be right."""
    with pytest.raises(Wrong, match=f"^{words}"):
        read_value({"kind": kind, **given}, KINDS[kind])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "body: invalid JSON at character 1"),
        (b"[]", "body: .* is not an object"),
        (b"{}", "kind: missing; write 'lose', 'alter', "),
        (b'{"kind": "loose"}', "kind: \"loose\" is not known here; write 'lose', 'alter', "),
        (b'{"kind": "kill", "server": "A"}', 'kind: "kill" is not known here'),
        (b'{"kind": "lose", "cuont": 1}', 'cuont: there is no such field; did you mean "count"'),
        (b'{"kind": "cut"}', "between: missing; a cut needs two ends"),
    ],
)
def test_a_request_names_a_kind(content: bytes, words: str) -> None:
    """Only a kind that users can inject is read, with its own fields."""
    with pytest.raises(Wrong, match=f"^{words}"):
        read(content, InjectableFault)


def test_a_fault_is_the_same_in_json() -> None:
    """Encoding and decoding a fault returns the same fault."""
    faults = (
        Lose(from_="A", type="status", count=3),
        Delay(link=["A", "B"], by="1 h"),
        Cut(between=["A", "B"], one_way=True),
        Smtp(verb="rcpt", does="550 no such user", connector="WAN"),
    )
    for fault in faults:
        content = msgspec.json.encode(fault)
        assert read(content, InjectableFault) == fault == msgspec.json.decode(content, type=AnyFault)


def test_each_kind_has_a_description_and_each_field_a_type() -> None:
    """Forms, help and documentation come from the schema of a kind, so nothing in it is empty."""
    for name, kind in INJECTABLE.items():
        schema = schema_of(kind)
        assert schema["description"].endswith("."), name
        for field, described in schema["properties"].items():
            assert field == "kind" or "type" in described or "enum" in described, (name, field)
