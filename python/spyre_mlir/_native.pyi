"""Types of the native module, which `python/src` defines. User code calls `spyre_mlir` instead."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TypeAlias, TypedDict, final

VERSION: str

# Name, sizes and element type of an argument or a result.
_Tensor: TypeAlias = tuple[str, list[int], str]
# Name, sizes, element type and elements of a result: row-major, in the byte order of the host; bf16 as f32.
_Result: TypeAlias = tuple[str, list[int], str, bytes]

class Diagnostic(TypedDict):
    severity: str
    message: str
    # File, line and column, innermost location first.
    places: list[tuple[str, int, int]]
    # Path of the model's module that the location belongs to; empty if there is none.
    module: str
    notes: list[Diagnostic]

class Compiled(TypedDict):
    done: bool
    diagnostics: list[Diagnostic]
    # JSON; None if no files were written.
    report: str | None
    page: Page | None
    # JSON; None if no plan was chosen.
    plan: str | None
    # IR; None if the compilation wrote files.
    ir: str | None
    validation: str | None

@final
class Page:
    def html(self, sources: Sequence[tuple[str, str]]) -> str: ...

@final
class Simulation:
    def __new__(cls, directory: str | PathLike[str]) -> Simulation: ...
    def arguments(self) -> list[_Tensor]: ...
    def results(self) -> list[_Tensor]: ...
    def at(self, sizes: Mapping[str, int]) -> Simulation: ...
    def run(
        self, arrays: Sequence[tuple[Sequence[int], bytes]], max_steps: int | None
    ) -> tuple[list[_Result], str]: ...

def compile(
    input: str, name: str, output: str, options: Sequence[tuple[str, str]], validate: str
) -> Compiled: ...
def plan(
    instance: str,
    planner: str,
    budget: int,
    whole_lives: bool,
    capacity: int | None,
    alignment: int | None,
) -> str: ...
def run_tool(name: str, words: Sequence[str | PathLike[str]]) -> int: ...
def write_manual(folder: str | PathLike[str]) -> None: ...
