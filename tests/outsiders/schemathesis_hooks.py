"""What schemathesis must know about pflab beyond its OpenAPI document. schemathesis loads this file; see schemathesis.toml."""

from __future__ import annotations

import itertools
from typing import Any

import schemathesis
from hypothesis import strategies as st
from schemathesis import Case, CheckContext, HookContext, Response
from schemathesis.generation import GenerationMode

STORES_KNOW: frozenset[str] = frozenset({"Misuse", "KeyReused", "MailRefused", "CodecError"})
"""Refusals with 422 that a schema cannot foresee: only the store knows its servers, the grammar of a schedule, or whether a
mail can be read."""

GRAMMARS: tuple[str, ...] = (
    "is not a duration",
    "must be longer than zero",
    "is too long; at most",
    "cannot happen at an SMTP verb",
    "is not a verb of an SMTP dialogue",
    "allowed only with tarpit",
    "no mail travels from",
    "cannot be given together with between",
    "needs two ends",
)
"""Parts of refusals of a fault that a schema cannot foresee: the grammar of a text, and fields that do not fit together."""

MAILS = st.builds(
    lambda subject, body: f"From: kim@contoso.test\r\nSubject: {subject}\r\n\r\n{body}\r\n".encode(),
    st.text(st.characters(codec="ascii", exclude_categories=("C",)), max_size=60),
    st.text(max_size=200),
)
schemathesis.openapi.media_type("message/rfc822", st.one_of(MAILS, st.binary(max_size=200)))
schemathesis.openapi.media_type("application/vnd.sqlite3", st.binary(max_size=200))

_numbers = itertools.count(1)


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    """Give each change a key of its own, as the API asks for: schemathesis would use one key for several requests."""
    key = "Idempotency-Key"
    if case.headers and isinstance(given := case.headers.get(key), str) and 1 <= len(given) <= 190:
        case.headers[key] = f"{given}-{next(_numbers)}"


@schemathesis.check
def valid_requests_are_understood(ctx: CheckContext, response: Response, case: Case) -> None:
    """No request that fits the document is refused as one that does not fit it."""
    if response.status_code != 422 or case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    refusal = response.json()
    if case.operation.path == "/lab/faults" and any(words in refusal["detail"] for words in GRAMMARS):
        return
    assert refusal["type"].removeprefix("urn:pflab:") in STORES_KNOW, response.text
