"""Raises KeyboardInterrupt at any moment at which Ctrl-C could."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dis import opname
from types import FrameType
from typing import Any

HANDLING = ("CALL", "RESUME", "JUMP_BACKWARD")  # after these instructions Python handles signals


@contextmanager
def interrupting(moment: int, *packages: str) -> Iterator[None]:
    """Raise KeyboardInterrupt at this moment, counted from 0, of what functions of these packages do in the block."""
    left = moment
    last: dict[FrameType, str] = {}  # the instruction before, in each call

    def trace(frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG001
        nonlocal left
        inside = frame.f_globals.get("__name__", "").startswith(packages)
        if not inside or frame.f_code.co_name == "__del__":  # Python ignores exceptions there
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "exception":  # the call failed: no signal is handled after it
            last.pop(frame, None)
        if event == "opcode":
            if last.get(frame, "").startswith(HANDLING):
                left -= 1
            last[frame] = opname[frame.f_code.co_code[frame.f_lasti]]
            if left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
        last.clear()


def is_interrupted(run: Callable[[], None], moment: int, *packages: str) -> bool:
    """Interrupt `run` at this moment. Return False if it ended before that."""
    try:
        with interrupting(moment, *packages):
            run()
    except KeyboardInterrupt:
        return True
    return False
