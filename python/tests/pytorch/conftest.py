"""Shared fixtures."""

import logging

import pytest


@pytest.fixture(autouse=True)
def reset_state():
    """Resets traces, random numbers and caches, so that tests are independent."""
    import torch

    from spyre_mlir.torch import _cache

    torch._dynamo.reset()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    _cache.clear_memory()
    yield


@pytest.fixture
def linalg(monkeypatch):
    """Texts of all programs that a test compiles, without locations."""
    from spyre_mlir.torch import _region

    found = []
    original = _region.lower_to_linalg

    def record(*arguments):
        program = original(*arguments)
        found.append(program.plain_text)
        return program

    monkeypatch.setattr(_region, "lower_to_linalg", record)
    return found


@pytest.fixture
def fallback_lines(caplog):
    """Log lines about operations on the CPU, and warnings other than their summary."""
    caplog.set_level(logging.DEBUG, logger="spyre_mlir.torch")

    def get_lines():
        messages = [
            (record.levelname, record.getMessage()) for record in caplog.records if record.name == "spyre_mlir.torch"
        ]
        return [
            line
            for level, line in messages
            if " stays on the CPU: " in line or (level == "WARNING" and "ops stay on the CPU (details" not in line)
        ]

    return get_lines
