"""Checks of `spyre_hint(expected_named_dims=[...])`: names that the dimensions of a scope's operations should have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch.fx import Graph

from spyre_mlir.errors import HintError

from ._hints import EXPECTATIONS, scope_place, scopes_of
from ._places import folded, frames_of


def check_expectations(graph: Graph, report: Mapping[str, Any]) -> None:
    """Raises `HintError` if no operation of a scope has dimensions of the names that are expected there."""
    for scope, lines in scopes_with_lines(graph):
        ops = [op for op in report["ops"] if line_of(op) in lines and not op.get("is_for_layout")]
        names = [[name for joined in op["dims"] for name in joined.split("*") if name] for op in ops]
        for kind in EXPECTATIONS:
            expected = scope.get(kind, [])
            if ops and not any(set(expected) <= set(found) for found in names):
                found = list(dict.fromkeys(name for of_op in names for name in of_op))
                advice = f"the operations have {found}" if found else "no dimension has a name: call name_tensor_dims for the inputs"
                raise HintError(f"spyre_hint: {kind}: expected dimensions {expected}; {advice}", scope_place(scope))


def scopes_with_lines(graph: Graph) -> Iterator[tuple[dict[str, Any], set[tuple[str, int]]]]:
    """Yields the scopes that expect names, with the lines of their operations."""
    scopes: dict[int, dict[str, Any]] = {}
    lines: dict[int, set[tuple[str, int]]] = {}
    for node in graph.nodes:
        for number, scope in scopes_of(node).items():
            if any(kind in scope for kind in EXPECTATIONS):
                scopes[number] = scope
                lines.setdefault(number, set()).update(folded(frames_of(node.meta.get("stack_trace")))[-1:])
    return ((scope, lines[number]) for number, scope in scopes.items())


def line_of(op: Mapping[str, Any]) -> tuple[str, int]:
    """Returns the innermost line of an operation of a report."""
    file, line, _ = op["location"].split(" called from ")[0].rsplit(":", 2) if op["location"].count(":") > 1 else ("", "0", "")
    return file, int(line)
