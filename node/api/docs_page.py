"""The documentation at /docs: the OpenAPI document as one HTML page without scripts or links to other servers.

So it works on a machine without a network. Examples show what a request may contain.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from node.api.values import phrase_of

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Forbids the browser to load anything else, whatever the page contains."""

METHODS: Final = ("get", "post", "put", "patch", "delete")
STYLE: Final = """
body { font: 15px/1.45 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
code, pre { font: 13px/1.4 monospace } pre { background: #f4f4f2; padding: .6em; overflow-x: auto }
summary { cursor: pointer; padding: .25em 0 } summary b { display: inline-block; width: 4.5em }
details { border-bottom: 1px solid #ddd } details > div { margin: .3em 0 1em 4.5em }
td { padding: 0 1.2em .2em 0; vertical-align: top }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } pre { background: #2a2a2a } }
"""


def docs_page(document: Mapping[str, Any]) -> str:
    """Return the page for an OpenAPI document."""
    info = document["info"]
    title = escape(info["title"])
    return "\n".join(
        [
            f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>',
            f"<h1>{title}</h1>\n<p>{escape(info.get('description', ''))}</p>",
            '<p>For programs: <a href="/openapi.json">openapi.json</a>. Click a line to see its parameters and answers.</p>',
            *_sections(document),
            "</html>",
        ]
    )


def _sections(document: Mapping[str, Any]) -> Iterator[str]:
    by_tag: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                tag = (methods[method].get("tags") or ["more"])[0]
                by_tag.setdefault(tag, []).append(_operation(method, path, methods[method]))
    for tag, operations in by_tag.items():
        yield f"<h2>{escape(tag)}</h2>"
        yield from operations


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    about = escape(" ".join(operation.get("description", operation.get("summary", "")).split()))
    parts = [*_parameters(operation.get("parameters", ())), *_body(operation.get("requestBody"))]
    parts += [piece for status, answer in operation.get("responses", {}).items() for piece in _answer(status, answer)]
    inside = "\n".join(parts)
    return (
        f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code></summary>"
        f"<div><p>{about}</p>\n{inside}</div></details>"
    )


def _parameters(parameters: Any) -> Iterator[str]:
    rows = [
        f"<tr><td><code>{escape(parameter['name'])}</code><td>{escape(parameter['in'])}"
        f"<td>{'' if parameter.get('required') else 'optional'}<td>{escape(parameter.get('description', ''))}"
        for parameter in parameters
    ]
    if rows:
        yield f"<table>{''.join(rows)}</table>"


def _body(body: Mapping[str, Any] | None) -> Iterator[str]:
    for kind, content in (body or {}).get("content", {}).items():
        yield f"<p>Request body, {escape(kind)}:</p>{_shown(content['example']) if 'example' in content else ''}"


def _answer(status: str, answer: Mapping[str, Any]) -> Iterator[str]:
    phrase = phrase_of(int(status)) if status.isdigit() else status
    contents = answer.get("content", {})
    examples = [_shown(content["example"]) for content in contents.values() if "example" in content]
    # Errors are shown without examples, because all have the same form.
    yield f"<p>{escape(status)} {escape(phrase)}</p>{''.join(examples) if status.startswith('2') else ''}"


def _shown(example: Any) -> str:
    text = example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
    return f"<pre>{escape(text)}</pre>"
