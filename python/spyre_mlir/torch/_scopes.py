"""Hint scopes and module paths in a module of linalg: operations that were traced in a scope stand in the region of a
`spyre.hint`.

torch-mlir carries locations through its lowering, so that the numbers of a node's scopes and the path of its module
travel in the name of its file: `model.py#spyre.hint=1,2#spyre.module=layers.3`. Here they are read again. In the text,
a path becomes the name of the location: `loc("layers.3"("model.py":12:0))`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch_mlir import ir

from ._hints import scope_place, scopes_of
from ._places import folded, frames_of, module_of

MARK = "#spyre.hint="
MODULE = "#spyre.module="
# File name of operations without a recorded line.
NOWHERE = "<nowhere>"
MARKED = re.compile(re.escape(MARK) + r"(\d+(?:,\d+)*)")
LOCATION = re.compile(rf'"((?:[^"\\]|\\.)*?)(?:{re.escape(MARK)}[\d,]+)?(?:{re.escape(MODULE)}([^"#]*))?":(\d+):(\d+)')
REQUESTS = ("tiles", "work_div")
# Ops without work of their own; several scopes may share one.
SOURCES = ("arith.constant", "tensor.empty", "linalg.fill")
LAST = ("func.return", "spyre.yield")

Wishes = Mapping[str, Any]


def mark(graph: torch.fx.Graph) -> dict[int, Wishes]:
    """Writes frames, scopes and module of each node into its stack trace, which becomes the location on import."""
    wishes: dict[int, Wishes] = {}
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        scopes = {number: scope for number, scope in scopes_of(node).items() if any(kind in scope for kind in REQUESTS)}
        wishes.update(scopes)
        marks = MARK + ",".join(map(str, scopes)) if scopes else ""
        marks += MODULE + module if (module := module_of(node)) else ""
        frames = folded(frames_of(node.meta.get("stack_trace"))) or ([(NOWHERE, 1)] if marks else [])
        lines = [f'  File "{file}{marks}", line {line}, in forward' for file, line in frames]
        node.meta["stack_trace"] = "\n".join(lines)
    return wishes


def unmark(text: str) -> str:
    """Returns the text with the names of files as they are, and the paths of modules as names of locations."""
    return LOCATION.sub(plain_location, text)


def plain_location(found: re.Match[str]) -> str:
    file, module, line, column = found.groups()
    place = f'"{file}":{line}:{column}' if file != NOWHERE else "unknown"
    return f'"{module}"({place})' if module else place


def wrap(block: ir.Block, wishes: Mapping[int, Wishes]) -> None:
    """Puts the operations of a function into their scopes."""
    hoist_sources(block)
    wrap_level(block, wishes, level=0)


def path_of(op: ir.Operation) -> tuple[int, ...]:
    """Returns the numbers of an operation's scopes, outermost first."""
    found = MARKED.search(str(op.location))
    return tuple(map(int, found[1].split(","))) if found and op.name not in SOURCES + LAST else ()


def operations(block: ir.Block) -> list[ir.Operation]:
    return [op.operation for op in block.operations]


def hoist_sources(block: ir.Block) -> None:
    """Moves constants and empty tensors to the front, so that they do not split a scope."""
    first = next(op for op in operations(block) if not is_free(op))
    for op in operations(block):
        if is_free(op):
            op.move_before(first)


def is_free(op: ir.Operation) -> bool:
    """Returns whether an op is a source that depends on sources and arguments only."""
    return op.name in SOURCES and all(isinstance(value.owner, ir.Block) or is_free(value.owner.operation) for value in op.operands)


def wrap_level(block: ir.Block, wishes: Mapping[int, Wishes], level: int) -> None:
    """Wraps each run of operations in one scope at this level, then the operations inside at the next level."""
    for number, run in runs(block, level):
        inner = wrap_run(run, wishes[number])
        wrap_level(inner, wishes, level + 1)


def runs(block: ir.Block, level: int) -> list[tuple[int, list[ir.Operation]]]:
    """Returns the runs of operations in one scope. Moves other operations before a run if they read no value of it."""
    found: list[tuple[int, list[ir.Operation]]] = []
    between: list[ir.Operation] = []
    for op in operations(block):
        path = path_of(op)
        if len(path) <= level:
            between.append(op)
            continue
        number = path[level]
        run = found[-1][1] if found and found[-1][0] == number else None
        if run is not None and not any(reads(other, member) for other in between for member in run):
            for other in between:
                other.move_before(run[0])
            run.append(op)
        else:
            found.append((number, [op]))
        between = []
    return found


def users(value: ir.Value) -> list[ir.Operation]:
    return [use.owner.operation for use in value.uses]


def ancestor_in(op: ir.Operation, block: ir.Block) -> ir.Operation:
    """Returns the operation of `block` that contains `op`."""
    while op.block != block:
        op = op.parent.operation
    return op


def reads(op: ir.Operation, maker: ir.Operation) -> bool:
    """Returns whether an operation, or an operation inside of it, uses a result of `maker`."""
    return any(ancestor_in(user, maker.block) == op for value in maker.results for user in users(value))


def wrap_run(run: Sequence[ir.Operation], wishes: Wishes) -> ir.Block:
    """Wraps a run of operations in a `spyre.hint`, and returns the block inside of it."""
    outer = run[0].block
    yielded = [value for op in run for value in op.results if is_read_behind(value, run, outer)]
    scope = ir.Operation.create(
        "spyre.hint",
        results=[value.type for value in yielded],
        attributes=attributes(wishes),
        regions=1,
        loc=location_of(wishes) or run[0].location,
        ip=ir.InsertionPoint(run[0]),
    )
    inner = scope.regions[0].blocks.append()
    for value, result in zip(yielded, scope.results, strict=True):
        replace_behind(value, result, run, outer)
    for op in run:
        inner.append(op)
    whole = {"tiled_dims": ir.DenseI64ArrayAttr.get([]), "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, len(yielded)])}
    ir.Operation.create("spyre.yield", operands=yielded, attributes=whole, loc=run[0].location, ip=ir.InsertionPoint(inner))
    return inner


def location_of(wishes: Wishes) -> ir.Location | None:
    """Returns the line of the `with`."""
    place = scope_place(wishes)
    return ir.Location.file(place.file, place.line, place.column) if place else None


def is_read_behind(value: ir.Value, run: Sequence[ir.Operation], outer: ir.Block) -> bool:
    return any(ancestor_in(user, outer) not in run for user in users(value))


def replace_behind(value: ir.Value, result: ir.Value, run: Sequence[ir.Operation], outer: ir.Block) -> None:
    """Replaces uses of a value outside of the scope by the scope's result."""
    for user in users(value):
        if ancestor_in(user, outer) in run:
            continue
        for position, operand in enumerate(user.operands):
            if operand == value:
                user.operands[position] = result


def attributes(wishes: Wishes) -> dict[str, ir.Attribute]:
    """Returns the requests of a scope as attributes of `spyre.hint`."""
    tiles, work = wishes.get("tiles", {}), wishes.get("work_div", {})
    integer = ir.IntegerType.get_signless(64)
    return {
        "tile_dims": ir.ArrayAttr.get([ir.StringAttr.get(name) for name in tiles]),
        "tile_counts": ir.ArrayAttr.get([ir.IntegerAttr.get(integer, count) for count in tiles.values()]),
        "work_dims": ir.ArrayAttr.get([ir.StringAttr.get(name) for name in work]),
        "work_slices": ir.ArrayAttr.get([ir.IntegerAttr.get(integer, slices) for slices in work.values()]),
    }
