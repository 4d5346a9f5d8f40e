"""Locations of a graph's operations: lines of the user's program, and paths of modules.

Frames of installed packages are omitted if the user's own code called them.
"""

from __future__ import annotations

import os
import pathlib
import re
import sys
from collections.abc import Sequence

import torch
from torch._guards import TracingContext

from spyre_mlir._files import GENERATED, PACKAGE, is_installed
from spyre_mlir.errors import Place

FRAME = re.compile(r'File "([^"]+)", line (\d+), in ')
TORCH = str(pathlib.Path(torch.__file__).parent) + os.sep

# Members in the notation of Dynamo: `L['self']._modules['layers']._parameters['weight']`, or `L['self'].layers[3]`.
ROOT = re.compile(r"^[LG]\['(\w+)'\]")
MEMBER = re.compile(r"(?:\.(?:_modules|_parameters|_buffers))?\['?([^\]']+)'?\]")


def parse_frames(trace: str | None) -> list[tuple[str, int]]:
    """Returns file and line of each frame of a stack trace, outermost first."""
    return [(file, int(line)) for file, line in FRAME.findall(trace or "")]


def fold_frames(frames: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Returns the frames of the user's files; otherwise the innermost frame of a package, preferably not PyTorch."""
    own = [frame for frame in frames if not is_installed(frame[0]) and not frame[0].startswith(TORCH)]
    others = [frame for frame in frames if not frame[0].startswith((TORCH, PACKAGE, *GENERATED))]
    modules = [frame for frame in frames if frame[0].startswith(os.path.join(TORCH, "nn", "modules"))]
    return own or others[-1:] or modules[-1:] or list(frames[-1:])


def find_location(node: torch.fx.Node) -> str:
    """Returns the innermost line of the user's program from which a node was traced, or the module of the node."""
    frames = fold_frames(parse_frames(node.meta.get("stack_trace")))
    if frames:
        return f"{frames[-1][0]}:{frames[-1][1]}"
    return get_module_path(node) or "unknown line"


def get_module_path(node: torch.fx.Node) -> str:
    """Returns the path of the module of a node, such as `layers.3.self_attn`; empty for the outermost module."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    paths = [parse_member_path(str(path)) for path, _ in stack.values()]
    return max(paths, key=len, default="")


def parse_member_path(source: str) -> str:
    """Returns the path of a member in PyTorch's form: `layers.3.weight` of `L['self']._modules['layers'][3]...`."""
    path = MEMBER.sub(r".\1", ROOT.sub("", source)) if ROOT.match(source) else source
    return re.sub(r"[^\w.<>-]", "_", path).strip(".")


def get_argument_name(source: str) -> str:
    """Returns the name of an input: that of a local variable, or the path of a weight."""
    root, path = ROOT.match(source), parse_member_path(source)
    if root is None or (path and root[1] == "self"):
        return path
    return f"{root[1]}.{path}" if path else root[1]


def find_caller() -> Place | None:
    """Returns the line of the user's program that calls this package, also while Dynamo traces it."""
    traced = [(frame.filename, frame.lineno or 0) for frame in TracingContext.extract_stack()]
    frames = traced or collect_frames()
    outside = [
        frame
        for frame in frames
        if not frame[0].startswith((PACKAGE, TORCH)) and os.path.basename(frame[0]) != "contextlib.py"
    ]
    return Place(outside[-1][0], outside[-1][1], 1) if outside else None


def collect_frames() -> list[tuple[str, int]]:
    """Returns the frames of this thread, outermost first."""
    found, frame = [], sys._getframe(1)
    while frame is not None:
        found.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return found[::-1]
