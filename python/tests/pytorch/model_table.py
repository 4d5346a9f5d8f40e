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
from models import DECODERS, ENCODERS, TOKENS, ids

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
HEAD = f"| {' | '.join(COLUMNS)} |\n|---{'|--:' * (len(COLUMNS) - 1)}|"


@dataclasses.dataclass
class Row:
    """Result of one model, or of one step of it."""

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
        launches, ops = (sum(len(part["report"][what]) for part in parts) for what in ("launches", "ops"))
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


class Bench:
    """A model in f16 on the backend, and a copy of it in f32 in PyTorch."""

    def __init__(self, name: str, model: torch.nn.Module, report: pathlib.Path) -> None:
        self.name = name
        self.report = report
        self.exact = copy.deepcopy(model).eval()
        self.compiled = torch.compile(model.half().eval(), backend=backend, dynamic=False, options={"report": report})

    def step(self, what: str, given: dict[str, Any], exact: dict[str, Any]) -> tuple[Row, Any, Any]:
        """Calls both once. The seconds are those of the first call, which compiles the graphs, minus those of the
        second."""
        before = set(self.report.glob("graph*.json"))
        found, first_call = timed(lambda: self.compiled(**copy.deepcopy(given)))
        found, second_call = timed(lambda: self.compiled(**given))
        graphs = [json.loads(path.read_text()) for path in sorted(set(self.report.glob("graph*.json")) - before)]
        wanted = self.exact(**exact)
        return Row(f"{self.name}{what}", graphs, difference(found[0], wanted[0]), first_call - second_call), found, wanted


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return run(), time.perf_counter() - start


def difference(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """Returns the root mean square of the difference, relative to that of `wanted`."""
    return ((found.double() - wanted.double()).square().mean() / wanted.double().square().mean()).sqrt().item()


def decoder_rows(name: str, report: pathlib.Path) -> Iterator[Row]:
    """A prompt, then one token with the cache of keys and values that the prompt left."""
    bench = Bench(name, DECODERS[name](), report)
    prompt = {"input_ids": ids(TOKENS), "use_cache": True}
    row, found, wanted = bench.step(", prefill", prompt, prompt)
    yield row
    token = ids(1)
    given = {"input_ids": token, "past_key_values": found.past_key_values, "use_cache": True}
    exact = {"input_ids": token, "past_key_values": wanted.past_key_values, "use_cache": True}
    yield bench.step(", decode", given, exact)[0]


def encoder_rows(name: str, report: pathlib.Path) -> Iterator[Row]:
    make, inputs = ENCODERS[name]
    exact = inputs()
    given = {key: value.half() if value.is_floating_point() else value for key, value in exact.items()}
    yield Bench(name, make(), report).step("", given, exact)[0]


def rows(names: list[str]) -> Iterator[Row]:
    for name in names or [*DECODERS, *ENCODERS]:
        torch._dynamo.reset()
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as report, torch.no_grad():
            yield from (decoder_rows if name in DECODERS else encoder_rows)(name, pathlib.Path(report))


def table(found: list[Row]) -> str:
    """The rows, and below them what is on the CPU, each reason once."""
    lines = [HEAD, *map(str, found)]
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in found:
        for left in row.cpu:
            reasons.setdefault((left["op"], left["reason"]), []).append(row.name)
    if reasons:
        lines += ["", "| on the CPU | reason | in |", "|---|---|---|"]
        lines += [f"| `{op}` | {reason} | {', '.join(dict.fromkeys(names))} |" for (op, reason), names in reasons.items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="only these")
    parser.add_argument("--write", type=pathlib.Path, help="the page whose table is replaced")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    found = []
    for row in rows(chosen.models):
        print(row, flush=True)
        found.append(row)
    if chosen.write:
        before, rest = chosen.write.read_text().split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        chosen.write.write_text(f"{before}{MARKS[0]}\n\n{table(found)}\n\n{MARKS[1]}{after}")
    else:
        print(table(found))


if __name__ == "__main__":
    main()
