"""Export of a module for both exporters: its linalg, its inputs, and its results in three formats."""

import pathlib

import numpy
import torch
from device_format import run_in_device_format
from torch_mlir import fx


def keep_f32_buffers(module):
    """Returns f32 copies of the non-persistent buffers, such as frequencies: a loaded model has them in f32.

    Marks the buffers persistent, as the importer requires.
    """
    f32_buffers = {}
    for submodule in module.modules():
        for name in list(submodule._non_persistent_buffers_set):
            buffer = submodule._buffers.get(name)
            if buffer is not None and buffer.is_floating_point():
                f32_buffers[(submodule, name)] = buffer.clone().float()
        submodule._non_persistent_buffers_set = set()
    return f32_buffers


def export(folder, name, module, inputs):
    """Writes NAME.mlir and NAME.npz to `folder`.

    NAME.mlir is the module in f16. NAME.npz contains the inputs and the results in f32, in f16 and in the device's
    format.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    f32_buffers = keep_f32_buffers(module)
    # The weights of both modules are representable in f16.
    module = module.half().eval()
    try:
        with torch.no_grad():
            wide = [tensor.float() if tensor.is_floating_point() else tensor for tensor in inputs]
            result = module.float()(*wide)
            in_format = run_in_device_format(module, wide)
            module = module.half()
            for (submodule, buffer), numbers in f32_buffers.items():
                submodule._buffers[buffer] = numbers
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
