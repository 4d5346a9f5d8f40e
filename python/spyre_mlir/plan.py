"""The scratchpad planner. It needs no compiler."""

from __future__ import annotations

import json

from spyre_mlir import _native

#: Steps of search for an instance; as many again for lives that are split.
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
    """Plans which buffers live in the scratchpad, and where.

    `instance` is a dictionary or JSON text as `docs/reference/planner.md` has it, or MiniMalloc's CSV as text, which needs a `capacity` in bytes.
    Gives what `spyre-plan -o` writes: addresses, reasons, bytes that stay in HBM, lower bound and certificate.
    Raises `ValueError` for an instance that is wrong. The same instance and budget give the same plan on any machine.
    """
    text = instance if isinstance(instance, str) else json.dumps(instance)
    return json.loads(_native.plan(text, planner, budget, whole_lives, capacity, alignment))
