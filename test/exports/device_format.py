"""What a module computes if the device's 16-bit format, with 9 fraction bits, holds its weights, its inputs and the result of each op."""

import copy

import torch
from torch.utils._python_dispatch import TorchDispatchMode

FRACTION_BITS = 9
# Ops that move elements, or compute constants, round nothing.
MOVES = {
    "_to_copy", "_unsafe_view", "alias", "arange", "as_strided", "cat", "clone", "constant_pad_nd", "detach", "expand", "fill", "full",
    "gather", "index", "index_select", "lift_fresh", "ones", "permute", "reshape", "roll", "scalar_tensor", "select", "slice", "split",
    "squeeze", "stack", "t", "transpose", "unbind", "unsqueeze", "view", "zeros",
}  # fmt: skip


def rounded(numbers):
    """Returns f32 numbers with the fraction bits of the device's format, rounded to nearest, ties to even. Its range is wider than f16's."""
    bits = numbers.float().contiguous().view(torch.int32)
    dropped = 23 - FRACTION_BITS
    half = (1 << (dropped - 1)) - 1 + ((bits >> dropped) & 1)
    return (((bits + half) >> dropped) << dropped).view(torch.float32)


class _Rounds(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        found = function(*args, **(kwargs or {}))
        is_moved = str(function).split(".")[1] in MOVES
        is_rounded = torch.is_tensor(found) and found.dtype == torch.float32 and not is_moved
        return torch.where(found.isfinite(), rounded(found), found) if is_rounded else found


def in_device_format(module, inputs):
    """Returns the result of an f32 module, op by op in the device's format. Products and sums are rounded once, as on the device."""
    module = copy.deepcopy(module).float()
    for numbers in [*module.parameters(), *module.buffers()]:
        if numbers.is_floating_point():
            numbers.data = torch.where(numbers.data.isfinite(), rounded(numbers.data), numbers.data)
    with _Rounds():
        return module(*(rounded(tensor) if tensor.is_floating_point() else tensor for tensor in inputs))
