"""What a graph computes from nothing: positions (`arange`), filled tensors, and all that follows from them.

The compiler folds them where it sees them, so each part that reads one has it in it.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.fx import Graph, Node


def known_nodes(graph: Graph) -> set[Node]:
    """The nodes that depend on no input and draw nothing at random."""
    known: set[Node] = set()
    for node in graph.nodes:
        if node.op == "get_attr" or (node.op == "call_function" and not node.is_impure() and known.issuperset(node.all_input_nodes)):
            known.add(node)
    return known


def with_known(nodes: Iterable[Node], known: set[Node]) -> list[Node]:
    """Nodes in their order, each behind what it reads that is known."""
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
    """What a known node is; anew each time, as somebody may write to it."""
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
