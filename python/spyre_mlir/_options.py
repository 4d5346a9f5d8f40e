"""Options of the compiler as Python values: numbers, texts, lists and dictionaries."""

from __future__ import annotations

import difflib
import os
import pathlib
from collections.abc import Mapping, Sequence

from spyre_mlir._source import make_call_error
from spyre_mlir.errors import describe_value

PHASES = ("import", "layout", "hint", "tile", "work", "lx", "bundle")

#: Advice for options of `spyre-compile` about files, and for other names of the bundle directory: the Python
#: equivalent.
OPTION_ADVICE = {
    "report": "use program.report, or program.report_html(path)",
    "report-html": "call program.report_html(path)",
    "write-plan": "use program.plan",
    "o": "name the directory with bundle_dir",
    "out": "name the directory with bundle_dir",
    "output": "name the directory with bundle_dir",
    "output-dir": "name the directory with bundle_dir",
    "trace": "use 'spyre-compile --trace FILE.json'",
    "certificate": "use 'spyre-compile --certificate FILE.json'",
    "inputs": "give arrays to program.run",
    "work-div": "declare it in the program, or use spyre_mlir.torch.spyre_hint(work_div={'M': 4})",
}


def flatten_options(options: Mapping[str, object]) -> list[tuple[str, str]]:
    """Converts options to the form of the compiler: names with `-`, and values as text.

    Raises `CompileError` if an option is invalid.
    """
    return [pair for name, value in options.items() for pair in flatten_option(name.replace("_", "-"), name, value)]


def flatten_option(name: str, python_name: str, value: object) -> list[tuple[str, str]]:
    """Converts an option to one pair of name and text for each of its values."""
    if name in OPTION_ADVICE:
        raise make_call_error(
            f"unknown option '{python_name}': expected an option of spyre_mlir.compile, found {describe_value(value)}; "
            f"{OPTION_ADVICE[name]}"
        )
    if value is None or value is False:
        return []
    if value is True:
        return [(name, "true")]
    if isinstance(value, Mapping):
        return [(name, f"{key}={format_scalar(python_name, each, f'{key}: ')}") for key, each in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [(name, format_scalar(python_name, each)) for each in value]
    return [(name, format_scalar(python_name, value))]


def format_scalar(python_name: str, value: object, key: str = "") -> str:
    """Formats a number or text in the form that the compiler reads. Raises `CompileError` for other values."""
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and value.is_integer():
        advice = f"give {int(value)}"
    elif isinstance(value, float):
        advice = f"give a whole number such as {max(round(value), 1)}"
    elif isinstance(value, Sequence) and value and all(isinstance(each, str) for each in value):
        advice = f"give {':'.join(value)!r}"
    elif isinstance(value, Sequence) and len(value) == 2 and isinstance(value[0], str):
        advice = f"give a dictionary, {{{value[0]!r}: {value[1]!r}}}"
    else:
        advice = "give a number or a text, a list of texts, or a dictionary"
    raise make_call_error(
        f"option '{python_name}': expected a number or a text, found {key}{describe_value(value)}; {advice}"
    )


def check_phase(to: object) -> None:
    """Raises `CompileError` for an unknown phase of `lower`."""
    if to in PHASES:
        return
    similar = difflib.get_close_matches(str(to), PHASES, 1)
    advice = f"did you mean {similar[0]!r}?" if similar else "use one of these"
    raise make_call_error(f"option 'to': expected one of {', '.join(map(repr, PHASES))}, found {to!r}; {advice}")


def check_plan(plan: object) -> None:
    """Raises `CompileError` for a plan that is neither a dictionary nor a path."""
    if plan is not None and not isinstance(plan, (Mapping, str, os.PathLike)):
        raise make_call_error(
            f"option 'plan': expected a dictionary or a path, found {describe_value(plan)}; give the plan of a "
            "program, program.plan"
        )


def check_output(bundle_dir: object) -> pathlib.Path:
    """Returns the path of the bundle directory. Raises `CompileError` if no bundle can be written there."""
    if not isinstance(bundle_dir, (str, os.PathLike)):
        raise make_call_error(
            f"option 'bundle_dir': expected a path, found {describe_value(bundle_dir)}; give one such as 'out'"
        )
    path = pathlib.Path(bundle_dir)
    if path.exists() and not path.is_dir():
        raise make_call_error(
            f"option 'bundle_dir': expected a new path or an older bundle, found the file '{path}'; name another path, "
            "or remove the file"
        )
    if path.is_dir() and any(path.iterdir()) and not (path / "program.json").exists():
        raise make_call_error(
            f"option 'bundle_dir': expected a new path or an older bundle, found the directory '{path}' of other "
            "files; name another path"
        )
    if not path.parent.is_dir():
        raise make_call_error(
            f"option 'bundle_dir': expected a path in a directory, found '{path}'; create '{path.parent}' first"
        )
    return path
