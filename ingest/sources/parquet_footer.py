"""Reads footers of Parquet files in a process of its own, because Arrow aborts its process over some damaged ones.

The process that plans a run must survive every file. It runs this file as a program, which imports only Arrow, and asks
it for one footer after another. If the program dies over a footer, the next footer gets a new one.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import subprocess
import sys
from contextlib import suppress
from threading import Lock
from typing import NamedTuple

# A table of pages has a few columns. Arrow takes 6 kB for each of them, in each worker.
MAX_COLUMNS = 10_000
MAX_FOOTER_BYTES = 32 << 20  # some 50,000 row groups of 20 columns
MAX_MEMORY_BYTES = 1_000_000_000  # for a footer as Arrow decodes it: a worker, which does the same, has no more

_TAIL = 8  # the length of the footer, and the signature


class FooterError(Exception):
    """A footer that cannot be read. The message says what is wrong with the file."""


class RowGroup(NamedTuple):
    """The size of a row group, as the footer has it."""

    rows: int
    compressed: int  # bytes of all its columns


class Footer(NamedTuple):
    """The facts about a Parquet file that are needed to divide it."""

    names: list[str]  # of the columns, without the fields within them
    groups: list[RowGroup]


def read_footer(path: str) -> Footer:
    """Return the footer of a file. Raises FooterError if it is not Parquet, damaged or too large."""
    with open(path, "rb") as file:  # noqa: PTH123
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _TAIL, 0))
        tail = file.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] == b"PARE":
        raise FooterError("it is encrypted")
    if tail[4:] != b"PAR1" or length > size - _TAIL - 4:  # the signature is also in front
        raise FooterError("it has no footer, so its end is missing")
    if length > MAX_FOOTER_BYTES:
        raise FooterError(f"its footer has {length:,} bytes, and at most {MAX_FOOTER_BYTES:,} are read")
    names, groups = FOOTER_PROGRAM.ask(path)
    return Footer(names, [RowGroup(*group) for group in groups])


class FooterProgram:
    """The program that decodes footers. It is started by the first question, and ends with this process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()
        atexit.register(self.end)

    def ask(self, path: str) -> tuple[list[str], list[tuple[int, int]]]:
        """Return the names of the columns, and the rows and bytes of each row group."""
        with self._lock:
            try:
                process = self._process = self._process or _started()
                assert process.stdin
                assert process.stdout
                with suppress(BrokenPipeError):
                    process.stdin.write(json.dumps(path).encode() + b"\n")
                    process.stdin.flush()
                answer = process.stdout.readline()
            except BaseException:  # Ctrl-C: the answer would be taken for that to the next question
                self.end()
                raise
            if not answer:
                self.end()
                raise FooterError("Arrow crashes over its footer")
        complaint, names, groups = json.loads(answer)
        if complaint:
            raise FooterError(complaint)
        return names, groups

    def end(self) -> None:
        """End the program. The next question starts it again."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


FOOTER_PROGRAM = FooterProgram()


def _started() -> subprocess.Popen[bytes]:
    """Start the program in a process group of its own, which Ctrl-C does not reach, without Arrow's messages."""
    command = [sys.executable, "-P", __file__]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing, process_group=0)


# --- in the program ---------------------------------------------------------------------------------------------------


def _answer(path: str) -> tuple[str, list[str], list[tuple[int, int]]]:
    """Return the problem with the footer of a file, which is empty if there is none, and the facts in the footer."""
    from pyarrow import parquet as pq  # noqa: PLC0415 (an extra)

    try:
        with open(path, "rb") as file:  # noqa: PTH123 (from an open file: Arrow accepts only names in UTF-8)
            metadata = pq.read_metadata(file)
        columns = range(metadata.num_columns)
        if len(columns) > MAX_COLUMNS:
            return f"it has {len(columns):,} columns, and at most {MAX_COLUMNS:,} are read", [], []
        groups = []
        for i in range(metadata.num_row_groups):
            group = metadata.row_group(i)
            groups.append((group.num_rows, sum(group.column(j).total_compressed_size for j in columns)))
        if any(min(group) < 0 for group in groups):
            return "its footer is damaged", [], []
        return "", metadata.schema.to_arrow_schema().names, groups
    except MemoryError:
        return f"its footer takes over {MAX_MEMORY_BYTES:,} bytes of memory", [], []
    except Exception:  # Arrow has many: also UnicodeDecodeError for the name of a column
        return "its footer is damaged", [], []


def _answer_all() -> None:
    sys.modules["numpy"] = None  # type: ignore[assignment]  # half of the start of Arrow, which does without it
    with suppress(OSError, ValueError):  # a system without this limit, or with a lower one
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    for line in sys.stdin.buffer:
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _answer_all()
