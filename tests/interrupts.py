"""Raises KeyboardInterrupt at any moment at which Ctrl-C could."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dis import opname
from types import FrameType
from typing import Any

HANDLING = ("CALL", "RESUME", "JUMP_BACKWARD")  # after these instructions Python handles signals


def interrupted(run: Callable[[], None], moment: int, files: tuple[str, ...]) -> bool:
    """Call `run`; raise KeyboardInterrupt as a signal at this moment would, in one of these files.

    Return False if `run` ended before that.
    """
    left = moment
    last: dict[FrameType, str] = {}

    def trace(frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG001
        nonlocal left
        if not frame.f_code.co_filename.endswith((*files, "contextlib.py")):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "exception":  # the call failed: no signal is handled after it
            last.pop(frame, None)
        if event == "opcode":
            if last.get(frame, "").startswith(HANDLING):
                left -= 1
            last[frame] = opname[frame.f_code.co_code[frame.f_lasti]]
            if left < 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
        last.clear()
    return False
