"""Lowering of FX graphs to linalg on tensors by torch-mlir, with dimension names and hint scopes."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import json
import operator
import re
import warnings
from collections.abc import Sequence

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils import _pytree as pytree
from torch_mlir import fx, ir
from torch_mlir.compiler_utils import TorchMlirCompilerError
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import FxImporter

from . import _scopes
from ._hints import get_declared_size
from ._places import fold_frames, parse_frames
from ._refusal import RejectedGraphError

ENTRY = "main"

SIZE_ADVICE = "use torch.where(condition, x, 0) in place of a selection"

#: Messages of torch-mlir that may name another operation than the unsupported one, such as a constant.
UNNAMED_OPERATION = re.compile(r"failed to legalize operation 'torch\.")


@dataclasses.dataclass(frozen=True)
class LinalgText:
    """Text of a program: with locations for messages, and without locations as a key."""

    text: str
    plain_text: str


def lower_to_linalg(
    gm: GraphModule, names: Sequence[tuple[str, ...] | None], labels: Sequence[str | None] = ()
) -> LinalgText:
    """Lowers a graph whose inputs and outputs are tensors.

    `names` contains the dimension names of each input, `labels` the names of the inputs in the model.
    """
    check_shapes(gm.graph)
    copied = GraphModule(gm, copy.deepcopy(gm.graph))
    locate_by_modules(copied.graph)
    requests = _scopes.mark_scopes(copied.graph)
    module = import_graph(copied)
    with module.context as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        function = next(op for op in module.body.operations if op.operation.name == "func.func")
        write_names(function, names)
        if requests:
            _scopes.wrap_scopes(function.regions[0].blocks[0], requests)
        text = add_labels(_scopes.remove_marks(module.operation.get_asm(enable_debug_info=True)), gm.graph, labels)
        return LinalgText(text, module.operation.get_asm(enable_debug_info=False))


def check_shapes(graph: Graph) -> None:
    """Raises `RejectedGraphError` for sizes that depend on values, on which torch-mlir does not terminate."""
    for node in graph.nodes:
        if has_unknown_size(node):
            raise RejectedGraphError(describe_unknown_size(node))


def describe_unknown_size(node: Node) -> str:
    """Returns the reason for the rejection of a node whose size depends on values."""
    subject = "an input" if node.op == "placeholder" else f"the result of {get_operation_name(node)}"
    return f"{subject} has a size that depends on values; {SIZE_ADVICE}"


def has_unknown_size(node: Node) -> bool:
    """Returns whether a size of a result depends on values."""
    tensors = [value for value in pytree.tree_leaves(node.meta.get("val")) if isinstance(value, torch.Tensor)]
    if any(free_unbacked_symbols(value) for value in tensors):
        return True
    # A selection by a mask has such a size; a selection by integers has recorded sizes.
    return not tensors and torch.Tag.dynamic_output_shape in getattr(node.target, "tags", ())


def add_labels(text: str, graph: Graph, labels: Sequence[str | None]) -> str:
    """Returns the text with the names of the inputs as names of the locations of the function's arguments."""
    header = next((line for line in text.splitlines() if f"func.func @{ENTRY}(" in line), "")
    named = header
    for number, (node, label) in enumerate(zip(graph.find_nodes(op="placeholder"), labels, strict=False)):
        start = named.find(" loc(", named.find(f"%arg{number}: "))
        if label and start >= 0:
            named = (
                named[:start]
                + f" loc({json.dumps(label)}({find_first_use(node)}))"
                + named[find_closing_parenthesis(named, start + len(" loc(")) + 1 :]
            )
    return text.replace(header, named, 1) if header else text


def find_first_use(node: Node) -> str:
    """Returns the location of the first use of an input."""
    frames = fold_frames(parse_frames(next(iter(node.users)).meta.get("stack_trace"))) if node.users else []
    return f"{json.dumps(frames[-1][0])}:{frames[-1][1]}:0" if frames else "unknown"


def find_closing_parenthesis(text: str, start: int) -> int:
    """Returns the position of the parenthesis that closes the one before `start`."""
    depth, is_quoted = 1, False
    for position in range(start, len(text)):
        letter = text[position]
        if letter == '"':
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return position
    return len(text)


def get_operation_name(node: Node) -> str:
    """Returns the name of an operation without the default overload: `aten.histc`."""
    return str(node.target).removesuffix(".default")


def locate_by_modules(graph: Graph) -> None:
    """Locates operations without a user's line by the class of their module."""
    for node in list_operations(graph):
        modules = list((node.meta.get("nn_module_stack") or {}).values())
        if not node.meta.get("stack_trace") and modules:
            path, kind = modules[-1]
            if isinstance(kind, type) and (place := find_class_location(kind)):
                node.meta["stack_trace"] = (
                    f'  File "{place[0]}", line {place[1]}, in {path}\n    class {kind.__name__}\n'
                )


@functools.cache
def find_class_location(kind: type) -> tuple[str, int] | None:
    try:
        return inspect.getsourcefile(kind), inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):
        return None


def import_graph(gm: GraphModule) -> ir.Module:
    """Lowers a graph to linalg. Diagnostics of torch-mlir become the reason of a `RejectedGraphError`."""
    context = ir.Context()
    torch_dialect.register_dialect(context)
    messages: list[str] = []
    handler = context.attach_diagnostic_handler(lambda diagnostic: messages.append(diagnostic.message) or True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importer = FxImporter(context=context)
            return fx.stateless_fx_import(gm, output_type="linalg-on-tensors", model_name=ENTRY, fx_importer=importer)
    except TorchMlirCompilerError as error:
        raise RejectedGraphError(
            explain_failed_lowering(gm.graph, shorten_message(messages[0] if messages else str(error)))
        ) from error
    except Exception as error:  # The importer raises no specific type for unsupported operations.
        raise RejectedGraphError(
            f"torch-mlir cannot import it: {type(error).__name__}: {shorten_message(str(error))}"
        ) from error
    finally:
        handler.detach()


def explain_failed_lowering(graph: Graph, message: str) -> str:
    """Returns the reason why torch-mlir does not lower a graph. Its messages often name another operation."""
    names = list(
        dict.fromkeys(
            get_operation_name(node) for node in list_operations(graph) if node.target is not operator.getitem
        )
    )
    if not UNNAMED_OPERATION.search(message):
        return f"torch-mlir refuses it: {message}"
    if len(names) == 1:
        return f"torch-mlir has no lowering to linalg of {names[0]}"
    return "torch-mlir has no lowering to linalg of an operation of the graph"


def shorten_message(text: str) -> str:
    """Returns a message on one line, without the operation that torch-mlir appends."""
    return " ".join(text.split(": %", 1)[0].split())


def write_names(function: ir.Operation, names: Sequence[tuple[str, ...] | None]) -> None:
    """Writes dimension names and declared sizes as attributes of the function."""
    if not any(names):
        return
    dims = [
        {"spyre.dims": ir.ArrayAttr.get([ir.StringAttr.get(name) for name in dim_names])} if dim_names else {}
        for dim_names in names
    ]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(attributes) for attributes in dims])
    used = dict.fromkeys(name for dim_names in names for name in dim_names or ())
    integer = ir.IntegerType.get_signless(64)
    sizes = {name: ir.IntegerAttr.get(integer, size) for name in used if (size := get_declared_size(name)) is not None}
    if sizes:
        function.attributes["spyre.dim_sizes"] = ir.DictAttr.get(sizes)


def list_operations(graph: torch.fx.Graph) -> list[Node]:
    """Returns the operations of a graph."""
    return [node for node in graph.nodes if node.op == "call_function"]
