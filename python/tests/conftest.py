"""What the tests share. They are skipped, and say so, where PyTorch or torch-mlir is absent."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch==2.15.0 torch-mlir==20261001")
pytest.importorskip("torch_mlir", reason="torch-mlir is not installed: pip install torch-mlir==20261001")
pytest.importorskip("spyre_mlir", reason="the wheel is not installed: cargo xtask wheel")


@pytest.fixture(autouse=True)
def alone():
    """Each test traces and draws for itself."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    yield


def pytest_addoption(parser):
    parser.addoption("--write-cases", action="store_true", help="write tests/cases/*.mlir instead of comparing with them")


@pytest.fixture
def linalg(monkeypatch):
    """The texts of all programs that a test compiles, without locations."""
    from spyre_mlir.torch import _region

    found = []
    real = _region.linalg_of

    def recording(gm, names):
        program = real(gm, names)
        found.append(program.bare)
        return program

    monkeypatch.setattr(_region, "linalg_of", recording)
    return found
