"""Diagnostics of the compiler in the terms of Python: option names of Python, and only files that the user knows."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from spyre_mlir.errors import CompileError, Diagnostic, Place

OPTION = re.compile(r"option '([a-z][a-z-]*)'")
NAMED = (
    "entry dim-size cores target tiles bind knobs kernels dims lx-planner joint lx-bytes addresses loops bundle-format tile-search tile-steps objective "
    "plan precision rounding sticks validate write-plan capacity"
).split()
GIVEN = re.compile(rf"(?<![\w-])--({'|'.join(NAMED)})\b(?:[ =]([A-Z][\w.]*|\d+|[\w.]+=[\w.]+|(?<=')[\w.-]+(?=')))?")
QUOTED = re.compile(rf"'--({'|'.join(NAMED)})[ =]([\w.-]+)'")
MODULE = "'builtin.module' op "
FOREIGN = re.compile(r"(belongs to an? unsupported dialect|belongs to the unsupported dialect '[^']*'; expected [^;]*); .*", re.DOTALL)


def diagnostic_of(native: Mapping, shown: Mapping[str, str]) -> Diagnostic:
    """Returns a diagnostic of the native part; `shown` says what files are called."""
    message = in_python_terms(native["message"])
    for file, name in shown.items():
        message = message.replace(f"'{file}'", name)
    places = tuple(Place(shown.get(file, file), line, column) for file, line, column in native["places"])
    if re.match(r"(?:SPY\d+: )?option '", message) or is_of_nothing(native["message"]):
        # It is about the call, and not about a line of the program.
        places = ()
    notes = tuple(diagnostic_of(note, shown) for note in native["notes"])
    return Diagnostic(native["severity"], message, places, notes, native.get("module", ""))


def is_of_nothing(message: str) -> bool:
    """Returns whether a message is about the files that are written, and not about the program."""
    what = re.sub(r"^(?:SPY\d+: |\[SPY\d+\] )", "", message)
    return what.startswith((f"{MODULE}cannot write", f"{MODULE}will not replace"))


def in_python_terms(message: str) -> str:
    """Returns a message with options as Python spells them."""
    message = re.sub(r"^\[(SPY\d+)\] ", r"\1: ", message)
    message = re.sub(rf"^((?:SPY\d+: )?){MODULE}(is|has|gives|leaves|needs|takes|computes|cannot be)\b", r"\1the module \2", message)
    message = re.sub(rf"^((?:SPY\d+: )?){MODULE}", r"\1", message)
    message = re.sub(r"^((?:SPY\d+: )?)'func\.func' op (?=option ')", r"\1", message)
    message = re.sub(r" \(os error \d+\)(?: at path \"[^\"]*\")?", "", message)
    if "cannot write '" in message and ";" not in message:
        message += "; name another path with bundle_dir"
    message = OPTION.sub(lambda found: f"option '{found[1].replace('-', '_')}'", message)
    message = message.replace("write one with --write-plan FILE.json", "give the plan of a program, program.plan")
    message = re.sub(r"--dim-size (arg\d+\.\d+|\w+)=(\w+)", r"dim_size={'\1': \2}", message)
    message = re.sub(r"give names with --dims(?: \d=\S+)?", "give names with dims={0: 'NAME:NAME'}", message)
    message = QUOTED.sub(lambda found: f"{found[1].replace('-', '_')}={found[2]!r}", message)
    return GIVEN.sub(lambda found: found[1].replace("-", "_") + (f"={found[2]}" if found[2] else ""), message)


def without_op(message: str) -> str:
    """Returns a message without the op that it is about, which the user of a frontend has not written."""
    return re.sub(r"^((?:SPY\d+: )?)'[\w.]+' op ", r"\1", message)


def in_frontend_terms(message: str) -> str:
    """Returns a message about a module that a frontend made, with advice that the author of the function can follow.

    The author knows neither the ops of the module nor the tool that lowers them. Only the caller can convert an
    argument.
    """
    is_of_argument = re.match(r"(?:SPY\d+: )?'func\.func' op ", message) is not None
    message = without_op(message.replace("' op belongs to", "' belongs to"))
    message = FOREIGN.sub(r"\1; write the function with other operations", message)
    return message.replace("before the export", "before the call" if is_of_argument else "in the function that is compiled")


def of_frontend(error: CompileError) -> CompileError:
    """Returns the error for a program that a frontend made: its ops and its producer are none that the user knows."""

    def told(found: Diagnostic) -> Diagnostic:
        return dataclasses.replace(found, message=in_frontend_terms(found.message))

    return CompileError([told(found) for found in error.diagnostics])
