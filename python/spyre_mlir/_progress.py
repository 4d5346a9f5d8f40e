"""Lines on standard error while the compiler or the simulator works, and after a compilation."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator

QUIET = "SPYRE_QUIET"
FORCED = "SPYRE_PROGRESS"

#: Seconds before the first line, and between lines.
PATIENCE, PERIOD = 2.0, 0.5

log = logging.getLogger("spyre_mlir")
_state = threading.local()


def is_set(variable: str) -> bool:
    """Returns whether an environment variable switches something on."""
    return os.environ.get(variable, "") not in ("", "0")


def say(title: str, line: str, quiet: bool = False, log: logging.Logger = log) -> None:
    """Shows a line: in the log if the user has configured this level, otherwise on standard error."""
    if quiet or is_set(QUIET):
        return
    line = f"{line}; spyre_mlir.explain() has more"
    if log.isEnabledFor(logging.INFO) and log.hasHandlers():
        log.info("%s: %s", title, line)
    elif sys.stderr is not None:
        print(f"spyre: {line}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def progress(what: str, quiet: bool = False) -> Iterator[None]:
    """Shows that work is under way, from two seconds on: on a terminal, or where the variable SPYRE_PROGRESS is set.
    `0` turns this off.

    Work inside of other work of the same thread changes what the line says.
    """
    line = getattr(_state, "line", None)
    if line is not None:
        outer, line.what = line.what, what
        try:
            yield
        finally:
            line.what = outer
        return
    is_off = quiet or is_set(QUIET) or os.environ.get(FORCED) == "0"
    if is_off or not (is_set(FORCED) or is_terminal()):
        yield
        return
    line = _state.line = ProgressLine(what)
    try:
        yield
    finally:
        _state.line = None
        line.end()


def is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # There is none, or it is closed.
        return False


class ProgressLine:
    """A line that a thread of its own writes again and again, and removes at the end."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.started = time.monotonic()
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.show, name="spyre progress", daemon=True)
        self.thread.start()

    def show(self) -> None:
        if self.is_over.wait(PATIENCE):
            return
        clear = "\r\033[K" if is_terminal() else ""
        while True:
            text = f"spyre: {self.what}, {time.monotonic() - self.started:.0f} s"
            print(f"{clear}{text}", end="" if clear else "\n", file=sys.stderr, flush=True)
            if self.is_over.wait(PERIOD if clear else 10 * PERIOD):
                break
        if clear:
            print(clear, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        self.is_over.set()
        self.thread.join(timeout=1.0)
