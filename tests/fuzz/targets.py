"""Finds a target by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.fuzz import core_bytes_targets, core_targets
from tests.fuzz.target_names import FILES, GATEWAY

Target = Callable[[bytes, bool], None]  # takes the input, and whether to compare with plain Python


def target_and_seeds(name: str) -> tuple[Target, Sequence[bytes]]:
    """Return the target `name` and the inputs that its corpus begins with."""
    if name in FILES:
        from tests.fuzz import file_targets  # noqa: PLC0415 (imports much that the core's targets need not)

        target, seeds = file_targets.TARGETS[name]
        return target, seeds()
    if name in GATEWAY:
        from tests.fuzz import gateway_targets  # noqa: PLC0415 (the same)

        return gateway_targets.TARGETS[name]
    return (core_targets.TARGETS | core_bytes_targets.TARGETS)[name]
