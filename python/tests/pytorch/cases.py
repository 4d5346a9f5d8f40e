"""Thirty programs of the kinds that `torch.compile` passes to a backend: computations, aliases, mutations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass(frozen=True)
class Case:
    """`make` gives a module or function and its inputs; all of it anew each time, since inputs may be changed in place.

    `calls` are more inputs for the same compiled function. `most` bounds the root mean square of the difference from
    PyTorch in f32, relative to the result's: a few roundings to the device's 9 bits.
    """

    make: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]
    most: float = 5e-3
    calls: int = 1
    dynamic: bool | None = False


CASES: dict[str, Case] = {}


def case(**choices: Any) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def add(make: Callable[[], Any]) -> Callable[[], Any]:
        CASES[make.__name__] = Case(make, **choices)
        return make

    return add


def half(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float16)


def module(built: nn.Module) -> nn.Module:
    return built.half().eval()


@case()
def softmax():
    return lambda x: torch.softmax(x, -1), (half(64, 256),)


@case()
def swiglu():
    class SwiGLU(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.up, self.down = nn.Linear(128, 256, False), nn.Linear(128, 256, False), nn.Linear(256, 128, False)

        def forward(self, x):
            return self.down(functional.silu(self.gate(x)) * self.up(x))

    return module(SwiGLU()), (half(32, 128),)


@case()
def linear_gelu():
    return module(nn.Sequential(nn.Linear(128, 256), nn.GELU())), (half(32, 128),)


@case()
def layer_norm():
    return module(nn.LayerNorm(256)), (half(64, 256),)


@case()
def rms_norm():
    return module(nn.RMSNorm(256)), (half(64, 256),)


def heads() -> tuple[torch.Tensor, ...]:
    return half(1, 4, 64, 64), half(1, 4, 64, 64), half(1, 4, 64, 64)


@case()
def attention():
    return lambda q, k, v: functional.scaled_dot_product_attention(q, k, v), heads()


@case()
def causal_attention():
    return lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True), heads()


@case()
def multihead_attention():
    class SelfAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(128, 4, batch_first=True)

        def forward(self, x):
            return self.attention(x, x, x, need_weights=False)[0]

    return module(SelfAttention()), (half(1, 32, 128),)


@case()
def two_outputs():
    return lambda x: (x.sum(-1), torch.exp(x)), (half(64, 128),)


@case()
def output_is_an_input():
    return lambda x, y: (x, x + y), (half(8, 64), half(8, 64))


@case()
def output_is_a_view_of_an_input():
    return lambda x, y: (x.view(64, 8), x + y), (half(8, 64), half(8, 64))


@case()
def two_views_of_one_result():
    def views(x):
        y = x * 2
        return y.view(64, 8), y.t()

    return views, (half(8, 64),)


@case()
def input_changed_in_place():
    def change(x, y):
        x.add_(y)
        return x * 2

    return change, (half(8, 64), half(8, 64))


@case()
def slice_of_a_cache():
    def write(cache, new):
        cache[:, 16:17] = new
        return cache.sum(-1)

    return write, (half(4, 64, 64), half(4, 1, 64))


@case()
def graph_break():
    def parts(x):
        y = x * 2
        torch._dynamo.graph_break()
        return torch.softmax(y, -1)

    return parts, (half(8, 64),)


@case()
def embedding():
    return module(nn.Embedding(100, 128)), (torch.randint(0, 100, (4, 16)),)


@case(most=2e-2)
def bfloat16():
    return lambda x, y: torch.relu(x @ y), (half(32, 64).bfloat16(), half(64, 128).bfloat16())


@case()
def float32():
    return lambda x, y: x * y + 1, (torch.randn(32, 128), torch.randn(32, 128))


@case()
def integer_argument():
    return lambda x, n: x * n, (half(8, 64), 3)


@case()
def constant_tensor():
    table = torch.arange(64, dtype=torch.float16) / 64
    return lambda x: x + table, (half(8, 64),)


@case()
def where():
    return lambda x: torch.where(x > 0, x, x * 0.1), (half(8, 64),)


@case()
def index_copy():
    return lambda x, i, new: x.index_copy(0, i, new), (half(32, 64), torch.tensor([3, 17]), half(2, 64))


@case()
def topk():
    return lambda x: torch.topk(x, 4), (half(8, 64),)


@case()
def cumsum():
    return lambda x: torch.cumsum(x, -1), (half(8, 64),)


@case()
def argmax():
    return lambda x: torch.argmax(x, -1), (half(8, 64),)


@case()
def convolution():
    return module(nn.Conv2d(16, 32, 3, padding=1)), (half(1, 16, 16, 16),)


@case()
def rotary():
    def rotate(x, positions):
        angles = positions[:, None] * (10000.0 ** (-torch.arange(32) / 32))
        cos, sin = angles.cos().half(), angles.sin().half()
        low, high = x.chunk(2, -1)
        return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)

    return rotate, (half(32, 64), torch.arange(32))


@case()
def mask_as_input():
    return lambda x, mask: x.masked_fill(mask, 0), (half(8, 64), torch.rand(8, 64) > 0.5)


@case(dynamic=True, calls=3)
def dynamic_shape():
    return lambda x, y: torch.softmax(x @ y, -1), (half(8 * int(torch.randint(1, 5, ())), 64), half(64, 128))


@case()
def buffer_mutation():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(64))

        def forward(self, x):
            self.seen += x.sum(0)
            return x * self.seen

    return module(Counter()), (half(8, 64),)
