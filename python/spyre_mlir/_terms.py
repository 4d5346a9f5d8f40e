"""Translates diagnostics of the compiler to Python: Python option names, and no temporary files."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from spyre_mlir.errors import CompileError, Diagnostic, Place

OPTION = re.compile(r"option '([a-z][a-z-]*)'")
OPTION_NAMES = (
    "entry dim-size cores target tiles bind knobs kernels dims lx-planner joint lx-bytes addresses loops bundle-format "
    "tile-search tile-steps objective "
    "plan precision rounding sticks validate write-plan capacity"
).split()
OPTION_WORD = re.compile(
    rf"(?<![\w-])--({'|'.join(OPTION_NAMES)})\b(?:[ =]([A-Z][\w.]*|\d+|[\w.]+=[\w.]+|(?<=')[\w.-]+(?=')))?"
)
QUOTED_OPTION = re.compile(rf"'--({'|'.join(OPTION_NAMES)})[ =]([\w.-]+)'")
MODULE_OP = "'builtin.module' op "
UNSUPPORTED_DIALECT = re.compile(
    r"(belongs to an? unsupported dialect|belongs to the unsupported dialect '[^']*'; expected [^;]*); .*", re.DOTALL
)


def convert_diagnostic(native: Mapping, display_names: Mapping[str, str]) -> Diagnostic:
    """Converts a diagnostic of the native module. `display_names` maps file names to names for the user."""
    message = translate_to_python(native["message"])
    for file, name in display_names.items():
        message = message.replace(f"'{file}'", name)
    places = tuple(Place(display_names.get(file, file), line, column) for file, line, column in native["places"])
    if re.match(r"(?:SPY\d+: )?option '", message) or is_about_output(native["message"]):
        # The diagnostic concerns the call, not a line of the program.
        places = ()
    notes = tuple(convert_diagnostic(note, display_names) for note in native["notes"])
    return Diagnostic(native["severity"], message, places, notes, native.get("module", ""))


def is_about_output(message: str) -> bool:
    """Returns whether a message concerns the output files, not the program."""
    text = re.sub(r"^(?:SPY\d+: |\[SPY\d+\] )", "", message)
    return text.startswith((f"{MODULE_OP}cannot write", f"{MODULE_OP}will not replace"))


def translate_to_python(message: str) -> str:
    """Returns a message with the Python names of options."""
    message = re.sub(r"^\[(SPY\d+)\] ", r"\1: ", message)
    message = re.sub(
        rf"^((?:SPY\d+: )?){MODULE_OP}(is|has|gives|leaves|needs|takes|computes|cannot be)\b",
        r"\1the module \2",
        message,
    )
    message = re.sub(rf"^((?:SPY\d+: )?){MODULE_OP}", r"\1", message)
    message = re.sub(r"^((?:SPY\d+: )?)'func\.func' op (?=option ')", r"\1", message)
    message = re.sub(r" \(os error \d+\)(?: at path \"[^\"]*\")?", "", message)
    if "cannot write '" in message and ";" not in message:
        message += "; name another path with bundle_dir"
    message = OPTION.sub(lambda found: f"option '{found[1].replace('-', '_')}'", message)
    message = message.replace("write one with --write-plan FILE.json", "give the plan of a program, program.plan")
    message = re.sub(r"--dim-size (arg\d+\.\d+|\w+)=(\w+)", r"dim_size={'\1': \2}", message)
    message = re.sub(r"give names with --dims(?: \d=\S+)?", "give names with dims={0: 'NAME:NAME'}", message)
    message = QUOTED_OPTION.sub(lambda found: f"{found[1].replace('-', '_')}={found[2]!r}", message)
    return OPTION_WORD.sub(lambda found: found[1].replace("-", "_") + (f"={found[2]}" if found[2] else ""), message)


def remove_op(message: str) -> str:
    """Removes the op name from a message, because users of a front end do not know the op."""
    return re.sub(r"^((?:SPY\d+: )?)'[\w.]+' op ", r"\1", message)


def translate_for_frontend(message: str) -> str:
    """Returns a message about a module of a front end with advice for the author of the Python function.

    The author knows neither the ops of the module nor the tool that lowers them. Only the caller can convert an
    argument.
    """
    is_about_argument = re.match(r"(?:SPY\d+: )?'func\.func' op ", message) is not None
    message = remove_op(message.replace("' op belongs to", "' belongs to"))
    message = UNSUPPORTED_DIALECT.sub(r"\1; write the function with other operations", message)
    return message.replace(
        "before the export", "before the call" if is_about_argument else "in the function that is compiled"
    )


def convert_frontend_error(error: CompileError) -> CompileError:
    """Translates the diagnostics of a program that a front end generated."""

    def convert(found: Diagnostic) -> Diagnostic:
        return dataclasses.replace(found, message=translate_for_frontend(found.message))

    return CompileError([convert(found) for found in error.diagnostics])
