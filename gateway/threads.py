"""Runs work that takes longer than a moment in threads, so that the event loop stays free for other requests.

Only one thread at a time runs Python. More threads would not be faster, and the event loop would wait longer for its
turn, which it gets after a millisecond (SWITCH_SECONDS). So there are few threads. Searches and documents have separate
threads, so that no document waits for a search. All large requests with documents share one thread, so that small ones
never wait for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

# Bytes of memory for a document, or a few short ones, which get their fields at once. To change to another thread and
# back takes longer: half a millisecond for text of 32 kB, and 9 ms for the slowest document of that size that we know.
SMALL_REQUEST = 32 * 1024
LARGE_BYTES = 4 * 1024  # decoding more takes longer than changing to another thread
# Bytes of memory for a request with documents: 800 short ones, or a body of 4 MB. Clients send 500 at a time.
LARGE_REQUEST = 4 * 1024 * 1024

_documents = ThreadPoolExecutor(2, "winnow-documents")
_large_requests = ThreadPoolExecutor(1, "winnow-large-requests")
_searches = ThreadPoolExecutor(2, "winnow-searches")
# A decoder blocks all other requests until it is done. If several took turns with the event loop, each other request
# would wait for all of them, several times. So there is only one.
_decoder = ThreadPoolExecutor(1, "winnow-decoder")
P = ParamSpec("P")
T = TypeVar("T")


async def for_documents(size: int, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call a function for documents that are written, by a request that takes `size` bytes of memory."""
    if size <= SMALL_REQUEST:
        return function(*arguments, **options)
    pool = _large_requests if size > LARGE_REQUEST else _documents
    return await _in(pool, lambda: function(*arguments, **options))


async def for_searches(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call a function for searches."""
    return await _in(_searches, lambda: function(*arguments, **options))


async def one_at_a_time(size: int, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call a function that decodes `size` bytes: at once, or if it is large, in its turn."""
    if size <= LARGE_BYTES:
        return function(*arguments, **options)
    return await _in(_decoder, lambda: function(*arguments, **options))


async def _in(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(pool, work)
