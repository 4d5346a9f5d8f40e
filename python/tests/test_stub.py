"""Compares the names and parameters in `_native.pyi` with the native module."""

import ast
import inspect
from pathlib import Path

import spyre_mlir
from spyre_mlir import _native

STUB = Path(spyre_mlir.__file__).with_name("_native.pyi")


def list_declared_parameters(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in function.args.args if argument.arg not in ("self", "cls")]


def list_native_parameters(function: object) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_declares_each_name_of_native_module():
    body = ast.parse(STUB.read_text()).body
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    variables = {node.target.id for node in body if isinstance(node, ast.AnnAssign)}
    # `Page` is a class of the module that only `compile` constructs; the dictionaries are types of the stub only.
    exported = {name for name in vars(_native) if not name.startswith("_")}
    dictionaries = {name for name, node in classes.items() if any(base.id == "TypedDict" for base in node.bases)}
    own = {name for name in variables if not name.startswith("_")}
    assert functions.keys() | own | (classes.keys() - dictionaries - {"Page"}) == exported
    for name, node in functions.items():
        assert list_declared_parameters(node) == list_native_parameters(getattr(_native, name)), name


def test_declares_each_method_of_simulation():
    body = ast.parse(STUB.read_text()).body
    declared = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == "Simulation")
    methods = {node.name: node for node in declared.body if isinstance(node, ast.FunctionDef)}
    native = {name for name in vars(_native.Simulation) if not name.startswith("__")}
    assert methods.keys() - {"__new__"} == native
    for name in native:
        assert list_declared_parameters(methods[name]) == list_native_parameters(getattr(_native.Simulation, name)), (
            name
        )
