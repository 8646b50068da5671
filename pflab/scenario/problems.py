"""Turn pydantic's errors into problems of the file: the line, what is wrong, and what would be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pflab.scenario.values import shown
from topology.file.yaml_source import YamlSource
from topology.problems import PathItem, Problem, did_you_mean, quoted

_RIGHT = {
    "string_type": ("is not text", "write a text, in quotes"),
    "string_too_short": ("is empty", "write a text"),
    "int_type": ("is not a whole number", "write a whole number"),
    "int_parsing": ("is not a whole number", "write a whole number"),
    "int_from_float": ("is not a whole number", "write a whole number"),
    "bool_type": ("is neither true nor false", "write true or false"),
    "bool_parsing": ("is neither true nor false", "write true or false"),
    "tuple_type": ("is not a list", "write a list such as [one, another]"),
    "too_short": ("is empty", "write at least one entry"),
}
"""For each error type of pydantic: what is wrong with the value, and what would be right."""


def problems_of(
    error: ValidationError, model: Any, source: YamlSource, at: Sequence[PathItem] = ()
) -> Iterator[Problem]:
    """Yield one problem for each mistake that `model` found in the value at the path `at` of the file."""
    first: dict[tuple[PathItem, ...], ErrorDetails] = {}
    for detail in error.errors():
        first.setdefault((*at, *_path(detail, source, at)), detail)
    for path, detail in first.items():
        # A union reports an error for each form. The error deeper in the file comes from the form that fits best.
        if not any(other[: len(path)] == path and len(other) > len(path) for other in first):
            yield _problem(path, detail, model, source)


def _path(detail: ErrorDetails, source: YamlSource, at: Sequence[PathItem]) -> tuple[PathItem, ...]:
    """Return the error's path in the file, without the steps that pydantic adds for the forms of a union."""
    value: Any = source.data
    for step in at:
        value = value[step]
    path: list[PathItem] = []
    for number, step in enumerate(detail["loc"]):
        is_last = number == len(detail["loc"]) - 1
        if (
            isinstance(value, dict)
            and isinstance(step, str)
            and (step in value or (is_last and detail["type"] == "missing"))
        ):
            path.append(step)
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            path.append(step)
            value = value[step]
    return tuple(path)


def _problem(path: tuple[PathItem, ...], detail: ErrorDetails, model: Any, source: YamlSource) -> Problem:
    kind = detail["type"]
    keys = _keys(model, detail["loc"])
    if kind == "missing":
        return source.problem(path[:-1], f"{quoted(path[-1])} is missing", f"the keys are {', '.join(keys)}")
    if kind == "extra_forbidden":
        return source.problem(
            path, f"{quoted(path[-1])} is not a key here", did_you_mean(str(path[-1]), keys), of_key=True
        )
    if kind == "scenario":
        what, _, right = str(detail["ctx"]["text"]).partition("; ")
        return source.problem(path, what, right)
    if kind == "literal_error":
        return source.problem(path, f"{quoted(detail['input'])} is not known", f"write {detail['ctx']['expected']}")
    if kind in {"model_type", "dict_type", "model_attributes_type"}:
        return source.problem(path, f"{quoted(detail['input'])} is not a mapping", f"write the keys {', '.join(keys)}")
    value = detail["input"]
    if kind == "string_type" and isinstance(value, list | dict):
        what = "is a list" if isinstance(value, list) else "is a mapping"
        return source.problem(path, f"{shown(value)} {what}", "write a single text")
    if kind in _RIGHT:
        what, right = _RIGHT[kind]
        return source.problem(path, f"{quoted(value)} {what}", right)
    message = detail["msg"]
    return source.problem(path, f"{quoted(value)} is not valid", message[:1].lower() + message[1:])


def _keys(model: Any, loc: tuple[int | str, ...]) -> list[str]:
    """Return the keys of the model that the error comes from."""
    inner = _model_within(model)
    for step in loc:
        deeper = _field(inner, step)
        if deeper is None:
            continue
        inner = deeper
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        return [field.alias or name for name, field in inner.model_fields.items()]
    return []


def _field(model: Any, step: int | str) -> Any:
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return None
    for name, field in model.model_fields.items():
        if step in (name, field.alias):
            return _model_within(field.annotation)
    return None


def _model_within(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in get_args(annotation):
        model = _model_within(part)
        if model is not None:
            return model
    return None
