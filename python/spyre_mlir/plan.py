"""The scratchpad planner. It needs no compiler."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping

from spyre_mlir import _native
from spyre_mlir.errors import PlanError, describe_value

PLANNERS = ("none", "greedy", "first-fit", "best-fit", "exact")
EXAMPLES = {"budget": 2_000_000, "capacity": 8192, "alignment": 128}
ADVICE = "docs/reference/planner.md shows an instance"

#: Search steps for an instance; live-range splitting has the same number of additional steps.
BUDGET = 2_000_000


def plan(
    instance: dict | str,
    *,
    planner: str = "exact",
    budget: int = BUDGET,
    whole_lives: bool = False,
    capacity: int | None = None,
    alignment: int | None = None,
) -> dict:
    """Chooses the buffers that reside in the scratchpad, and their addresses.

    `instance` is a dictionary or JSON text in the format of `docs/reference/planner.md`, or CSV text in the format of
    MiniMalloc, which requires a `capacity` in bytes. Returns the content of the file that `spyre-plan -o` writes:
    addresses, reasons, bytes that remain in HBM, lower bound and certificate. Raises `PlanError`, a `ValueError`, for
    an invalid instance. The plan depends on the instance and the budget only, not on the machine.
    """
    numbers = {"budget": budget, "capacity": capacity, "alignment": alignment}
    for name, number in numbers.items():
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 0):
            raise PlanError(
                f"plan: {name}: expected a whole number, found {number!r}; give one such as {EXAMPLES[name]}"
            )
    if planner not in PLANNERS:
        similar = difflib.get_close_matches(str(planner), PLANNERS, 1)
        advice = f"did you mean {similar[0]!r}?" if similar else "use one of these"
        raise PlanError(f"plan: planner: expected one of {', '.join(map(repr, PLANNERS))}, found {planner!r}; {advice}")
    text = read_instance(instance)
    if capacity is None and not text.lstrip().startswith("{"):
        raise PlanError(
            "plan: capacity: expected the bytes of the scratchpad for an instance in CSV, found none; give one such as "
            "8192"
        )
    try:
        return json.loads(_native.plan(text, planner, budget, whole_lives, capacity, alignment))
    except ValueError as error:
        raise PlanError(
            f"plan: instance: {error}{'' if ';' in str(error) or ', so ' in str(error) else f'; {ADVICE}'}"
        ) from None


def read_instance(instance: object) -> str:
    """Returns the text of an instance. Raises `PlanError` for other objects."""
    if isinstance(instance, Mapping):
        try:
            return json.dumps(instance)
        except TypeError as error:
            raise PlanError(
                f"plan: instance: expected numbers and texts, found a value that JSON lacks: {error}; give int(value)"
            ) from None
    if isinstance(instance, os.PathLike) or (
        isinstance(instance, str) and "\n" not in instance and not instance.lstrip().startswith("{")
    ):
        path = os.fspath(instance)
        raise PlanError(
            f"plan: instance: expected a dictionary, JSON or CSV, found the path {path!r}; give "
            f"pathlib.Path({path!r}).read_text()"
        )
    if not isinstance(instance, str):
        raise PlanError(
            f"plan: instance: expected a dictionary, JSON or CSV, found {describe_value(instance)}; {ADVICE}"
        )
    return instance
