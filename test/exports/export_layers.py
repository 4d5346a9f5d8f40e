"""Exports layers of models at their real sizes in f16, with every weight as an argument.

Usage: export_layers.py DIR [NAME...]. Writes DIR/NAME.mlir; weights are random, so only plans can be compared.
"""

import pathlib
import sys
import warnings

import torch
import transformers as T
from torch import nn
from torch.nn import functional as F
from torch_mlir import fx

warnings.filterwarnings("ignore")


class WeightsAsArguments(nn.Module):
    """Calls `module` with parameters and buffers that follow the inputs as arguments."""

    def __init__(self, module, num_inputs):
        super().__init__()
        # A list keeps `module` out of the submodules, so that the export has no weights.
        self.module, self.num_inputs = [module], num_inputs
        self.names = [name for name, _ in module.named_parameters()] + [name for name, _ in module.named_buffers()]

    def forward(self, *arguments):
        weights = dict(zip(self.names, arguments[self.num_inputs:]))
        result = torch.func.functional_call(self.module[0], weights, arguments[:self.num_inputs])
        while isinstance(result, (tuple, list)):
            result = result[0]
        return result


class SelfAttention(nn.Module):
    """Attention with keys and values of `context`, or of the queries' tensor."""

    def __init__(self, width, heads, context_width=None, bias=False):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias)
        self.key = nn.Linear(context_width or width, width, bias)
        self.value = nn.Linear(context_width or width, width, bias)
        self.output = nn.Linear(width, width)

    def forward(self, x, context=None):
        context = x if context is None else context
        query, key, value = (
            projection(tensor).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projection, tensor in ((self.query, x), (self.key, context), (self.value, context)))
        scores = query @ key.transpose(-1, -2) / query.shape[-1]**0.5
        return self.output((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))


class DiffusionTransformerBlock(nn.Module):
    """Transformer block of Stable Diffusion's U-Net: normalization, projection, self and cross attention, GEGLU."""

    def __init__(self, width, heads, context_width):
        super().__init__()
        self.norm = nn.GroupNorm(32, width)
        self.project_in, self.project_out = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.self_attention = SelfAttention(width, heads)
        self.cross_attention = SelfAttention(width, heads, context_width)
        self.up, self.down = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def forward(self, x, context):
        height = x.shape[-2]
        y = self.project_in(self.norm(x)).flatten(2).transpose(1, 2)
        y = y + self.self_attention(self.norms[0](y))
        y = y + self.cross_attention(self.norms[1](y), context)
        value, gate = self.up(self.norms[2](y)).chunk(2, -1)
        y = y + self.down(value * F.gelu(gate))
        return x + self.project_out(y.transpose(1, 2).unflatten(2, (height, -1)))


class DiffusionResidualBlock(nn.Module):
    """Residual block of Stable Diffusion's U-Net with the embedding of the time step."""

    def __init__(self, width, time_width):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(32, width), nn.GroupNorm(32, width)
        self.conv1, self.conv2 = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)
        self.time = nn.Linear(time_width, width)

    def forward(self, x, time):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return x + self.conv2(F.silu(self.norm2(y)))


