"""Tables of compilations: operations by module, operations on the CPU with reasons, bytes, time and its lower bound."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

#: Maximum number of compilations that `explain` remembers, and of rows in a table.
MAX_COMPILATIONS, MAX_ROWS = 16, 40

#: Shapes and numbers, by which otherwise equal reasons may differ.
NUMBERS = re.compile(r"\d+(?:x\d+)*")


@dataclasses.dataclass(frozen=True)
class CpuOp:
    """Operation that runs on the CPU: its name, its line and the reason."""

    op: str
    location: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Compilation:
    """Compilation of a program or graph: the reports of its parts, and the operations that run on the CPU."""

    title: str
    reports: Sequence[Mapping[str, Any]]
    seconds: float
    #: Number of operations of the graph; for an MLIR program, number of ops in its report.
    num_ops: int
    cpu_ops: Sequence[CpuOp] = ()

    @property
    def modeled_us(self) -> float:
        """Modeled time of all parts in microseconds."""
        return sum(report["time"]["estimate_us"] for report in self.reports)

    @property
    def bound_us(self) -> float:
        """Lower bound of the modeled time in microseconds."""
        return sum(report["lower_bound"].get("us", 0.0) for report in self.reports)

    @property
    def hbm_bytes(self) -> int:
        """Bytes read from and written to HBM."""
        return sum(report["total"]["hbm_read"] + report["total"]["hbm_written"] for report in self.reports)

    def format_summary(self) -> str:
        """Returns one line for the terminal."""
        parts = f"{len(self.reports)} part{'' if len(self.reports) == 1 else 's'}"
        ops = f"{self.num_ops} op{'' if self.num_ops == 1 else 's'} in {parts}"
        counted = f"{ops}, {len(self.cpu_ops)} on CPU, {self.seconds:.1f} s"
        return f"{counted}; modeled {format_time(self.modeled_us)} (bound {format_time(self.bound_us)})"

    def format_table(self) -> str:
        """Returns the summary, the modules, and the operations on the CPU by reason."""
        lines = [f"{self.title}: {self.format_summary()}", *format_modules(self.reports)]
        if self.cpu_ops:
            lines += ["", f"{len(self.cpu_ops)} of {self.num_ops} ops stay on the CPU:", *group_by_reason(self.cpu_ops)]
        return "\n".join(lines)


_recent: collections.deque[Compilation] = collections.deque(maxlen=MAX_COMPILATIONS)
_lock = threading.Lock()
_state = threading.local()


def record(compilation: Compilation) -> None:
    """Records a compilation for `explain`, unless it is a part of another one."""
    if getattr(_state, "is_part", False):
        return
    with _lock:
        _recent.append(compilation)


@contextlib.contextmanager
def mark_parts() -> Iterator[None]:
    """Marks the compilations of this thread as parts of one that is recorded later."""
    outer, _state.is_part = getattr(_state, "is_part", False), True
    try:
        yield
    finally:
        _state.is_part = outer


def explain(file: TextIO | None = None) -> None:
    """Prints tables of the last compilations: modules with operations, traffic and time, and operations on the CPU."""
    with _lock:
        recent = list(_recent)
    text = "\n\n".join(compilation.format_table() for compilation in recent)
    print(text or "nothing was compiled in this process yet", file=file or sys.stdout)


def format_modules(reports: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns a table of the modules in order, with the ops, bytes and time of each."""
    modules: dict[str, list[Mapping[str, Any]]] = {}
    for report in reports:
        for op in report["ops"]:
            modules.setdefault(
                op.get("module") or shorten_location(op["location"].split(" called from ")[0], 32), []
            ).append(op)
    rows = [("module", "ops", "functions", "HBM", "time")]
    for module, ops in modules.items():
        hbm = sum(op["bytes"]["hbm_read"] + op["bytes"]["hbm_written"] for op in ops)
        functions = ", ".join(dict.fromkeys(op["function"] for op in ops))
        rows.append(
            (module, str(len(ops)), functions[:36], format_bytes(hbm), format_time(sum(op["us"] for op in ops)))
        )
    hidden = len(rows) - 1 - MAX_ROWS
    if hidden > 0:
        rows = [*rows[: MAX_ROWS + 1], (f"{hidden} more modules", "", "", "", "")]
    return align_columns(rows)


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Formats rows as lines with columns of equal width; numbers are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    is_number = [False, True, False, True, True]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, is_number, strict=True)
        ).rstrip()
        for row in rows
    ]


def group_by_reason(cpu_ops: Iterable[CpuOp]) -> list[str]:
    """Returns a line for each reason: its count, the operations and the first source lines."""
    groups: dict[str, list[CpuOp]] = {}
    for each in cpu_ops:
        groups.setdefault(NUMBERS.sub("#", each.reason), []).append(each)
    return [format_group(group) for group in sorted(groups.values(), key=len, reverse=True)]


def format_group(group: Sequence[CpuOp]) -> str:
    operations = list(dict.fromkeys(each.op.split("(")[0].removesuffix(".default") for each in group))
    lines = list(dict.fromkeys(shorten_location(each.location) for each in group))
    more = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
    several = f", {len(operations)} kinds" if len(operations) > 3 else ""
    return f"  {len(group)} x {group[0].reason} [{', '.join(operations[:3])}{several}; {', '.join(lines[:3])}{more}]"


def shorten_location(place: str, width: int = 40) -> str:
    """Returns a location relative to the working directory, truncated on the left to a width."""
    place = place.removeprefix(os.getcwd() + os.sep)
    return place if len(place) <= width else "..." + place[3 - width :]


def format_time(us: float) -> str:
    """Formats a time in microseconds or milliseconds."""
    return f"{us / 1000:.1f} ms" if us >= 10_000 else f"{us:.0f} us" if us >= 10 else f"{us:.1f} us"


def format_bytes(count: int) -> str:
    """Formats a number of bytes with a binary unit."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
