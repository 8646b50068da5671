"""A plan that Spark has analysed, as a tree.

Spark writes a plan as a list of nodes in prefix order. A field of a node is a value, the place of a child, or its own tree,
again as a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class Untranslatable(Exception):
    """An operator, expression, type or use of one that the translator does not know; the message names it."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An operator or an expression.

    kind: the name of its class in Spark.
    fields: its fields as Spark writes them.
    """

    kind: str
    fields: Mapping[str, Any]
    children: tuple[Node, ...]

    @property
    def id(self) -> int:
        """Return the number that Spark gave to this column or lambda variable."""
        return int(self.fields["exprId"]["id"])

    @property
    def name(self) -> str:
        return str(self.fields["name"])

    def tree(self, name: str) -> Node:
        """Return the tree in a field."""
        found = self.part(name)
        if found is None:
            raise Untranslatable(f"{self.kind} without {name}")
        return found

    def part(self, name: str) -> Node | None:
        """Return the tree in a field; None if the field is empty."""
        return self._node(self.fields.get(name))

    def trees(self, name: str) -> list[Node]:
        """Return the trees in a field that has a list of them."""
        return [each for each in map(self._node, self.fields[name]) if each is not None]

    def branches(self) -> list[tuple[Node, Node]]:
        """Return the conditions and values of a CASE."""
        pairs = [(self._node(each["_1"]), self._node(each["_2"])) for each in self.fields["branches"]]
        return [(when, then) for when, then in pairs if when is not None and then is not None]

    def choice(self, name: str) -> str:
        """Return the name of the Scala object in a field, such as the type of a join."""
        return str(self.fields[name]["object"]).rpartition(".")[2].removesuffix("$")

    def operands(self) -> tuple[Node, ...]:
        """Return the expressions that this expression uses."""
        if self.kind == "CaseWhen":
            otherwise = self.part("elseValue")
            pairs = [each for pair in self.branches() for each in pair]
            return (*pairs, otherwise) if otherwise else tuple(pairs)
        if self.kind == "AggregateExpression":
            condition = self.part("filter")
            return (*self.children, condition) if condition else self.children
        if "replacement" in self.fields:  # the others are what the user wrote, and may name columns of another plan
            return (self.tree("replacement"),)
        if self.kind == "StringTrim":
            return tuple(each for each in (self.part("srcStr"), self.part("trimStr")) if each)
        return self.children

    def _node(self, field: Any) -> Node | None:
        if field is None:
            return None
        return self.children[field] if isinstance(field, int) else parsed(field)


def parsed(nodes: Sequence[Mapping[str, Any]]) -> Node:
    """Return the tree of a list of nodes in prefix order."""
    return _next(iter(nodes))


def _next(nodes: Iterator[Mapping[str, Any]]) -> Node:
    fields = next(nodes)
    children = tuple(_next(nodes) for _ in range(fields["num-children"]))
    return Node(fields["class"].rpartition(".")[2].removesuffix("$"), fields, children)


def columns_of(node: Node) -> frozenset[int]:
    """Return the numbers of the columns that an expression uses."""
    if node.kind == "AttributeReference":
        return frozenset([node.id])
    return frozenset().union(*map(columns_of, node.operands()))
