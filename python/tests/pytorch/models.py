"""Small unmodified models of Hugging Face, with the random weights of their initialization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers

# The head size is 64 in GPT-2, BERT, CLIP and ViT, and 128 in Llama, Granite and Mistral.
WIDTH = dict(hidden_size=256, num_hidden_layers=2, num_attention_heads=4, intermediate_size=512)
TEXT = dict(**WIDTH, vocab_size=512, max_position_embeddings=128)
GROUPED = dict(num_key_value_heads=2, head_dim=128)
TOKENS = 64


def make_builder(model: type, config: type, **choices: Any) -> Callable[[], torch.nn.Module]:
    return lambda: model(config(**choices))


DECODERS: dict[str, Callable[[], torch.nn.Module]] = {
    "GPT-2": make_builder(
        transformers.GPT2LMHeadModel,
        transformers.GPT2Config,
        n_embd=256,
        n_layer=2,
        n_head=4,
        vocab_size=512,
        n_positions=128,
    ),
    "Llama": make_builder(transformers.LlamaForCausalLM, transformers.LlamaConfig, **TEXT, **GROUPED),
    "Granite": make_builder(transformers.GraniteForCausalLM, transformers.GraniteConfig, **TEXT, **GROUPED),
    "Mistral, window of 16": make_builder(
        transformers.MistralForCausalLM, transformers.MistralConfig, **TEXT, **GROUPED, sliding_window=16
    ),
    "Mixtral, 4 experts": make_builder(
        transformers.MixtralForCausalLM, transformers.MixtralConfig, **TEXT, **GROUPED, num_local_experts=4
    ),
}

ENCODERS: dict[str, tuple[Callable[[], torch.nn.Module], Callable[[], dict[str, torch.Tensor]]]] = {
    "BERT": (
        make_builder(transformers.BertModel, transformers.BertConfig, **TEXT),
        lambda: {"input_ids": make_ids(TOKENS)},
    ),
    "CLIP text": (
        make_builder(
            transformers.CLIPTextModel, transformers.CLIPTextConfig, **{**TEXT, "max_position_embeddings": 77}
        ),
        lambda: {"input_ids": make_ids(TOKENS)},
    ),
    "ViT": (
        make_builder(transformers.ViTModel, transformers.ViTConfig, **WIDTH, image_size=32, patch_size=8),
        lambda: {"pixel_values": torch.randn(1, 3, 32, 32)},
    ),
}


def make_ids(tokens: int) -> torch.Tensor:
    return torch.randint(0, 500, (1, tokens))
