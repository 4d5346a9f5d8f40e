"""Wrapping of linalg operations in hint scopes, by the marks in their locations."""

import pytest

pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

from torch_mlir import ir  # noqa: E402

from spyre_mlir.torch import _scopes  # noqa: E402

T = "tensor<4xf16>"


def wrap_ops(ops, requests, result):
    """Applies `wrap_scopes` to `exp`s (name, operand, scopes). In the result, letters are operations and brackets are
    scopes."""
    body = "".join(
        f"    %{name} = linalg.exp ins(%{read} : {T}) outs(%x : {T}) -> {T} "
        f'loc("{name}.py{_scopes.HINT_MARK + path if path else ""}":1:1)\n'
        for name, read, path in ops
    )
    text = (
        f'func.func @main(%x: {T}) -> {T} {{\n{body}    return %{result} : {T} loc("f.py{_scopes.HINT_MARK}1":1:1)\n}}'
    )
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        block = module.body.operations[0].regions[0].blocks[0]
        _scopes.wrap_scopes(block, requests)
        assert module.operation.verify()
        return format_block(block)


def format_block(block):
    found = ""
    for op in block.operations:
        if op.operation.name == "spyre.hint":
            [dim] = op.operation.attributes["tile_dims"]
            found += f"{dim.value}[{format_block(op.operation.regions[0].blocks[0])}]"
        elif op.operation.name == "linalg.exp":
            found += str(op.operation.location)[len('loc("')]
    return found


ONE = {1: {"tiles": {"M": 2}}}
TWO = {1: {"tiles": {"M": 2}}, 2: {"tiles": {"K": 2}}}


@pytest.mark.parametrize(
    ("ops", "requests", "expected"),
    [
        ([("a", "x", "1"), ("b", "a", "1")], ONE, "M[ab]"),
        # An operation in between that reads no value of the scope is moved before it.
        ([("a", "x", "1"), ("b", "x", ""), ("c", "b", "1")], ONE, "bM[ac]"),
        # An operation that reads a value of the scope splits it.
        ([("a", "x", "1"), ("b", "a", ""), ("c", "b", "1")], ONE, "M[a]bM[c]"),
        ([("a", "x", "1"), ("b", "a", "1,2"), ("c", "b", "1")], TWO, "M[aK[b]c]"),
        ([("a", "x", "1"), ("b", "a", "2")], TWO, "M[a]K[b]"),
        ([("a", "x", ""), ("b", "a", "1"), ("c", "b", "")], ONE, "aM[b]c"),
    ],
)
def test_wraps_neighboring_operations(ops, requests, expected):
    assert wrap_ops(ops, requests, ops[-1][0]) == expected


def test_returns_values_that_outside_users_read():
    assert wrap_ops([("a", "x", "1,2"), ("b", "x", "1"), ("c", "a", "")], TWO, "c") == "M[K[a]b]c"


def test_restores_file_names():
    assert _scopes.remove_marks(f'loc("a.py{_scopes.HINT_MARK}1,22":1:1)') == 'loc("a.py":1:1)'
