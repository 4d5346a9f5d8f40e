"""Hint scopes and module paths in linalg: operations that were traced in a scope are wrapped in a `spyre.hint`.

torch-mlir preserves locations, so the file name of a location transports the numbers of a node's scopes and the path of
its module: `model.py#spyre.hint=1,2#spyre.module=layers.3`. This module writes and reads these marks. In the final
text, the path is the name of the location: `loc("layers.3"("model.py":12:0))`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch_mlir import ir

from ._hints import get_scope_place, get_scopes
from ._places import fold_frames, get_module_path, parse_frames

HINT_MARK = "#spyre.hint="
MODULE_MARK = "#spyre.module="
# File name of operations without a recorded line.
NOWHERE = "<nowhere>"
SCOPE_NUMBERS = re.compile(re.escape(HINT_MARK) + r"(\d+(?:,\d+)*)")
LOCATION = re.compile(
    rf'"((?:[^"\\]|\\.)*?)(?:{re.escape(HINT_MARK)}[\d,]+)?(?:{re.escape(MODULE_MARK)}([^"#]*))?":(\d+):(\d+)'
)
REQUEST_KINDS = ("tiles", "work_div")
# Ops that compute nothing; several scopes may share one.
SOURCES = ("arith.constant", "tensor.empty", "linalg.fill")
TERMINATORS = ("func.return", "spyre.yield")

RequestedHints = Mapping[str, Any]


def mark_scopes(graph: torch.fx.Graph) -> dict[int, RequestedHints]:
    """Writes frames, scopes and module of each node into its stack trace, which becomes the location on import."""
    requests: dict[int, RequestedHints] = {}
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        scopes = {
            number: scope for number, scope in get_scopes(node).items() if any(kind in scope for kind in REQUEST_KINDS)
        }
        requests.update(scopes)
        marks = HINT_MARK + ",".join(map(str, scopes)) if scopes else ""
        marks += MODULE_MARK + module if (module := get_module_path(node)) else ""
        frames = fold_frames(parse_frames(node.meta.get("stack_trace"))) or ([(NOWHERE, 1)] if marks else [])
        lines = [f'  File "{file}{marks}", line {line}, in forward' for file, line in frames]
        node.meta["stack_trace"] = "\n".join(lines)
    return requests


def remove_marks(text: str) -> str:
    """Returns the text with the original file names, and with module paths as names of locations."""
    return LOCATION.sub(remove_mark, text)


def remove_mark(found: re.Match[str]) -> str:
    file, module, line, column = found.groups()
    place = f'"{file}":{line}:{column}' if file != NOWHERE else "unknown"
    return f'"{module}"({place})' if module else place


def wrap_scopes(block: ir.Block, requests: Mapping[int, RequestedHints]) -> None:
    """Wraps the operations of a function in their scopes."""
    hoist_sources(block)
    wrap_level(block, requests, level=0)


def get_scope_path(op: ir.Operation) -> tuple[int, ...]:
    """Returns the numbers of an operation's scopes, outermost first."""
    found = SCOPE_NUMBERS.search(str(op.location))
    return tuple(map(int, found[1].split(","))) if found and op.name not in SOURCES + TERMINATORS else ()


def list_ops(block: ir.Block) -> list[ir.Operation]:
    return [op.operation for op in block.operations]


def hoist_sources(block: ir.Block) -> None:
    """Moves constants and empty tensors to the front, so that they do not split a scope."""
    first = next(op for op in list_ops(block) if not is_free(op))
    for op in list_ops(block):
        if is_free(op):
            op.move_before(first)


def is_free(op: ir.Operation) -> bool:
    """Returns whether an op is a source that depends on sources and arguments only."""
    return op.name in SOURCES and all(
        isinstance(value.owner, ir.Block) or is_free(value.owner.operation) for value in op.operands
    )


def wrap_level(block: ir.Block, requests: Mapping[int, RequestedHints], level: int) -> None:
    """Wraps each run of operations in one scope at this level, then the operations inside at the next level."""
    for number, run in find_runs(block, level):
        inner = wrap_run(run, requests[number])
        wrap_level(inner, requests, level + 1)


