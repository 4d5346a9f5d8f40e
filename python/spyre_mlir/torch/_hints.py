"""Hints in Python: names of dimensions, and scopes that are tiled or divided over the cores.

A scope becomes an annotation of the nodes that are traced in it (`torch.fx.traceback.annotate`), which Dynamo,
`torch.export` and AOTAutograd carry along. Names are an attribute of the tensor, read when its graph is compiled.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.fx.traceback

PREFIX = "spyre_hint_"
NAMES = "_spyre_dims"
KINDS = ("tiles", "work_div")

_ids = itertools.count(1)
_sizes: dict[str, int] = {}


class HintError(ValueError):
    """A hint or a name that says nothing the compiler could do."""


def declare_tensor_dim(name: str, size: int) -> None:
    """Says how large the dimension of a name is. A name may be declared again with another size, for graphs traced later."""
    check_name(name)
    check_count("declare_tensor_dim", name, size)
    _sizes[name] = size


def name_tensor_dims(tensor: torch.Tensor, names: Sequence[str]) -> None:
    """Names what a tensor's storage holds, outermost first; there may be more or fewer names than dimensions.

    The tensor is an input of what is compiled; names of everything computed follow from those of the inputs.
    """
    if isinstance(names, str):
        raise HintError(f"name_tensor_dims: {names!r} is one text: give a list of names, such as ['M', 'K']")
    for name in names:
        check_name(name)
    undeclared = [name for name in names if name not in _sizes]
    if len(names) != tensor.dim() and undeclared:
        raise HintError(
            f"name_tensor_dims: a tensor of {tensor.dim()} dimensions has {len(names)} names, and {undeclared[0]!r} has no "
            f"size: call declare_tensor_dim({undeclared[0]!r}, size) first"
        )
    check_sizes(tensor, names)
    setattr(tensor, NAMES, tuple(names))


def check_sizes(tensor: torch.Tensor, names: Sequence[str]) -> None:
    """Declared sizes must come to the elements of the tensor, or to each dimension where there is one name each."""
    if len(names) == tensor.dim():
        for position, (name, size) in enumerate(zip(names, tensor.shape, strict=True)):
            if _sizes.get(name, size) != size:
                raise HintError(f"name_tensor_dims: dimension {position} has {size} elements, but {name!r} is declared with {_sizes[name]}")
        return
    product = 1
    for name in names:
        product *= _sizes[name]
    if product != tensor.numel():
        raise HintError(f"name_tensor_dims: {list(names)} are declared with {product} elements in all, but the tensor has {tensor.numel()}")


def spyre_hint(**wishes: Mapping[str, int]) -> contextlib.AbstractContextManager[None]:
    """A scope whose operations run tile by tile (`tiles={"M": 8}`: 8 tiles along M, outermost first), or are divided over
    the cores in a given way (`work_div={"M": 4}`: 4 slices along M). Scopes nest."""
    return torch.fx.traceback.annotate(annotation(**wishes))


@torch.compiler.assume_constant_result
def annotation(**wishes: Mapping[str, int]) -> dict[str, Any]:
    """The annotation of one scope: its number, which is greater than that of the scope around it, and what it asks for."""
    unknown = [kind for kind in wishes if kind not in KINDS]
    if unknown:
        raise HintError(f"spyre_hint: {unknown[0]!r} is no hint that this compiler has: give {' or '.join(map(repr, KINDS))}")
    if not any(wishes.values()):
        raise HintError("spyre_hint: nothing is asked for: give tiles={...} or work_div={...}")
    for kind, counts in wishes.items():
        if not isinstance(counts, Mapping):
            raise HintError(f"spyre_hint: {kind}={counts!r} is no dictionary from names of dimensions to numbers")
        for name, count in counts.items():
            check_name(name)
            check_count(f"spyre_hint: {kind}", name, count)
    return {f"{PREFIX}{next(_ids)}": {kind: dict(counts) for kind, counts in wishes.items() if counts}}


def check_name(name: object) -> None:
    """Names are texts, and `*` joins them in the compiler."""
    if not isinstance(name, str) or not name or "*" in name:
        raise HintError(f"{name!r} is no name of a dimension: give a text without '*'")


def check_count(where: str, name: str, count: object) -> None:
    """Sizes, tiles and slices are positive integers."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise HintError(f"{where}: {name!r} is {count!r}: give a positive integer")


def names_of(value: object) -> tuple[str, ...] | None:
    """The names that were given to an input."""
    return getattr(value, NAMES, None)


def declared_size(name: str) -> int | None:
    """The size that a name was declared with."""
    return _sizes.get(name)


def scopes_of(node: torch.fx.Node) -> dict[int, dict[str, dict[str, int]]]:
    """The scopes that a node was traced in, by number, from outside to inside."""
    custom = node.meta.get("custom") or {}
    found = {int(key.removeprefix(PREFIX)): wishes for key, wishes in custom.items() if key.startswith(PREFIX)}
    return dict(sorted(found.items()))


def has_hints(graph: torch.fx.Graph) -> bool:
    """Whether any node was traced in a scope."""
    return any(scopes_of(node) for node in graph.nodes if node.op == "call_function")


def drop_hints(graph: torch.fx.Graph) -> None:
    """Forgets all scopes, where there are no names that they could speak of."""
    for node in graph.nodes:
        custom = node.meta.get("custom")
        if custom:
            node.meta["custom"] = {key: value for key, value in custom.items() if not key.startswith(PREFIX)}
