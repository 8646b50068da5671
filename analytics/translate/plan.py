"""A plan that Spark has analysed, as a tree.

Spark writes a plan as a list of nodes in prefix order. A field of a node is a value, the place of a child, or a tree that is no
child, again as a list. Only some expressions are written with their types; Spark itself is asked for the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

from pyspark.sql import types as T  # noqa: N812


class Untranslatable(Exception):
    """An operator, expression, type or use of one that the translator does not know; the message names it."""


def require(known: object, what: str) -> None:
    """Raise Untranslatable, which names `what`, unless the translator knows it."""
    if not known:
        raise Untranslatable(what)


@dataclass(frozen=True, eq=False)
class Node:
    """An operator or an expression.

    fields: its fields as Spark writes them.
    in_spark: returns Spark's object, from which the fields were written.
    children: what it reads or uses.
    """

    fields: Mapping[str, Any]
    in_spark: Callable[[], Any]
    children: list[Node]

    @cached_property
    def kind(self) -> str:
        """Return the name of its class in Spark."""
        return str(self.fields["class"]).rpartition(".")[2].removesuffix("$")

    @property
    def id(self) -> int:
        """Return the number that Spark gave to this column or lambda variable."""
        return int(self.fields["exprId"]["id"])

    @property
    def name(self) -> str:
        return str(self.fields["name"])

    @cached_property
    def type(self) -> Any:
        """Return the type of this expression, a DataType of PySpark."""
        type_json = self.fields.get("dataType") or json.loads(self.in_spark().dataType().json())
        return T.StructField.fromJson({"name": "", "type": type_json, "nullable": True, "metadata": {}}).dataType

    def tree(self, name: str) -> Node:
        """Return the tree in a field."""
        return self._node(self.fields[name], lambda: self.setting(name))

    def trees(self, name: str) -> list[Node]:
        """Return the trees in a field that has a list of them, or at most one."""
        field = self.fields.get(name, [])
        every = [field] if field and isinstance(field[0], Mapping) else field
        return [self._node(tree, partial(_element, self, name, place)) for place, tree in enumerate(every)]

    def _node(self, field: Any, in_spark: Callable[[], Any]) -> Node:
        return self.children[field] if isinstance(field, int) else parsed(iter(field), in_spark)

    def setting(self, name: str) -> Any:
        """Return what Spark's object has in a field."""
        return getattr(self.in_spark(), name)()


def parsed(nodes: Iterator[Mapping[str, Any]], in_spark: Callable[[], Any]) -> Node:
    """Return the tree of nodes in prefix order.

    in_spark: returns Spark's object for the first node.
    """
    node = Node(next(nodes), cache(in_spark), [])
    children = range(node.fields["num-children"])
    node.children.extend(parsed(nodes, partial(_element, node, "children", place)) for place in children)
    return node


def _element(node: Node, name: str, place: int) -> Any:
    return node.setting(name).toList().apply(place)


def columns_of(nodes: Iterable[Node]) -> frozenset[int]:
    """Return the numbers of the columns that expressions use."""
    used = ({node.id} if node.kind == "AttributeReference" else columns_of(node.children) for node in nodes)
    return frozenset().union(*used)
