"""Makes each allocation of each call of the core fail in turn, and prints what went wrong.

Run it with failing_malloc.c preloaded, and with PYTHONMALLOC=malloc, so that Python's own allocations fail too.
"""

from __future__ import annotations

import ctypes
import sys
import traceback
from array import array
from collections.abc import Callable

from tests.cython_core.core_calls import CALLS

LIBRARY = ctypes.CDLL(None)
FAILING_IN, STAYS, FAILURES, IN_USE = (
    ctypes.c_long.in_dll(LIBRARY, name) for name in ("failing_in", "stays", "failures", "in_use")
)
MAX_FAILURES_PER_CALL = 400  # beyond, the calls that fail are spread over all
MAX_TRIES = 120  # before the bytes in use count as leaked: Python keeps up to 100 freed objects of a type


def failing(call: Callable[[], object], at: int) -> object:
    """Return what `call` returns, or None for a MemoryError, if allocation `at` fails."""
    FAILURES.value = 0
    FAILING_IN.value = at
    try:
        return call()
    except MemoryError:
        return None
    finally:
        FAILING_IN.value = -1


def complaints(name: str, call: Callable[[], object]) -> tuple[int, list[str]]:
    """Return how many allocations failed, and what went wrong."""
    expected = call()
    FAILING_IN.value = sys.maxsize
    call()
    count = sys.maxsize - FAILING_IN.value
    FAILING_IN.value = -1
    found, failed = [], 0
    in_use = array("q", bytes(8 * (MAX_TRIES + 1)))  # an int of Python's would count itself
    for at in range(0, count, max(count // MAX_FAILURES_PER_CALL, 1)):
        for STAYS.value in (0, 1):
            for attempt in range(MAX_TRIES):
                in_use[attempt] = IN_USE.value
                try:
                    result = failing(call, at)
                except BaseException:
                    found.append(f"{name}: allocation {at} of {count} failed: {traceback.format_exc()}")
                    break
                failed += FAILURES.value > 0
                if result is not None and result != expected:
                    found.append(f"{name}: a wrong result when allocation {at} of {count} failed")
                result = None
                in_use[attempt + 1] = IN_USE.value
                if in_use[attempt + 1] <= in_use[attempt]:
                    break
            else:
                leaked = in_use[MAX_TRIES] - in_use[MAX_TRIES - 1]
                found.append(f"{name}: {leaked} bytes leaked when allocation {at} of {count} failed")
    return failed, found


def main() -> int:
    total, wrong = 0, []
    for name, call in CALLS.items():
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            print(name, file=sys.stderr, flush=True)  # the last line before a crash
            failed, found = complaints(name, call)
            total += failed
            wrong += found
    print(*wrong, f"{total} allocations failed in {len(CALLS)} calls", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
