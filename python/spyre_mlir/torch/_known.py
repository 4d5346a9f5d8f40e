"""Nodes of a graph that are constant: positions (`arange`), filled tensors, and everything that depends on them only.

The compiler folds constants, so each part that reads a constant node contains a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.fx import Graph, Node


def known_nodes(graph: Graph) -> set[Node]:
    """Returns the constant nodes: they depend on no input and on no random numbers."""
    known: set[Node] = set()
    for node in graph.nodes:
        if node.op == "get_attr" or (node.op == "call_function" and not node.is_impure() and known.issuperset(node.all_input_nodes)):
            known.add(node)
    return known


def with_known(nodes: Iterable[Node], known: set[Node]) -> list[Node]:
    """Returns the nodes in order, each after the constant nodes that it reads."""
    found: dict[Node, None] = {}

    def add(node: Node) -> None:
        for read in node.all_input_nodes:
            if read in known and read not in found:
                add(read)
        found[node] = None

    for node in nodes:
        add(node)
    return list(found)


def value_of(node: Node) -> object:
    """Computes the value of a constant node. The value is not cached, because callers may write to it."""
    values: dict[Node, object] = {}
    for step in with_known([node], known_nodes(node.graph)):
        if step.op == "get_attr":
            values[step] = attribute(step)
        else:
            args, kwargs = torch.fx.map_arg((step.args, step.kwargs), values.__getitem__)
            values[step] = step.target(*args, **kwargs)
    return values[node]


def attribute(node: Node) -> object:
    value = node.graph.owning_module
    for name in node.target.split("."):
        value = getattr(value, name)
    return value
