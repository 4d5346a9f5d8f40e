"""Device "spyre", for programs that move tensors to a device. It is emulated: its memory is host memory.

Outside of `torch.compile`, PyTorch executes operations on such tensors on the host. AOTAutograd unwraps the host
tensors, so compiled graphs contain host tensors only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "spyre"


class SpyreTensor(torch.Tensor):
    """Tensor on the device; `host` contains its elements."""

    host: torch.Tensor

    @staticmethod
    def __new__(cls, host: torch.Tensor) -> SpyreTensor:
        return torch.Tensor._make_wrapper_subclass(
            cls,
            host.shape,
            strides=host.stride(),
            storage_offset=host.storage_offset(),
            dtype=host.dtype,
            layout=host.layout,
            device=torch.device(NAME, 0),
            requires_grad=host.requires_grad,
        )

    def __init__(self, host: torch.Tensor) -> None:
        self.host = host

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["host"], None

    @staticmethod
    def __tensor_unflatten__(
        inner: dict[str, torch.Tensor], meta: None, size: Sequence[int], stride: Sequence[int]
    ) -> SpyreTensor:
        # Tensors that a graph creates, such as filled ones, may be on the device already.
        return SpyreTensor(get_host(inner["host"]))

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return f"{repr(self.host).removesuffix(')')}, device='{NAME}')"

    @classmethod
    def __torch_dispatch__(
        cls,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        requested = (kwargs or {}).get("device")
        result = function(*pytree.tree_map(get_host, args), **pytree.tree_map(get_host, kwargs or {}))
        is_on_host = requested is not None and not is_spyre(requested)
        return result if is_on_host else pytree.tree_map(wrap_tensor, result)


def is_spyre(device: object) -> bool:
    return isinstance(device, (str, torch.device)) and torch.device(device).type == NAME


def get_host(value: Any) -> Any:
    """Returns the host tensor of a tensor on the device, and the CPU for the device; other values unchanged."""
    if isinstance(value, SpyreTensor):
        return value.host
    if isinstance(value, torch.Tensor) and is_spyre(value.device):
        # The result of a factory function during type inference (FakeTensor).
        return value.to("cpu")
    return torch.device("cpu") if isinstance(value, torch.device) and is_spyre(value) else value


def wrap_tensor(value: Any) -> Any:
    return SpyreTensor(value) if isinstance(value, torch.Tensor) else value


@functools.cache
def register_device() -> None:
    """Registers the device "spyre", and makes this backend the default of `torch.compile`.

    PyTorch has one such device (PrivateUse1) for each process.
    """
    from ._backend import backend

    _setup_privateuseone_for_python_backend(NAME)
    register_memory()
    torch.compiler.set_default_backend(backend)


@functools.cache
def register_memory() -> torch.library.Library:
    """Registers the operations that PyTorch requires of a device: allocation, and copies to and from it."""
    library = torch.library.Library("aten", "IMPL")

    def empty(size: Sequence[int], *, dtype: torch.dtype | None = None, **rest: Any) -> torch.Tensor:
        return SpyreTensor(torch.empty(size, dtype=dtype))

    def empty_strided(
        size: Sequence[int], stride: Sequence[int], *, dtype: torch.dtype | None = None, **rest: Any
    ) -> torch.Tensor:
        return SpyreTensor(torch.empty_strided(size, stride, dtype=dtype))

    def copy_from(source: torch.Tensor, to: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        get_host(to).copy_(get_host(source))
        return to

    for name, function in (("empty.memory_format", empty), ("empty_strided", empty_strided), ("_copy_from", copy_from)):
        library.impl(name, function, "PrivateUse1")
    return library
