"""Models of Hugging Face as they are, small, with random weights of their own initialisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers

# Heads of 64 are those of GPT-2, BERT, CLIP and ViT; those of Llama, Granite and Mistral have 128.
WIDTH = dict(hidden_size=256, num_hidden_layers=2, num_attention_heads=4, intermediate_size=512)
TEXT = dict(**WIDTH, vocab_size=512, max_position_embeddings=128)
GROUPED = dict(num_key_value_heads=2, head_dim=128)
TOKENS = 64


def causal(model: type, config: type, **choices: Any) -> Callable[[], torch.nn.Module]:
    return lambda: model(config(**choices))


DECODERS: dict[str, Callable[[], torch.nn.Module]] = {
    "GPT-2": causal(
        transformers.GPT2LMHeadModel, transformers.GPT2Config, n_embd=256, n_layer=2, n_head=4, vocab_size=512, n_positions=128
    ),
    "Llama": causal(transformers.LlamaForCausalLM, transformers.LlamaConfig, **TEXT, **GROUPED),
    "Granite": causal(transformers.GraniteForCausalLM, transformers.GraniteConfig, **TEXT, **GROUPED),
    "Mistral, window of 16": causal(transformers.MistralForCausalLM, transformers.MistralConfig, **TEXT, **GROUPED, sliding_window=16),
    "Mixtral, 4 experts": causal(transformers.MixtralForCausalLM, transformers.MixtralConfig, **TEXT, **GROUPED, num_local_experts=4),
}

ENCODERS: dict[str, tuple[Callable[[], torch.nn.Module], Callable[[], dict[str, torch.Tensor]]]] = {
    "BERT": (causal(transformers.BertModel, transformers.BertConfig, **TEXT), lambda: {"input_ids": ids(TOKENS)}),
    "CLIP text": (
        causal(transformers.CLIPTextModel, transformers.CLIPTextConfig, **{**TEXT, "max_position_embeddings": 77}),
        lambda: {"input_ids": ids(TOKENS)},
    ),
    "ViT": (
        causal(transformers.ViTModel, transformers.ViTConfig, **WIDTH, image_size=32, patch_size=8),
        lambda: {"pixel_values": torch.randn(1, 3, 32, 32)},
    ),
}


def ids(tokens: int) -> torch.Tensor:
    return torch.randint(0, 500, (1, tokens))
