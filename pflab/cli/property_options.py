"""Options for the properties of a folder or a connector: verbs that take the same properties share their options."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

Verb = Callable[..., int]


def with_properties(options: Mapping[str, Any], lists: Collection[str] = ()) -> Callable[[Verb], Verb]:
    """Return a decorator that gives a verb these options before its option `--lab`. The verb gets those that the user gives.

    options: the option of each property, by its name.
    lists: the properties that are lists of names.
    """

    def decorate(verb: Verb) -> Verb:
        def with_options(**arguments: Any) -> int:
            values = {name: arguments.pop(name) for name in options}
            properties = {name: value for name, value in values.items() if value is not None}
            names = {name: names_in(properties[name]) for name in lists if name in properties}
            return verb(**arguments, **properties | names)

        *parameters, _ = signature(verb, eval_str=True).parameters.values()
        lab_at = [parameter.name for parameter in parameters].index("lab")
        parameters[lab_at:lab_at] = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option])
            for name, option in options.items()
        ]
        with_options.__signature__ = Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]  # Typer reads it
        with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        with_options.__doc__, with_options.__name__ = verb.__doc__, verb.__name__
        return with_options

    return decorate


def names_in(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
