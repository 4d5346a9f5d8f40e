"""Replaces `torch_spyre` if it is not installed, so that programs with its imports run unchanged.

Only the functions for hints are available. The modules are registered when `spyre_mlir.torch` is imported.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable
from typing import Any

from ._hints import declare_tensor_dim, name_tensor_dims, spyre_hint

PACKAGE = "torch_spyre"
FUNCTIONS = (spyre_hint, declare_tensor_dim, name_tensor_dims)
MODULES: dict[str, tuple[Callable[..., Any], ...]] = {
    PACKAGE: (),
    f"{PACKAGE}._inductor": FUNCTIONS,
    f"{PACKAGE}._inductor.propagate_named_dims": FUNCTIONS,
}


def register() -> None:
    """Registers the modules, unless `torch_spyre` is installed or loaded."""
    if PACKAGE in sys.modules or importlib.util.find_spec(PACKAGE) is not None:
        return
    for name, functions in MODULES.items():
        sys.modules[name] = make_module(name, functions)
    for name in MODULES:
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, sys.modules[name])


def make_module(name: str, functions: tuple[Callable[..., Any], ...]) -> types.ModuleType:
    stub = types.ModuleType(name, __doc__)
    stub.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    stub.__path__ = []
    for function in functions:
        setattr(stub, function.__name__, function)
    stub.__getattr__ = make_getattr(name)
    return stub


def make_getattr(module_name: str) -> Callable[[str], Any]:
    """Returns a module's `__getattr__`, which raises an error that names the available functions."""

    def look_up(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        names = ", ".join(function.__name__ for function in FUNCTIONS)
        raise ImportError(
            f"{module_name}.{name}: torch_spyre is not installed, and spyre_mlir.torch replaces only {names}"
        )

    return look_up
