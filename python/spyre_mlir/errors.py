"""Errors and diagnostics with locations."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Line and column of a file, counted from 1; 0 means unknown."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        numbers = [number for number in (self.line, self.column) if number] if self.line else []
        return ":".join([self.file, *map(str, numbers)])


@dataclass(frozen=True)
class Diagnostic:
    """Diagnostic of the compiler: an error, a warning, a remark or a note."""

    severity: str
    message: str
    #: Source line and its callers, innermost first; empty if unknown.
    places: tuple[Place, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    #: Path of the model's module that the location belongs to, such as `layers.3.self_attn.out_proj`; empty if there
    #: is none.
    module: str = ""

    @property
    def location(self) -> Place | None:
        """Position in the innermost file."""
        return self.places[0] if self.places else None

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        callers = [f"{place}: note: called from" for place in self.places[1:] if place != self.location]
        module = [f"{where}note: in module '{self.module}'"] if self.module and self.severity != "note" else []
        return "\n".join([f"{where}{self.severity}: {self.message}", *callers, *module, *map(str, self.notes)])


class CompileError(Exception):
    """Program or option that the compiler rejects."""

    def __init__(self, diagnostics: list[Diagnostic]):
        self.diagnostics = diagnostics
        super().__init__(diagnostics)

    @property
    def errors(self) -> list[Diagnostic]:
        """The diagnostics that are errors."""
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error"]

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors or self.diagnostics))


class HintError(ValueError):
    """Malformed hint or dimension name, or one that cannot be honored. `location` is the line of the `with`."""

    def __init__(self, message: str, location: Place | None = None):
        self.message, self.location = message, location
        super().__init__(message, location)

    def __str__(self) -> str:
        return f"{self.location.file}:{self.location.line}: {self.message}" if self.location else self.message


class RunError(Exception):
    """Arrays or a bundle that the simulator rejects."""


class ArgumentError(TypeError):
    """Wrong number or types of the arguments of a call."""


class PlanError(ValueError):
    """Instance or option that the scratchpad planner rejects."""


def describe_value(value: object) -> str:
    """Formats a value for a message: shortened, with its type."""
    text = reprlib.repr(value)
    return f"{text} ({type(value).__name__})"
