"""Export of a module, shared by both exporters: its linalg, and its f32 results for given inputs."""

import pathlib

import numpy
import torch
from device_format import in_device_format
from torch_mlir import fx


def keep_numbers_of_positions(module):
    """Keeps non-persistent buffers, such as frequencies, in f32 as in a loaded model. Marks them persistent, as the importer requires."""
    kept = {}
    for part in module.modules():
        for name in list(part._non_persistent_buffers_set):
            buffer = part._buffers.get(name)
            if buffer is not None and buffer.is_floating_point():
                kept[(part, name)] = buffer.clone().float()
        part._non_persistent_buffers_set = set()
    return kept


def export(folder, name, module, inputs):
    """Writes NAME.mlir of the module in f16, and NAME.npz with the inputs and the results of the module in f32, in f16 and in the device's format."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    kept = keep_numbers_of_positions(module)
    # Both modules have weights that are representable in f16.
    module = module.half().eval()
    try:
        with torch.no_grad():
            wide = [tensor.float() if tensor.is_floating_point() else tensor for tensor in inputs]
            result = module.float()(*wide)
            in_format = in_device_format(module, wide)
            module = module.half()
            for (part, buffer), numbers in kept.items():
                part._buffers[buffer] = numbers
            in_f16 = module(*inputs)
            exported = fx.export_and_import(module, *inputs, output_type="linalg-on-tensors", func_name="main")
    except Exception as error:
        print(f"{name}: torch-mlir does not export it: {type(error).__name__} {str(error)[-200:]!r}", flush=True)
        return
    (folder / f"{name}.mlir").write_text(exported.operation.get_asm(enable_debug_info=True))
    arrays = {f"arg{position}": tensor.numpy() for position, tensor in enumerate(inputs)}
    results = {"result0": result, "f16_result0": in_f16, "format_result0": in_format}
    numpy.savez(folder / f"{name}.npz", **{key: tensor.float().numpy() for key, tensor in results.items()}, **arrays)
    print(name, flush=True)
