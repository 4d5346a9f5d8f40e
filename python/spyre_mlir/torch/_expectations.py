"""Checks of `spyre_hint(expected_named_dims=[...])`: expected names of the dimensions in a scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch.fx import Graph

from spyre_mlir.errors import HintError

from ._hints import EXPECTATIONS, get_scope_place, get_scopes
from ._places import fold_frames, parse_frames


def check_expectations(graph: Graph, report: Mapping[str, Any]) -> None:
    """Raises `HintError` if no operation of a scope has dimensions of all expected names."""
    for scope, lines in find_scope_lines(graph):
        ops = [op for op in report["ops"] if get_line(op) in lines and not op.get("is_for_layout")]
        names = [[name for joined in op["dims"] for name in joined.split("*") if name] for op in ops]
        for kind in EXPECTATIONS:
            expected = scope.get(kind, [])
            if ops and not any(set(expected) <= set(found) for found in names):
                found = list(dict.fromkeys(name for op_names in names for name in op_names))
                advice = (
                    f"the operations have {found}"
                    if found
                    else "no dimension has a name: call name_tensor_dims for the inputs"
                )
                raise HintError(f"spyre_hint: {kind}: expected dimensions {expected}; {advice}", get_scope_place(scope))


def find_scope_lines(graph: Graph) -> Iterator[tuple[dict[str, Any], set[tuple[str, int]]]]:
    """Yields the scopes that expect names, with the lines of their operations."""
    scopes: dict[int, dict[str, Any]] = {}
    lines: dict[int, set[tuple[str, int]]] = {}
    for node in graph.nodes:
        for number, scope in get_scopes(node).items():
            if any(kind in scope for kind in EXPECTATIONS):
                scopes[number] = scope
                lines.setdefault(number, set()).update(fold_frames(parse_frames(node.meta.get("stack_trace")))[-1:])
    return ((scope, lines[number]) for number, scope in scopes.items())


def get_line(op: Mapping[str, Any]) -> tuple[str, int]:
    """Returns the innermost line of an operation of a report."""
    file, line, _ = (
        op["location"].split(" called from ")[0].rsplit(":", 2) if op["location"].count(":") > 1 else ("", "0", "")
    )
    return file, int(line)
