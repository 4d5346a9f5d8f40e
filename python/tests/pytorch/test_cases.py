"""The thirty cases compared with PyTorch, and their stored linalg."""

import copy
import os
import pathlib

import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

from cases import CASES  # noqa: E402

from spyre_mlir.torch import backend  # noqa: E402

STORED = pathlib.Path(__file__).parent / "cases"


def copy_to_f32(value):
    """Returns a copy in f32, on which PyTorch computes the expected results."""
    if isinstance(value, torch.nn.Module):
        return copy.deepcopy(value).float()
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.detach().clone().float()
    return value.clone() if isinstance(value, torch.Tensor) else value


def compute_error(found, expected):
    """Returns the root mean square of the difference, relative to that of `expected`."""
    found, expected = found.double(), expected.double()
    scale = expected.square().mean().sqrt().item()
    return (found - expected).square().mean().sqrt().item() / (scale or 1.0)


def list_outputs(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_pytorch(name, fallback_lines):
    case = CASES[name]
    torch.manual_seed(0)
    function, inputs = case.make()
    compiled = torch.compile(function, backend=backend, dynamic=case.dynamic)
    for call in range(case.num_calls):
        if call:
            inputs = case.make()[1]
        check_agreement(case, function, compiled, inputs)
    assert not fallback_lines(), "the complete case is compiled"


def check_agreement(case, function, compiled, inputs):
    exact = copy_to_f32(function)
    exact_inputs = [copy_to_f32(value) for value in inputs]
    with torch.no_grad():
        expected = list_outputs(exact(*exact_inputs))
        found = list_outputs(compiled(*inputs))
    assert len(found) == len(expected)
    # In-place changes are compared as well.
    state = [*inputs, *function.buffers()] if isinstance(function, torch.nn.Module) else list(inputs)
    exact_state = [*exact_inputs, *exact.buffers()] if isinstance(exact, torch.nn.Module) else exact_inputs
    for a, b in zip([*found, *state], [*expected, *exact_state], strict=True):
        if isinstance(a, torch.Tensor):
            assert a.shape == b.shape
            assert compute_error(a, b) <= case.max_error


@pytest.mark.parametrize("name", CASES)
def test_preserves_aliases(name):
    function, inputs = CASES[name].make()
    compiled = torch.compile(function, backend=backend, dynamic=False)
    with torch.no_grad():
        expected = find_aliases(list_outputs(function(*inputs)), inputs)
        found = find_aliases(list_outputs(compiled(*inputs)), inputs)
    assert found == expected


def find_aliases(results, inputs):
    """Returns a matrix that shows which results and inputs share their storage."""
    tensors = [value for value in [*results, *inputs] if isinstance(value, torch.Tensor)]
    storages = [tensor.untyped_storage().data_ptr() for tensor in tensors]
    return [[a == b for b in storages] for a in storages]


@pytest.mark.parametrize("name", CASES)
def test_compiles_stored_text(name, linalg):
    torch.manual_seed(0)
    function, inputs = CASES[name].make()
    with torch.no_grad():
        torch.compile(function, backend=backend, dynamic=False)(*inputs)
    assert linalg
    for number, text in enumerate(linalg):
        path = STORED / f"{name}_{number}.mlir"
        if os.environ.get("BLESS") == "cases":
            path.write_text(text)
        assert path.read_text() == text, "BLESS=cases rewrites it"
