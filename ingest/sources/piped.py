"""Opens named pipes, and copies pipes to files."""

from __future__ import annotations

import os
import select
from pathlib import Path
from typing import IO

MAX_PIPE_WAIT_SECONDS = 30.0  # for another program to open a named pipe
_PIECE = 1 << 20


def opened_pipe(path: str) -> IO[bytes] | None:
    """Open a named pipe, but do not wait forever for another program to write to it: None if nothing comes."""
    pipe = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    if not ready.poll(MAX_PIPE_WAIT_SECONDS * 1_000):
        pipe.close()
        return None
    os.set_blocking(pipe.fileno(), True)
    return pipe


def is_copied(pipe: IO[bytes], path: Path, max_bytes: int) -> bool:
    """Copy a pipe to a file; return False if it has more than `max_bytes`, and the copy is not complete."""
    with path.open("wb") as file:
        left = max_bytes
        while piece := pipe.read(min(_PIECE, left + 1)):
            left -= len(piece)
            if left < 0:
                return False
            file.write(piece)
    return True