def find_runs(block: ir.Block, level: int) -> list[tuple[int, list[ir.Operation]]]:
    """Returns the runs of operations in one scope. Moves other operations before a run if they read no value of it."""
    found: list[tuple[int, list[ir.Operation]]] = []
    between: list[ir.Operation] = []
    for op in list_ops(block):
        path = get_scope_path(op)
        if len(path) <= level:
            between.append(op)
            continue
        number = path[level]
        run = found[-1][1] if found and found[-1][0] == number else None
        if run is not None and not any(is_user_of(other, member) for other in between for member in run):
            for other in between:
                other.move_before(run[0])
            run.append(op)
        else:
            found.append((number, [op]))
        between = []
    return found


def get_users(value: ir.Value) -> list[ir.Operation]:
    return [use.owner.operation for use in value.uses]


def find_ancestor(op: ir.Operation, block: ir.Block) -> ir.Operation:
    """Returns the operation of `block` that contains `op`."""
    while op.block != block:
        op = op.parent.operation
    return op


def is_user_of(op: ir.Operation, producer: ir.Operation) -> bool:
    """Returns whether an operation, or an operation inside of it, uses a result of `producer`."""
    return any(find_ancestor(user, producer.block) == op for value in producer.results for user in get_users(value))


def wrap_run(run: Sequence[ir.Operation], requests: RequestedHints) -> ir.Block:
    """Wraps a run of operations in a `spyre.hint`, and returns the block inside of it."""
    outer = run[0].block
    yielded = [value for op in run for value in op.results if is_used_after(value, run, outer)]
    scope = ir.Operation.create(
        "spyre.hint",
        results=[value.type for value in yielded],
        attributes=build_attributes(requests),
        regions=1,
        loc=get_location(requests) or run[0].location,
        ip=ir.InsertionPoint(run[0]),
    )
    inner = scope.regions[0].blocks.append()
    for value, result in zip(yielded, scope.results, strict=True):
        replace_uses_after(value, result, run, outer)
    for op in run:
        inner.append(op)
    yield_attributes = {
        "tiled_dims": ir.DenseI64ArrayAttr.get([]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, len(yielded)]),
    }
    ir.Operation.create(
        "spyre.yield", operands=yielded, attributes=yield_attributes, loc=run[0].location, ip=ir.InsertionPoint(inner)
    )
    return inner


def get_location(requests: RequestedHints) -> ir.Location | None:
    """Returns the line of the `with` statement of a scope."""
    place = get_scope_place(requests)
    return ir.Location.file(place.file, place.line, place.column) if place else None


def is_used_after(value: ir.Value, run: Sequence[ir.Operation], outer: ir.Block) -> bool:
    return any(find_ancestor(user, outer) not in run for user in get_users(value))


def replace_uses_after(value: ir.Value, result: ir.Value, run: Sequence[ir.Operation], outer: ir.Block) -> None:
    """Replaces uses of a value outside of the scope by the scope's result."""
    for user in get_users(value):
        if find_ancestor(user, outer) in run:
            continue
        for position, operand in enumerate(user.operands):
            if operand == value:
                user.operands[position] = result


def build_attributes(requests: RequestedHints) -> dict[str, ir.Attribute]:
    """Returns the requests of a scope as attributes of `spyre.hint`."""
    tiles, work = requests.get("tiles", {}), requests.get("work_div", {})
    integer = ir.IntegerType.get_signless(64)
    return {
        "tile_dims": ir.ArrayAttr.get([ir.StringAttr.get(name) for name in tiles]),
        "tile_counts": ir.ArrayAttr.get([ir.IntegerAttr.get(integer, count) for count in tiles.values()]),
        "work_dims": ir.ArrayAttr.get([ir.StringAttr.get(name) for name in work]),
        "work_slices": ir.ArrayAttr.get([ir.IntegerAttr.get(integer, slices) for slices in work.values()]),
    }