class DiTBlock(nn.Module):
    """Block of DiT with adaptive layer norms."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.norm2 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.attention = SelfAttention(width, heads, bias=True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.modulation = nn.Linear(width, 6 * width)

    def forward(self, x, condition):
        shift1, scale1, gate1, shift2, scale2, gate2 = (
            part[:, None] for part in self.modulation(F.silu(condition)).chunk(6, -1))
        x = x + gate1 * self.attention(self.norm1(x) * (1 + scale1) + shift1)
        y = F.gelu(self.up(self.norm2(x) * (1 + scale2) + shift2), approximate="tanh")
        return x + gate2 * self.down(y)


class DenseExperts(nn.Module):
    """Decoder layer in which every expert computes every token, and the router weighs the results (Mixtral)."""

    def __init__(self, config):
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.config = config
        self.norm1, self.norm2 = nn.RMSNorm(width, config.rms_norm_eps), nn.RMSNorm(width, config.rms_norm_eps)
        self.head = width // config.num_attention_heads
        narrow = config.num_key_value_heads * self.head
        self.query, self.key = nn.Linear(width, width, False), nn.Linear(width, narrow, False)
        self.value, self.output = nn.Linear(width, narrow, False), nn.Linear(width, width, False)
        self.router = nn.Linear(width, config.num_local_experts, False)
        self.experts = nn.ModuleList(
            nn.ModuleList(nn.Linear(*sizes, False) for sizes in [(width, inner), (width, inner), (inner, width)])
            for _ in range(config.num_local_experts))

    def forward(self, x, cos, sin, mask):
        def rotate(t):
            low, high = t.chunk(2, -1)
            return t * cos + torch.cat((-high, low), -1) * sin

        y = self.norm1(x)
        query, key, value = (
            projection(y).unflatten(-1, (-1, self.head)).transpose(1, 2)
            for projection in (self.query, self.key, self.value))
        repeats = self.config.num_attention_heads // self.config.num_key_value_heads
        key, value = (t.repeat_interleave(repeats, 1) for t in (rotate(key), value))
        scores = rotate(query) @ key.transpose(-1, -2) / self.head**0.5 + mask
        x = x + self.output((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))
        y = self.norm2(x)
        weights = self.router(y).softmax(-1)
        for number, (gate, up, down) in enumerate(self.experts):
            x = x + weights[..., number:number + 1] * down(F.silu(gate(y)) * up(y))
        return x


def f16(*shape):
    return torch.randn(shape).half()


def decoder_layer(layer, config, tokens):
    """Returns `layer` with rotary tables and a mask as further inputs."""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer(config, 0)

        def forward(self, x, cos, sin, mask):
            return self.layer(x, attention_mask=mask, position_embeddings=(cos, sin))

    head = config.hidden_size // config.num_attention_heads
    return Layer(), [f16(1, tokens, config.hidden_size), f16(1, tokens, head), f16(1, tokens, head),
                     f16(1, 1, tokens, tokens)]


def rows(module, *shape):
    return module, [f16(*shape)]


def granite(tokens):
    from transformers.models.granite.modeling_granite import GraniteDecoderLayer
    config = T.GraniteConfig(hidden_size=4096, intermediate_size=12800, num_attention_heads=32, num_key_value_heads=8,
                             attention_multiplier=0.0078125, residual_multiplier=0.22)
    return decoder_layer(GraniteDecoderLayer, config, tokens)


def llama(tokens):
    from transformers.models.llama.modeling_llama import LlamaDecoderLayer
    config = T.LlamaConfig(hidden_size=4096, intermediate_size=14336, num_attention_heads=32, num_key_value_heads=8)
    return decoder_layer(LlamaDecoderLayer, config, tokens)


def mixtral(tokens):
    config = T.MixtralConfig()
    module = DenseExperts(config)
    head = config.hidden_size // config.num_attention_heads
    return module, [f16(1, tokens, config.hidden_size), f16(tokens, head), f16(tokens, head), f16(tokens, tokens)]


def whisper():
    from transformers.models.whisper.modeling_whisper import WhisperEncoderLayer
    config = T.WhisperConfig(d_model=768, encoder_attention_heads=12, encoder_ffn_dim=3072)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = WhisperEncoderLayer(config)

        def forward(self, x):
            return self.layer(x, None)

    return Layer(), [f16(1, 1500, 768)]


def gather(num_rows, table_rows, width):
    class Gather(nn.Module):
        def forward(self, table, index):
            return F.embedding(index, table)

    return Gather(), [f16(table_rows, width), torch.arange(num_rows)]


LAYERS = {
    "sd_transformer_320": lambda: (DiffusionTransformerBlock(320, 8, 768), [f16(1, 320, 64, 64), f16(1, 77, 768)]),
    "sd_residual_320": lambda: (DiffusionResidualBlock(320, 1280), [f16(1, 320, 64, 64), f16(1, 1280)]),
    "resnet50": lambda: rows(T.ResNetModel(T.ResNetConfig()), 1, 3, 224, 224),
    "whisper_small": whisper,
    "dit_xl": lambda: (DiTBlock(1152, 16), [f16(1, 256, 1152), f16(1, 1152)]),
    "vit_b16": lambda: rows(T.ViTModel(T.ViTConfig()), 1, 3, 224, 224),
    "granite8b_512": lambda: granite(512),
    "llama3_8b_512": lambda: llama(512),
    "mixtral_dense_512": lambda: mixtral(512),
    "bert_base_128": lambda: (T.BertModel(T.BertConfig()), [torch.arange(128)[None]]),
    "gather_256": lambda: gather(256, 49155, 2048),
    "gather_40": lambda: gather(40, 49155, 2048),
    "gather_5": lambda: gather(5, 49155, 2048),
}


def main(folder, *names):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or LAYERS:
        module, inputs = LAYERS[name]()
        for part in module.modules():
            if getattr(part, "config", None) is not None:
                part.config._attn_implementation = "eager"
        module = module.eval()
        for tensor in [*module.parameters(), *module.buffers()]:
            if tensor.is_floating_point():
                tensor.data = tensor.data.half()
        wrapper = WeightsAsArguments(module, len(inputs))
        weights = [tensor.detach() for tensor in [*module.parameters(), *module.buffers()]]
        with torch.no_grad():
            exported = fx.export_and_import(wrapper, *inputs, *weights, output_type="linalg-on-tensors",
                                            func_name="main")
        (folder / f"{name}.mlir").write_text(exported.operation.get_asm(enable_debug_info=True))
        print(name, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
