"""Runs the Python of the README and of the pages in docs/getting-started, and compares its output with the pages.

Measured numbers, paths and locations vary between machines, so they are not compared.
"""

import contextlib
import io
import logging
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIES = re.compile(r"/\S+/bundle|graph \d+|\d+\.\d+(e-?\d+)?|\d+e-\d+")
# Mark of omitted output in a page.
OMISSION = "..."


def find_blocks(page):
    """Yields the Python blocks of a page, each with the output block that follows directly, or None."""
    found = [(match[1], match[2], match.start(), match.end()) for match in BLOCK.finditer(page)]
    for (kind, code, _, end), following in zip(found, [*found[1:], None], strict=True):
        if kind == "python":
            is_output = following is not None and following[0] == "" and not page[end : following[2]].strip()
            yield code, following[1] if is_output else None


def check_page(name, folder, monkeypatch, caplog):
    """Runs the Python of a page as one program in an empty folder, and compares its output block by block."""
    monkeypatch.chdir(folder)
    # The pages call `basicConfig` for this, which has no effect under pytest.
    caplog.set_level(logging.INFO, logger="spyre_mlir.torch")
    namespace = {"__name__": "page"}
    compared = 0
    for number, (code, expected) in enumerate(find_blocks((ROOT / name).read_text())):
        file = folder / f"block{number}.py"
        file.write_text(code)
        output = io.StringIO()
        handler = logging.StreamHandler(output)
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        logging.getLogger("spyre_mlir.torch").addHandler(handler)
        try:
            with contextlib.redirect_stdout(output):
                exec(compile(code, file, "exec"), namespace)
        finally:
            logging.getLogger("spyre_mlir.torch").removeHandler(handler)
        if expected is not None and OMISSION not in expected:
            found = "".join(line for line in output.getvalue().splitlines(True) if is_shown(line, expected))
            assert VARIES.sub("#", found) == VARIES.sub("#", expected), f"{name}, block {number}"
            compared += 1
    return compared


def is_shown(line, expected):
    """Returns whether a page shows this line: all printed lines, and the log if the page shows a log."""
    return not line.startswith(("INFO:", "WARNING:")) or "INFO:" in expected


def test_runs_pytorch_page(tmp_path, monkeypatch, caplog):
    pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")
    assert check_page("docs/getting-started/pytorch.md", tmp_path, monkeypatch, caplog) > 3


def test_runs_readme(tmp_path, monkeypatch, caplog):
    pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")
    import torch

    # The other page has compiled the same layer.
    torch._dynamo.reset()
    assert check_page("README.md", tmp_path, monkeypatch, caplog) == 1


def test_runs_jax_page(tmp_path, monkeypatch, caplog):
    pytest.importorskip("jax", reason="pip install spyre-mlir[jax]")
    assert check_page("docs/getting-started/jax.md", tmp_path, monkeypatch, caplog) > 1


def test_assigns_output_to_preceding_block():
    page = "```python\na\n```\n\n```\n1\n```\n\n```python\nb\n```\n\nwords\n\n```\n2\n```\n"
    assert list(find_blocks(page)) == [("a\n", "1\n"), ("b\n", None)]
