"""Renders the modules of the standard library as pydoc does, each in a process of its own.

A program with nothing of ours in it, since whatever it imports may show on the pages: `pydoc_process.py SECONDS
WORKERS [MOST]` writes `NAME.html` into the current folder for each module. The first line that it prints says how many
there are; then comes a line for each: its name, and the exit code of its process, or `never`.
"""

from __future__ import annotations

import os
import pkgutil
import pydoc
import signal
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec

# Importing these opens a browser, prints a poem, runs a program, or is for those who test Python itself.
NEVER = {"antigravity", "this", "__main__", "idlelib", "lib2to3", "turtledemo", "test", "tests"}


def main(seconds: int, workers: int, most: int | None) -> None:
    sys.argv = sys.orig_argv = ["pydoc"]  # they are on the page of sys
    names = some(list(module_names()), most)
    print(len(names), flush=True)
    running: dict[int, str] = {}
    for name in names:
        if is_never_imported(name):
            print(name, "never", flush=True)
            continue
        if len(running) == workers:
            wait_for_one(running)
        running[start(name, seconds)] = name
    while running:
        wait_for_one(running)


def module_names() -> Iterator[str]:
    """By their files, so that nothing is imported to find them."""
    for name in sorted(sys.stdlib_module_names):
        spec = None if name in sys.builtin_module_names else find_spec(name)
        if spec is not None or name in sys.builtin_module_names:
            yield from with_parts(name, None if spec is None else spec.submodule_search_locations)


def with_parts(name: str, folders: Sequence[str] | None) -> Iterator[str]:
    yield name
    if folders and not is_never_imported(name):
        for part in pkgutil.iter_modules(folders):
            inside = [f"{folder}/{part.name}" for folder in folders] if part.ispkg else None
            yield from with_parts(f"{name}.{part.name}", inside)


def is_never_imported(name: str) -> bool:
    return name.rpartition(".")[2] in NEVER


def some(names: list[str], most: int | None) -> list[str]:
    """So many of them, from the whole of the list."""
    if most is None or most >= len(names):
        return names
    return [names[place * len(names) // most] for place in range(most)]


def start(name: str, seconds: int) -> int:
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        signal.alarm(seconds)  # which ends it
        pydoc.writedoc(name)
        code = 0 if os.path.exists(f"{name}.html") else 1  # noqa: PTH110 (pathlib would show on the pages)
    finally:
        os._exit(code)


def wait_for_one(running: dict[int, str]) -> None:
    process, status = os.wait()
    print(running.pop(process), os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None)
