"""Console scripts of the command-line tools, which the native library contains."""

import signal
import sys

from spyre_mlir import _native


def _run(name: str) -> int:
    # This process runs only the tool, so Ctrl-C ends it immediately.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run_tool(name, sys.argv[1:])


def spyre_compile() -> int:
    """Runs `spyre-compile`."""
    return _run("spyre-compile")


def spyre_lsp_server() -> int:
    """Runs `spyre-lsp-server`."""
    return _run("spyre-lsp-server")


def spyre_opt() -> int:
    """Runs `spyre-opt`."""
    return _run("spyre-opt")


def spyre_plan() -> int:
    """Runs `spyre-plan`."""
    return _run("spyre-plan")


def spyre_reduce() -> int:
    """Runs `spyre-reduce`."""
    return _run("spyre-reduce")


def spyre_run() -> int:
    """Runs `spyre-run`."""
    return _run("spyre-run")


def spyre_translate() -> int:
    """Runs `spyre-translate`."""
    return _run("spyre-translate")


def spyre_tune() -> int:
    """Runs `spyre-tune`."""
    return _run("spyre-tune")
