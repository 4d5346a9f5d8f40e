"""The thirty PyTorch cases as linalg from torch-mlir, compiled and validated without PyTorch.

`pytorch/test_cases.py` compares the stored texts with the current output of PyTorch and torch-mlir.
"""

import pathlib

import pytest

import spyre_mlir

STORED = sorted((pathlib.Path(__file__).parent / "pytorch" / "cases").glob("*.mlir"))


def test_finds_stored_programs():
    assert len(STORED) > 30


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_compiles_and_validates_stored_program(path):
    program = spyre_mlir.compile(path, validate=True)
    assert "agree" in program.validation
    assert program.results
