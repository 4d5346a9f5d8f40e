"""Emulation of the device's 16-bit format, with 9 fraction bits, in PyTorch.

Weights, inputs and the result of each op are rounded to the format.
"""

import copy

import torch
from torch.utils._python_dispatch import TorchDispatchMode

FRACTION_BITS = 9
# Ops that move elements or compute constants do not round.
MOVE_OPS = {
    "_to_copy", "_unsafe_view", "alias", "arange", "as_strided", "cat", "clone", "constant_pad_nd", "detach", "expand",
    "fill", "full", "gather", "index", "index_select", "lift_fresh", "ones", "permute", "reshape", "roll",
    "scalar_tensor", "select", "slice", "split", "squeeze", "stack", "t", "transpose", "unbind", "unsqueeze", "view",
    "zeros",
}  # fmt: skip


def round_to_format(numbers):
    """Rounds f32 numbers to the fraction bits of the device's format: to nearest, ties to even.

    The range of the format is wider than that of f16.
    """
    bits = numbers.float().contiguous().view(torch.int32)
    dropped = 23 - FRACTION_BITS
    half = (1 << (dropped - 1)) - 1 + ((bits >> dropped) & 1)
    return (((bits + half) >> dropped) << dropped).view(torch.float32)


class _RoundingMode(TorchDispatchMode):
    """Rounds the result of each op that computes f32 numbers."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        is_move = str(function).split(".")[1] in MOVE_OPS
        is_rounded = torch.is_tensor(result) and result.dtype == torch.float32 and not is_move
        return torch.where(result.isfinite(), round_to_format(result), result) if is_rounded else result


def run_in_device_format(module, inputs):
    """Returns the result of an f32 module, op by op in the device's format.

    A matmul is rounded once, as on the device.
    """
    module = copy.deepcopy(module).float()
    for numbers in [*module.parameters(), *module.buffers()]:
        if numbers.is_floating_point():
            numbers.data = torch.where(numbers.data.isfinite(), round_to_format(numbers.data), numbers.data)
    with _RoundingMode():
        return module(*(round_to_format(tensor) if tensor.is_floating_point() else tensor for tensor in inputs))
