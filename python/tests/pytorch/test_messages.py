"""Output for users: a line per compilation, one warning for operations on the CPU, and the locations of operations."""

import json
import linecache
import logging
import os
import re
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

import spyre_mlir  # noqa: E402
import spyre_mlir.torch as st  # noqa: E402
from spyre_mlir.torch import _places  # noqa: E402

SUMMARY = re.compile(
    r"spyre: \d+ ops? in 1 part, 0 on CPU, \d+\.\d s; modeled [\d.]+ us \(bound [\d.]+ us\); spyre_mlir.explain\(\) "
    r"has more\n"
)
SCRIPT = textwrap.dedent(
    """
    import sys, torch, spyre_mlir.torch as st
    x = torch.rand(8, 64, dtype=torch.float16)
    function = torch.compile(lambda x: torch.exp(x) + 1, backend=st.backend, options=eval(sys.argv[1]))
    function(x)
    function(x)
    """
)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out_proj = torch.nn.Linear(64, 64)

    def forward(self, x):
        product = self.out_proj(x)
        return torch.tanh(product)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.fixture(autouse=True)
def disable_gradients():
    with torch.no_grad():
        yield


def run_script(options, **environment):
    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, repr(options)], capture_output=True, text=True, env=env, check=True
    )


def test_shows_one_line_on_first_call_only():
    found = run_script({})
    assert SUMMARY.fullmatch(found.stderr) and found.stdout == ""


@pytest.mark.parametrize(("options", "environment"), [({"quiet": True}, {}), ({}, {"SPYRE_QUIET": "1"})])
def test_hides_line_if_quiet(options, environment):
    assert run_script(options, **environment).stderr == ""


def test_writes_line_to_configured_log(caplog, capsys):
    caplog.set_level(logging.INFO, logger="spyre_mlir.torch")
    st.compile(lambda x: x * 2, torch.rand(8, 64, dtype=torch.float16))
    [line] = [record.getMessage() for record in caplog.records if "spyre_mlir.explain()" in record.getMessage()]
    assert line.startswith("<lambda>: 1 op in 1 part, 0 on CPU") and capsys.readouterr().err == ""


def test_groups_rejections_in_one_warning(caplog, capsys):
    def function(x):
        a = torch.fft.fft(x)
        b = torch.fft.fft(a.real + 1)
        return torch.relu(x) + b.real

    torch.compile(function, backend=st.backend)(torch.rand(8, 64))
    [warning] = [
        record for record in caplog.records if record.levelname == "WARNING" and record.name == "spyre_mlir.torch"
    ]
    head, *groups = warning.getMessage().splitlines()
    assert re.fullmatch(r"graph \d+ \(forward\): \d+ of \d+ ops stay on the CPU \(details at debug level\):", head)
    line = function.__code__.co_firstlineno + 1
    assert any(
        group.startswith("  2 x torch-mlir has no lowering to linalg of aten._fft_") and f":{line}, " in group
        for group in groups
    )
    spyre_mlir.explain()
    assert groups[0] in capsys.readouterr().out


@pytest.mark.parametrize("compiled", ["aot", "dynamo"])
def test_reports_modules_weights_and_user_lines(compiled, tmp_path):
    model, x = Model().half().eval(), torch.rand(8, 64, dtype=torch.float16)
    if compiled == "aot":
        report = st.compile(model, x).program.report
    else:
        torch.compile(model, backend=st.backend, options={"report": tmp_path})(x)
        [path] = tmp_path.glob("*.json")
        report = json.loads(path.read_text())["parts"][0]["report"]
        assert "layers.1.out_proj" in (tmp_path / json.loads(path.read_text())["parts"][0]["page"]).read_text()
    assert {op["module"] for op in report["ops"]} == {"layers.0", "layers.1", "layers.0.out_proj", "layers.1.out_proj"}
    weights = [f"layers.{layer}.out_proj.{name}" for layer in range(2) for name in ("weight", "bias")]
    assert sorted(report["arguments"]) == sorted([*weights, "x"])
    # The innermost line of the user, not of torch.nn.functional.
    line = Block.forward.__code__.co_firstlineno
    [product] = [op for op in report["ops"] if op["module"] == "layers.1.out_proj" and op["function"] == "batchmatmul"]
    assert product["location"].split(" called from ")[0] == f"{__file__}:{line + 1}:0"
    assert not any("site-packages" in op["location"] for op in report["ops"])


def test_names_module_in_errors():
    class Wrong(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Doubled()

        def forward(self, x):
            return self.inner(x)

    class Doubled(torch.nn.Module):
        def forward(self, x):
            return x * 2

    with pytest.raises(spyre_mlir.CompileError, match="note: in module 'inner'") as error:
        st.compile(Wrong(), torch.ones(4, 4, dtype=torch.int16))
    assert error.value.errors[0].module == "inner"


def test_compiles_in_parallel_threads():
    import concurrent.futures

    x = torch.rand(8, 64, dtype=torch.float16)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: st.compile(lambda x: x * number, x)(x), range(1, 5)))
    for number, result in enumerate(found, 1):
        assert torch.allclose(result, x * number, rtol=4e-3)


def test_shows_notebook_cells(tmp_path):
    name, code = "<ipython-input-3-abc>", "def function(x):\n    return torch.exp(x) + 1\n"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    namespace = {"torch": torch}
    exec(compile(code, name, "exec"), namespace)
    program = st.compile(namespace["function"], torch.rand(8, 64, dtype=torch.float16)).program
    assert {op["location"] for op in program.report["ops"]} == {f"{name}:2:0"}
    program.report_html(tmp_path / "page.html")
    assert "return torch.exp(x) + 1" in (tmp_path / "page.html").read_text()


def test_folds_frames_of_installed_packages():
    user, library = ("/home/me/model.py", 3), ("/lib/python3/site-packages/transformers/llama.py", 40)
    inner = (f"{_places.TORCH}nn/functional.py", 2910)
    module = (f"{_places.TORCH}nn/modules/linear.py", 134)
    assert _places.fold_frames([user, library, module, inner]) == [user]
    assert _places.fold_frames([library, module, inner]) == [library]
    assert _places.fold_frames([module, inner]) == [module]
    assert _places.fold_frames([inner]) == [inner] and _places.fold_frames([]) == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("L['self']._modules['layers']._modules['3']._parameters['weight']", "layers.3.weight"),
        ("L['self'].layers[3].self_attn", "layers.3.self_attn"),
        ("L['x']", "x"),
        ("L['args'][0]", "args.0"),
        ("layers.3.out_proj", "layers.3.out_proj"),
    ],
)
def test_names_arguments_as_in_the_model(source, name):
    assert _places.get_argument_name(source) == name
