"""Table of models in docs/measurements/pytorch-models.md.

Command: `python python/tests/pytorch/model_table.py --write docs/measurements/pytorch-models.md`.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import json
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from models import DECODERS, ENCODERS, TOKENS, make_ids

from spyre_mlir.torch import backend

MARKS = ("<!-- Made by `python/tests/pytorch/model_table.py` from here on. -->", "<!-- to here. -->")
COLUMNS = [
    "model",
    "graphs",
    "operations of PyTorch",
    "compiled parts",
    "launches",
    "ops of Spyre",
    "on the CPU",
    "error against f32",
    "compile s",
]
HEADER = f"| {' | '.join(COLUMNS)} |\n|---{'|--:' * (len(COLUMNS) - 1)}|"


@dataclasses.dataclass
class ModelRow:
    """Row for a model, or for one step of a model."""

    name: str
    graphs: list[dict[str, Any]]
    error: float
    seconds: float

    @property
    def cpu(self) -> list[dict[str, str]]:
        return [found for graph in self.graphs for found in graph["cpu"]]

    def __str__(self) -> str:
        parts = [part for graph in self.graphs for part in graph["parts"]]
        operations = sum(graph["operations"] for graph in self.graphs)
        launches, ops = (sum(len(part["report"][key]) for part in parts) for key in ("launches", "ops"))
        cells = [
            self.name,
            len(self.graphs),
            operations,
            len(parts),
            launches,
            ops,
            len(self.cpu),
            f"{self.error:.1e}",
            f"{self.seconds:.1f}",
        ]
        return f"| {' | '.join(map(str, cells))} |"


class ModelBench:
    """Benchmark of a model in f16 on the backend, compared with a copy in f32 in PyTorch."""

    def __init__(self, name: str, model: torch.nn.Module, report: pathlib.Path) -> None:
        self.name = name
        self.report = report
        self.exact = copy.deepcopy(model).eval()
        self.compiled = torch.compile(model.half().eval(), backend=backend, dynamic=False, options={"report": report})

    def run_step(
        self, suffix: str, f16_inputs: dict[str, Any], f32_inputs: dict[str, Any]
    ) -> tuple[ModelRow, Any, Any]:
        """Calls both once. The seconds are those of the first call, which compiles the graphs, minus those of the
        second."""
        before = set(self.report.glob("graph*.json"))
        found, first_call = measure_time(lambda: self.compiled(**copy.deepcopy(f16_inputs)))
        found, second_call = measure_time(lambda: self.compiled(**f16_inputs))
        graphs = [json.loads(path.read_text()) for path in sorted(set(self.report.glob("graph*.json")) - before)]
        expected = self.exact(**f32_inputs)
        return (
            ModelRow(f"{self.name}{suffix}", graphs, compute_error(found[0], expected[0]), first_call - second_call),
            found,
            expected,
        )


def measure_time(run: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return run(), time.perf_counter() - start


def compute_error(found: torch.Tensor, expected: torch.Tensor) -> float:
    """Returns the root mean square of the difference, relative to that of `expected`."""
    return ((found.double() - expected.double()).square().mean() / expected.double().square().mean()).sqrt().item()


def measure_decoder(name: str, report: pathlib.Path) -> Iterator[ModelRow]:
    """Yields rows for a prompt, and for one token with the key-value cache of the prompt."""
    bench = ModelBench(name, DECODERS[name](), report)
    prompt = {"input_ids": make_ids(TOKENS), "use_cache": True}
    row, found, expected = bench.run_step(", prefill", prompt, prompt)
    yield row
    token = make_ids(1)
    f16_inputs = {"input_ids": token, "past_key_values": found.past_key_values, "use_cache": True}
    f32_inputs = {"input_ids": token, "past_key_values": expected.past_key_values, "use_cache": True}
    yield bench.run_step(", decode", f16_inputs, f32_inputs)[0]


def measure_encoder(name: str, report: pathlib.Path) -> Iterator[ModelRow]:
    make, inputs = ENCODERS[name]
    f32_inputs = inputs()
    f16_inputs = {key: value.half() if value.is_floating_point() else value for key, value in f32_inputs.items()}
    yield ModelBench(name, make(), report).run_step("", f16_inputs, f32_inputs)[0]


def measure_models(names: list[str]) -> Iterator[ModelRow]:
    for name in names or [*DECODERS, *ENCODERS]:
        torch._dynamo.reset()
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as report, torch.no_grad():
            yield from (measure_decoder if name in DECODERS else measure_encoder)(name, pathlib.Path(report))


def format_table(found: list[ModelRow]) -> str:
    """Returns the rows as a table, and a table of the operations on the CPU by reason."""
    lines = [HEADER, *map(str, found)]
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in found:
        for op in row.cpu:
            reasons.setdefault((op["op"], op["reason"]), []).append(row.name)
    if reasons:
        lines += ["", "| on the CPU | reason | in |", "|---|---|---|"]
        lines += [
            f"| `{op}` | {reason} | {', '.join(dict.fromkeys(names))} |" for (op, reason), names in reasons.items()
        ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="only these")
    parser.add_argument("--write", type=pathlib.Path, help="the page whose table is replaced")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    found = []
    for row in measure_models(chosen.models):
        print(row, flush=True)
        found.append(row)
    if chosen.write:
        before, rest = chosen.write.read_text().split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        chosen.write.write_text(f"{before}{MARKS[0]}\n\n{format_table(found)}\n\n{MARKS[1]}{after}")
    else:
        print(format_table(found))


if __name__ == "__main__":
    main()
