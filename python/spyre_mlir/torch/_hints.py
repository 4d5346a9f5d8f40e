"""Hints in Python: names of dimensions, and scopes that are tiled or divided over the cores.

A scope becomes an annotation of the nodes that are traced in it (`torch.fx.traceback.annotate`), which Dynamo,
`torch.export` and AOTAutograd preserve. Names are an attribute of the tensor, read when its graph is compiled.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
import torch.fx.traceback

from spyre_mlir.errors import HintError, Place

from ._places import find_caller
from ._user_error import make_unwrapped_error

PREFIX = "spyre_hint_"
NAMES = "_spyre_dims"
PLACE = "place"
EXPECTATIONS = ("expected_named_dims", "expected_reduction_dims")

#: Kind of hint of each keyword of `spyre_hint`. torch-spyre has used three names for `tiles`.
SPELLINGS = {
    "tiles": "tiles",
    "num_tiles_per_dim": "tiles",
    "slices": "tiles",
    "work_div": "work_div",
    **{kind: kind for kind in EXPECTATIONS},
}

_ids = itertools.count(1)
_sizes: dict[str, int] = {}


def declare_tensor_dim(name: str, size: int) -> None:
    """Declares the size of a named dimension. A later declaration with another size applies to graphs traced later."""
    with add_caller_location():
        check_name(name)
        check_count("declare_tensor_dim", name, size)
    _sizes[name] = size


def name_tensor_dims(tensor: torch.Tensor, names: Sequence[str]) -> torch.Tensor:
    """Names the dimensions of a tensor's storage, outermost first, and returns the tensor.

    There may be more or fewer names than dimensions. The tensor must be an input of the compiled function: names of
    computed values are derived from the names of the inputs.
    """
    with add_caller_location():
        check_tensor_names(tensor, names)
    setattr(tensor, NAMES, tuple(names))
    return tensor


@contextlib.contextmanager
def add_caller_location() -> Iterator[None]:
    """Adds the user's line to a `HintError`."""
    try:
        yield
    except HintError as error:
        raise make_unwrapped_error(HintError(error.message, find_caller())) from None


def check_tensor_names(tensor: object, names: object) -> None:
    """Raises `HintError` for names that do not match a tensor."""
    if not isinstance(tensor, torch.Tensor):
        found = f"{type(tensor).__module__}.{type(tensor).__qualname__}"
        raise HintError(f"name_tensor_dims: expected a tensor, found {found}; give an input of the compiled function")
    check_names("name_tensor_dims", names)
    undeclared = [name for name in names if name not in _sizes]
    if len(names) != tensor.dim() and undeclared:
        raise HintError(
            f"name_tensor_dims: a tensor of {tensor.dim()} dimensions has {len(names)} names, and {undeclared[0]!r} "
            "has no "
            f"size: call declare_tensor_dim({undeclared[0]!r}, size) first"
        )
    check_sizes(tensor, names)


def check_sizes(tensor: torch.Tensor, names: Sequence[str]) -> None:
    """Raises `HintError` unless declared sizes match the dimensions, or their product the number of elements."""
    if len(names) == tensor.dim():
        for position, (name, size) in enumerate(zip(names, tensor.shape, strict=True)):
            if _sizes.get(name, size) != size:
                raise HintError(
                    f"name_tensor_dims: dimension {position} has {size} elements, but {name!r} is declared with "
                    f"{_sizes[name]}; "
                    f"use another name, or call declare_tensor_dim({name!r}, {size})"
                )
        return
    product = 1
    for name in names:
        product *= _sizes[name]
    if product != tensor.numel():
        raise HintError(
            f"name_tensor_dims: {list(names)} are declared with {product} elements in all, but the tensor has "
            f"{tensor.numel()} elements; "
            f"declare sizes whose product is {tensor.numel()}"
        )


def spyre_hint(
    *positional: object, **requests: Mapping[str, int] | Sequence[str]
) -> contextlib.AbstractContextManager[None]:
    """Opens a scope whose operations run tile by tile (`tiles={"M": 8}`: 8 tiles along M, outermost first), or are
    split over the cores (`work_div={"M": 4}`: 4 slices along M). Scopes nest.

    `num_tiles_per_dim` and `slices` are aliases of `tiles`. `expected_named_dims=["M", "N"]` and
    `expected_reduction_dims=["K"]` request nothing: they are an error if no operation of the scope has dimensions of
    these names.
    """
    return torch.fx.traceback.annotate(build_annotation(*positional, **requests))


