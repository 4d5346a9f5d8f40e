"""Progress lines during a compilation or simulation, and summary lines after a compilation."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator

QUIET_VARIABLE = "SPYRE_QUIET"
PROGRESS_VARIABLE = "SPYRE_PROGRESS"

#: Seconds before the first line, and between lines.
START_DELAY, PERIOD = 2.0, 0.5

log = logging.getLogger("spyre_mlir")
_state = threading.local()


def is_set(variable: str) -> bool:
    """Returns whether an environment variable is set, and neither empty nor `0`."""
    return os.environ.get(variable, "") not in ("", "0")


def show_line(title: str, line: str, quiet: bool = False, log: logging.Logger = log) -> None:
    """Shows a line: in the log if the user has configured this level, otherwise on standard error."""
    if quiet or is_set(QUIET_VARIABLE):
        return
    line = f"{line}; spyre_mlir.explain() has more"
    if log.isEnabledFor(logging.INFO) and log.hasHandlers():
        log.info("%s: %s", title, line)
    elif sys.stderr is not None:
        print(f"spyre: {line}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def show_progress(activity: str, quiet: bool = False) -> Iterator[None]:
    """Shows a progress line after two seconds, if standard error is a terminal or SPYRE_PROGRESS is set.

    `SPYRE_PROGRESS=0` turns the line off. A nested call of the same thread changes the text of the outer line.
    """
    line = getattr(_state, "line", None)
    if line is not None:
        outer, line.activity = line.activity, activity
        try:
            yield
        finally:
            line.activity = outer
        return
    is_off = quiet or is_set(QUIET_VARIABLE) or os.environ.get(PROGRESS_VARIABLE) == "0"
    if is_off or not (is_set(PROGRESS_VARIABLE) or is_terminal()):
        yield
        return
    line = _state.line = ProgressLine(activity)
    try:
        yield
    finally:
        _state.line = None
        line.end()


def is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # Standard error is missing or closed.
        return False


class ProgressLine:
    """Progress line that a separate thread updates, and that `end` removes."""

    def __init__(self, activity: str) -> None:
        self.activity = activity
        self.started = time.monotonic()
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.show, name="spyre progress", daemon=True)
        self.thread.start()

    def show(self) -> None:
        if self.is_over.wait(START_DELAY):
            return
        clear = "\r\033[K" if is_terminal() else ""
        while True:
            text = f"spyre: {self.activity}, {time.monotonic() - self.started:.0f} s"
            print(f"{clear}{text}", end="" if clear else "\n", file=sys.stderr, flush=True)
            if self.is_over.wait(PERIOD if clear else 10 * PERIOD):
                break
        if clear:
            print(clear, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        self.is_over.set()
        self.thread.join(timeout=1.0)
