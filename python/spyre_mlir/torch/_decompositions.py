"""Decompositions of PyTorch operations: torch-mlir's table, and additions for the fused layers that PyTorch's own
modules call without gradients (its fast path), for distances, and for the sum of a tensor and a matrix-vector
product."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

# For each `mask_type`, the mask broadcast to scores of shape [batch, heads, queries, keys].
MASK_SHAPES: dict[int, Callable[[Tensor], Tensor]] = {
    0: lambda mask: mask[None, None],
    1: lambda mask: mask[:, None, None, :],
    2: lambda mask: mask,
}


@functools.cache
def get_decompositions() -> dict[torch._ops.OperatorBase, Callable[..., Any]]:
    """Returns the decompositions, by operation."""
    return {
        **get_decomposition_table(),
        torch.ops.aten.addmv.default: compute_addmv,
        torch.ops.aten._cdist_forward.default: compute_distances,
        torch.ops.aten._native_multi_head_attention.default: compute_attention,
        torch.ops.aten._transformer_encoder_layer_fwd.default: compute_encoder_layer,
    }


def compute_addmv(operand: Tensor, matrix: Tensor, vector: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Computes `torch.addmv`. If `beta` is 0, `operand` is ignored, even if it is NaN or infinite."""
    product = (matrix @ vector) * alpha
    return product if beta == 0 else operand * beta + product


def compute_distances(rows: Tensor, others: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """Computes `torch.cdist`, the distances between all pairs of rows, from differences, which is exact in every
    mode."""
    difference = (rows.unsqueeze(-2) - others.unsqueeze(-3)).abs()
    if p == 0:
        return (difference != 0).to(rows.dtype).sum(-1)
    if p == float("inf"):
        return difference.amax(-1)
    if p == 1:
        return difference.sum(-1)
    return difference.square().sum(-1).sqrt() if p == 2 else difference.pow(p).sum(-1).pow(1 / p)


def compute_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Computes `nn.MultiheadAttention`: the result, and the weights or an empty tensor."""
    projected = (
        functional.linear(operand, weight, bias).unflatten(-1, (num_head, -1)).transpose(1, 2)
        for operand, weight, bias in zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3), strict=True)
    )
    q, k, v = projected
    scores = q @ k.transpose(-2, -1) * (embed_dim // num_head) ** -0.5
    if mask is not None:
        # A floating-point mask is -inf at masked positions, and 0 elsewhere.
        hidden = MASK_SHAPES[2 if mask_type is None else mask_type](mask.bool())
        scores = scores.masked_fill(hidden, float("-inf"))
    weights = torch.softmax(scores, -1)
    result = functional.linear((weights @ v).transpose(1, 2).flatten(2), proj_weight, proj_bias)
    if not need_weights:
        return result, query.new_empty(0)
    return result, weights.mean(1) if average_attn_weights else weights


def compute_encoder_layer(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    """Computes `nn.TransformerEncoderLayer`."""

    def normalize_first(x: Tensor) -> Tensor:
        return functional.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def normalize_second(x: Tensor) -> Tensor:
        return functional.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    def attend(x: Tensor) -> Tensor:
        weights = (qkv_weight, qkv_bias, proj_weight, proj_bias)
        return compute_attention(x, x, x, embed_dim, num_heads, *weights, mask, False, True, mask_type)[0]

    def feed(x: Tensor) -> Tensor:
        activation = functional.gelu if use_gelu else functional.relu
        return functional.linear(activation(functional.linear(x, ffn_weight_1, ffn_bias_1)), ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = src + attend(normalize_first(src))
        return x + feed(normalize_second(x))
    x = normalize_first(src + attend(src))
    return normalize_second(x + feed(x))