@torch.compiler.assume_constant_result
def build_annotation(*positional: Any, **requests: Any) -> dict[str, Any]:
    """Returns the annotation of a scope: its number (greater than that of the enclosing scope), requests and line."""
    place = find_caller()
    try:
        if positional:
            raise HintError(
                f"spyre_hint: expected requests by name, found {positional[0]!r} by position; give tiles={{'M': 8}}"
            )
        found = check_requests(requests)
    except HintError as error:
        raise make_unwrapped_error(HintError(error.message, place)) from None
    found[PLACE] = f"{place.file}:{place.line}" if place else "unknown line"
    return {f"{PREFIX}{next(_ids)}": found}


def check_requests(requests: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the requests of a scope with aliases resolved. Raises `HintError` for invalid ones."""
    found: dict[str, Any] = {}
    for spelling, request in requests.items():
        kind = SPELLINGS.get(spelling)
        if kind is None:
            raise HintError(describe_unknown_request(spelling))
        if kind in found:
            raise HintError(
                f"spyre_hint: expected one of {', '.join(list_spellings(kind))}, found several; remove all but one"
            )
        check = check_names if kind in EXPECTATIONS else check_counts
        found[kind] = check(f"spyre_hint: {spelling}", request)
    if not any(found.values()):
        raise HintError("spyre_hint: expected a request, found none; give tiles={'M': 8} or work_div={'M': 4}")
    return {kind: request for kind, request in found.items() if request}


def describe_unknown_request(spelling: str) -> str:
    if spelling == "named_dims":
        return (
            "spyre_hint: 'named_dims' is not supported; "
            "pass the tensor as an input, and call name_tensor_dims(tensor, names)"
        )
    similar = difflib.get_close_matches(spelling, SPELLINGS, 1)
    advice = f"did you mean {similar[0]!r}?" if similar else "use one of these"
    return f"spyre_hint: expected one of {', '.join(map(repr, SPELLINGS))}, found {spelling!r}; {advice}"


def list_spellings(kind: str) -> list[str]:
    return [repr(spelling) for spelling, meaning in SPELLINGS.items() if meaning == kind]


def get_scope_place(scope: Mapping[str, Any]) -> Place | None:
    """Returns the line of the `with` statement of a scope; None if it is unknown."""
    file, _, line = str(scope.get(PLACE, "")).rpartition(":")
    return Place(file, int(line), 1) if file and line.isdigit() else None


def check_counts(where: str, counts: object) -> dict[str, int]:
    """Checks a dictionary from names of dimensions to positive integers, and returns a copy."""
    if not isinstance(counts, Mapping):
        raise HintError(
            f"{where}: expected a dictionary from names of dimensions to numbers, found {counts!r}; give {{'M': 8}}"
        )
    for name, count in counts.items():
        check_name(name)
        check_count(where, name, count)
    return dict(counts)


def check_names(where: str, names: object) -> list[str]:
    """Checks a sequence of names of dimensions, and returns it as a list."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise HintError(f"{where}: expected a list of names of dimensions, found {names!r}; give ['M', 'K']")
    for name in names:
        check_name(name)
    return list(names)


def check_name(name: object) -> None:
    """Raises `HintError` for an invalid name. A name contains no `*`, which joins names in the compiler."""
    if not isinstance(name, str) or not name or "*" in name:
        raise HintError(f"expected the name of a dimension, found {name!r}; give a text without '*'")


def check_count(where: str, name: str, count: object) -> None:
    """Raises `HintError` for a size, tile count or slice count that is not a positive integer."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise HintError(f"{where}: expected a positive integer for {name!r}, found {count!r}; give at least 1")


def get_names(value: object) -> tuple[str, ...] | None:
    """Returns the dimension names of an input; None if it has none."""
    return getattr(value, NAMES, None)


def get_declared_size(name: str) -> int | None:
    """Returns the declared size of a name; None if it has none."""
    return _sizes.get(name)


def get_scopes(node: torch.fx.Node) -> dict[int, dict[str, Any]]:
    """Returns the requests of the scopes that a node was traced in, by number, from outside to inside."""
    custom = node.meta.get("custom") or {}
    found = {int(key.removeprefix(PREFIX)): requests for key, requests in custom.items() if key.startswith(PREFIX)}
    return dict(sorted(found.items()))


def has_hints(graph: torch.fx.Graph) -> bool:
    """Returns whether any node was traced in a scope."""
    return any(get_scopes(node) for node in graph.nodes if node.op == "call_function")


def drop_hints(graph: torch.fx.Graph) -> None:
    """Removes all scopes from the nodes of a graph."""
    for node in graph.nodes:
        custom = node.meta.get("custom")
        if custom:
            node.meta["custom"] = {key: value for key, value in custom.items() if not key.startswith(PREFIX)}
