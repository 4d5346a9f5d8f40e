"""Fixtures that the tests share."""

import logging

import pytest


@pytest.fixture(autouse=True)
def alone():
    """Resets traces, random numbers and caches, so that tests are independent."""
    import torch

    from spyre_mlir.torch import _cache

    torch._dynamo.reset()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    _cache.forget()
    yield


@pytest.fixture
def linalg(monkeypatch):
    """The texts of all programs that a test compiles, without locations."""
    from spyre_mlir.torch import _region

    found = []
    real = _region.linalg_of

    def recording(*given):
        program = real(*given)
        found.append(program.bare)
        return program

    monkeypatch.setattr(_region, "linalg_of", recording)
    return found


@pytest.fixture
def left(caplog):
    """Lines about what stays on the CPU, and warnings other than the one that groups them."""
    caplog.set_level(logging.DEBUG, logger="spyre_mlir.torch")

    def lines():
        said = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "spyre_mlir.torch"]
        return [
            line
            for level, line in said
            if " stays on the CPU: " in line or (level == "WARNING" and "ops stay on the CPU (details" not in line)
        ]

    return lines
