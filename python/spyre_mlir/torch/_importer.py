"""FX graphs to linalg on tensors, by torch-mlir, with names of dimensions and hint scopes."""

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
from ._hints import declared_size
from ._places import folded, frames_of
from ._refusal import NotTaken

ENTRY = "main"

SIZE_ADVICE = "use torch.where(condition, x, 0) in place of a selection"

#: Messages of torch-mlir that name an operation of its own, such as a constant beside the one that it cannot lower.
UNNAMED = re.compile(r"failed to legalize operation 'torch\.")


@dataclasses.dataclass(frozen=True)
class Linalg:
    """A program as text: with locations for messages, and without them to be told from others."""

    text: str
    bare: str


def linalg_of(gm: GraphModule, names: Sequence[tuple[str, ...] | None], labels: Sequence[str | None] = ()) -> Linalg:
    """Lowers a graph whose inputs and outputs are tensors.

    `names` are those of the dimensions of each input, `labels` those of the inputs in the model.
    """
    check_shapes(gm.graph)
    copied = GraphModule(gm, copy.deepcopy(gm.graph))
    place_by_modules(copied.graph)
    wishes = _scopes.mark(copied.graph)
    module = lowered(copied)
    with module.context as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        function = next(op for op in module.body.operations if op.operation.name == "func.func")
        write_names(function, names)
        if wishes:
            _scopes.wrap(function.regions[0].blocks[0], wishes)
        text = with_labels(_scopes.unmark(module.operation.get_asm(enable_debug_info=True)), gm.graph, labels)
        return Linalg(text, module.operation.get_asm(enable_debug_info=False))


def check_shapes(graph: Graph) -> None:
    """Refuses sizes that depend on values, on which torch-mlir does not end."""
    for node in graph.nodes:
        if has_unknown_size(node):
            raise NotTaken(size_reason(node))


def size_reason(node: Node) -> str:
    """Returns why an operation is refused whose result, or whose operand, has a size that depends on values."""
    what = "an input" if node.op == "placeholder" else f"the result of {operation_name(node)}"
    return f"{what} has a size that depends on values; {SIZE_ADVICE}"


def has_unknown_size(node: Node) -> bool:
    """Returns whether a size of a result is known only when the values are."""
    tensors = [value for value in pytree.tree_leaves(node.meta.get("val")) if isinstance(value, torch.Tensor)]
    if any(free_unbacked_symbols(value) for value in tensors):
        return True
    # The operation may have such a size, as a selection by a mask; one by integers has recorded sizes.
    return not tensors and torch.Tag.dynamic_output_shape in getattr(node.target, "tags", ())


def with_labels(text: str, graph: Graph, labels: Sequence[str | None]) -> str:
    """Returns the text with the names of the inputs as names of the locations of the function's arguments."""
    header = next((line for line in text.splitlines() if f"func.func @{ENTRY}(" in line), "")
    named = header
    for number, (node, label) in enumerate(zip(graph.find_nodes(op="placeholder"), labels, strict=False)):
        start = named.find(" loc(", named.find(f"%arg{number}: "))
        if label and start >= 0:
            named = named[:start] + f" loc({json.dumps(label)}({first_use(node)}))" + named[closing(named, start + len(" loc(")) + 1 :]
    return text.replace(header, named, 1) if header else text


def first_use(node: Node) -> str:
    """Returns where an input is read first, as a location."""
    frames = folded(frames_of(next(iter(node.users)).meta.get("stack_trace"))) if node.users else []
    return f"{json.dumps(frames[-1][0])}:{frames[-1][1]}:0" if frames else "unknown"


def closing(text: str, start: int) -> int:
    """Returns the position of the parenthesis that closes the one in front of `start`."""
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


def operation_name(node: Node) -> str:
    """Returns the name of an operation as PyTorch's users know it: `aten.histc`, without the overload."""
    return str(node.target).removesuffix(".default")


def place_by_modules(graph: Graph) -> None:
    """Locates operations without a user's line by the class of their module."""
    for node in calls(graph):
        modules = list((node.meta.get("nn_module_stack") or {}).values())
        if not node.meta.get("stack_trace") and modules:
            path, kind = modules[-1]
            if isinstance(kind, type) and (place := place_of_class(kind)):
                node.meta["stack_trace"] = f'  File "{place[0]}", line {place[1]}, in {path}\n    class {kind.__name__}\n'


@functools.cache
def place_of_class(kind: type) -> tuple[str, int] | None:
    try:
        return inspect.getsourcefile(kind), inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):
        return None


def lowered(gm: GraphModule) -> ir.Module:
    """The graph in linalg. What torch-mlir says of its errors becomes the reason, instead of lines on the terminal."""
    context = ir.Context()
    torch_dialect.register_dialect(context)
    said: list[str] = []
    handler = context.attach_diagnostic_handler(lambda diagnostic: said.append(diagnostic.message) or True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importer = FxImporter(context=context)
            return fx.stateless_fx_import(gm, output_type="linalg-on-tensors", model_name=ENTRY, fx_importer=importer)
    except TorchMlirCompilerError as error:
        raise NotTaken(lowering_reason(gm.graph, brief(said[0] if said else str(error)))) from error
    except Exception as error:  # The importer has no type of its own for what it does not know.
        raise NotTaken(f"torch-mlir cannot import it: {type(error).__name__}: {brief(str(error))}") from error
    finally:
        handler.detach()


def lowering_reason(graph: Graph, message: str) -> str:
    """Returns why torch-mlir does not lower a graph. torch-mlir often names another operation than the unsupported
    one."""
    names = list(dict.fromkeys(operation_name(node) for node in calls(graph) if node.target is not operator.getitem))
    if not UNNAMED.search(message):
        return f"torch-mlir refuses it: {message}"
    if len(names) == 1:
        return f"torch-mlir has no lowering to linalg of {names[0]}"
    return "torch-mlir has no lowering to linalg of an operation of the graph"


def brief(text: str) -> str:
    """A message on one line, without the operation that torch-mlir prints behind it."""
    return " ".join(text.split(": %", 1)[0].split())


def write_names(function: ir.Operation, names: Sequence[tuple[str, ...] | None]) -> None:
    """Names of the arguments and declared sizes, as the compiler reads them."""
    if not any(names):
        return
    dims = [{"spyre.dims": ir.ArrayAttr.get([ir.StringAttr.get(name) for name in of_one])} if of_one else {} for of_one in names]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(attributes) for attributes in dims])
    used = dict.fromkeys(name for of_one in names for name in of_one or ())
    integer = ir.IntegerType.get_signless(64)
    sizes = {name: ir.IntegerAttr.get(integer, size) for name in used if (size := declared_size(name)) is not None}
    if sizes:
        function.attributes["spyre.dim_sizes"] = ir.DictAttr.get(sizes)


def calls(graph: torch.fx.Graph) -> list[Node]:
    """The operations of a graph."""
    return [node for node in graph.nodes if node.op == "call_function"]
