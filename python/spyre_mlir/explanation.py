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

#: Compilations that `explain` remembers, and lines that it shows of one table.
MAX_COMPILATIONS, MAX_ROWS = 16, 40

#: Shapes and numbers, which tell equal reasons apart.
NUMBERS = re.compile(r"\d+(?:x\d+)*")


@dataclasses.dataclass(frozen=True)
class Left:
    """An operation that stays on the CPU: its name, its line and the reason."""

    op: str
    location: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Compilation:
    """A program or graph that was compiled: its reports, one for each part, and what stays on the CPU."""

    title: str
    reports: Sequence[Mapping[str, Any]]
    seconds: float
    #: Operations of the graph; those of the reports if a program was given.
    num_ops: int
    left: Sequence[Left] = ()

    @property
    def us(self) -> float:
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

    def summary(self) -> str:
        """Returns one line for the terminal."""
        parts = f"{len(self.reports)} part{'' if len(self.reports) == 1 else 's'}"
        counted = f"{self.num_ops} op{'' if self.num_ops == 1 else 's'} in {parts}, {len(self.left)} on CPU, {self.seconds:.1f} s"
        return f"{counted}; modeled {us_text(self.us)} (bound {us_text(self.bound_us)})"

    def table(self) -> str:
        """Returns the summary, the modules, and the operations on the CPU by reason."""
        lines = [f"{self.title}: {self.summary()}", *modules_table(self.reports)]
        if self.left:
            lines += ["", f"{len(self.left)} of {self.num_ops} ops stay on the CPU:", *grouped(self.left)]
        return "\n".join(lines)


_recent: collections.deque[Compilation] = collections.deque(maxlen=MAX_COMPILATIONS)
_lock = threading.Lock()
_state = threading.local()


def record(compilation: Compilation) -> None:
    """Remembers a compilation for `explain`, unless it is a part of another one."""
    if getattr(_state, "is_part", False):
        return
    with _lock:
        _recent.append(compilation)


@contextlib.contextmanager
def parts() -> Iterator[None]:
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
    text = "\n\n".join(compilation.table() for compilation in recent)
    print(text or "nothing was compiled in this process yet", file=file or sys.stdout)


def modules_table(reports: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns rows of the modules in their order, with the operations, bytes and time of each."""
    modules: dict[str, list[Mapping[str, Any]]] = {}
    for report in reports:
        for op in report["ops"]:
            modules.setdefault(op.get("module") or short(op["location"].split(" called from ")[0], 32), []).append(op)
    rows = [("module", "ops", "functions", "HBM", "time")]
    for module, ops in modules.items():
        hbm = sum(op["bytes"]["hbm_read"] + op["bytes"]["hbm_written"] for op in ops)
        functions = ", ".join(dict.fromkeys(op["function"] for op in ops))
        rows.append((module, str(len(ops)), functions[:36], bytes_text(hbm), us_text(sum(op["us"] for op in ops))))
    hidden = len(rows) - 1 - MAX_ROWS
    if hidden > 0:
        rows = [*rows[: MAX_ROWS + 1], (f"{hidden} more modules", "", "", "", "")]
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns rows as lines with columns of equal width; numbers stand on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    is_number = [False, True, False, True, True]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(row, widths, is_number, strict=True)
        ).rstrip()
        for row in rows
    ]


def grouped(left: Iterable[Left]) -> list[str]:
    """Returns a line for each reason: how often, the operations and the first lines."""
    groups: dict[str, list[Left]] = {}
    for each in left:
        groups.setdefault(NUMBERS.sub("#", each.reason), []).append(each)
    return [group_text(group) for group in sorted(groups.values(), key=len, reverse=True)]


def group_text(group: Sequence[Left]) -> str:
    operations = list(dict.fromkeys(each.op.split("(")[0].removesuffix(".default") for each in group))
    lines = list(dict.fromkeys(short(each.location) for each in group))
    more = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
    several = f", {len(operations)} kinds" if len(operations) > 3 else ""
    return f"  {len(group)} x {group[0].reason} [{', '.join(operations[:3])}{several}; {', '.join(lines[:3])}{more}]"


def short(place: str, width: int = 40) -> str:
    """Returns a place relative to the working directory, cut from the left to a width."""
    place = place.removeprefix(os.getcwd() + os.sep)
    return place if len(place) <= width else "..." + place[3 - width :]


def us_text(us: float) -> str:
    """Returns a time in the unit that reads best."""
    return f"{us / 1000:.1f} ms" if us >= 10_000 else f"{us:.0f} us" if us >= 10 else f"{us:.1f} us"


def bytes_text(count: int) -> str:
    """Returns bytes in the unit that reads best."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
