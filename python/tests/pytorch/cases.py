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
    """Test program: `make` returns a new module or function and its inputs, which calls may change in place.

    `num_calls` is the number of calls of the compiled function, each with new inputs. `max_error` is the maximum root
    mean square of the difference from PyTorch in f32, relative to the result: a few roundings to the device's 9 bits.
    """

    make: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]
    max_error: float = 5e-3
    num_calls: int = 1
    dynamic: bool | None = False


CASES: dict[str, Case] = {}


def register_case(**choices: Any) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def register(make: Callable[[], Any]) -> Callable[[], Any]:
        CASES[make.__name__] = Case(make, **choices)
        return make

    return register


def make_f16(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float16)


def prepare_module(built: nn.Module) -> nn.Module:
    return built.half().eval()


@register_case()
def softmax():
    return lambda x: torch.softmax(x, -1), (make_f16(64, 256),)


@register_case()
def swiglu():
    class SwiGLU(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.up, self.down = (
                nn.Linear(128, 256, False),
                nn.Linear(128, 256, False),
                nn.Linear(256, 128, False),
            )

        def forward(self, x):
            return self.down(functional.silu(self.gate(x)) * self.up(x))

    return prepare_module(SwiGLU()), (make_f16(32, 128),)


@register_case()
def linear_gelu():
    return prepare_module(nn.Sequential(nn.Linear(128, 256), nn.GELU())), (make_f16(32, 128),)


@register_case()
def layer_norm():
    return prepare_module(nn.LayerNorm(256)), (make_f16(64, 256),)


@register_case()
def rms_norm():
    return prepare_module(nn.RMSNorm(256)), (make_f16(64, 256),)


def make_heads() -> tuple[torch.Tensor, ...]:
    return make_f16(1, 4, 64, 64), make_f16(1, 4, 64, 64), make_f16(1, 4, 64, 64)


@register_case()
def attention():
    return lambda q, k, v: functional.scaled_dot_product_attention(q, k, v), make_heads()


@register_case()
def causal_attention():
    return lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True), make_heads()


@register_case()
def multihead_attention():
    class SelfAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(128, 4, batch_first=True)

        def forward(self, x):
            return self.attention(x, x, x, need_weights=False)[0]

    return prepare_module(SelfAttention()), (make_f16(1, 32, 128),)


@register_case()
def two_outputs():
    return lambda x: (x.sum(-1), torch.exp(x)), (make_f16(64, 128),)


@register_case()
def output_is_an_input():
    return lambda x, y: (x, x + y), (make_f16(8, 64), make_f16(8, 64))


@register_case()
def output_is_a_view_of_an_input():
    return lambda x, y: (x.view(64, 8), x + y), (make_f16(8, 64), make_f16(8, 64))


@register_case()
def two_views_of_one_result():
    def make_views(x):
        y = x * 2
        return y.view(64, 8), y.t()

    return make_views, (make_f16(8, 64),)


@register_case()
def input_changed_in_place():
    def add_in_place(x, y):
        x.add_(y)
        return x * 2

    return add_in_place, (make_f16(8, 64), make_f16(8, 64))


@register_case()
def slice_of_a_cache():
    def write_slice(cache, new):
        cache[:, 16:17] = new
        return cache.sum(-1)

    return write_slice, (make_f16(4, 64, 64), make_f16(4, 1, 64))


@register_case()
def graph_break():
    def compute_parts(x):
        y = x * 2
        torch._dynamo.graph_break()
        return torch.softmax(y, -1)

    return compute_parts, (make_f16(8, 64),)


@register_case()
def embedding():
    return prepare_module(nn.Embedding(100, 128)), (torch.randint(0, 100, (4, 16)),)


@register_case(max_error=2e-2)
def bfloat16():
    return lambda x, y: torch.relu(x @ y), (make_f16(32, 64).bfloat16(), make_f16(64, 128).bfloat16())


@register_case()
def float32():
    return lambda x, y: x * y + 1, (torch.randn(32, 128), torch.randn(32, 128))


@register_case()
def integer_argument():
    return lambda x, n: x * n, (make_f16(8, 64), 3)


@register_case()
def constant_tensor():
    table = torch.arange(64, dtype=torch.float16) / 64
    return lambda x: x + table, (make_f16(8, 64),)


@register_case()
def where():
    return lambda x: torch.where(x > 0, x, x * 0.1), (make_f16(8, 64),)


@register_case()
def index_copy():
    return lambda x, i, new: x.index_copy(0, i, new), (make_f16(32, 64), torch.tensor([3, 17]), make_f16(2, 64))


@register_case()
def topk():
    return lambda x: torch.topk(x, 4), (make_f16(8, 64),)


@register_case()
def cumsum():
    return lambda x: torch.cumsum(x, -1), (make_f16(8, 64),)


@register_case()
def argmax():
    return lambda x: torch.argmax(x, -1), (make_f16(8, 64),)


@register_case()
def convolution():
    return prepare_module(nn.Conv2d(16, 32, 3, padding=1)), (make_f16(1, 16, 16, 16),)


@register_case()
def rotary():
    def rotate(x, positions):
        angles = positions[:, None] * (10000.0 ** (-torch.arange(32) / 32))
        cos, sin = angles.cos().half(), angles.sin().half()
        low, high = x.chunk(2, -1)
        return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)

    return rotate, (make_f16(32, 64), torch.arange(32))


@register_case()
def mask_as_input():
    return lambda x, mask: x.masked_fill(mask, 0), (make_f16(8, 64), torch.rand(8, 64) > 0.5)


@register_case(dynamic=True, num_calls=3)
def dynamic_shape():
    return lambda x, y: torch.softmax(x @ y, -1), (make_f16(8 * int(torch.randint(1, 5, ())), 64), make_f16(64, 128))


@register_case()
def buffer_mutation():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(64))

        def forward(self, x):
            self.seen += x.sum(0)
            return x * self.seen

    return prepare_module(Counter()), (make_f16(8, 64),)
