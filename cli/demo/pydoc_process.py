"""Renders the modules of the standard library with pydoc, each in its own process.

This is a separate program that imports nothing of this project, because imported modules may show on the pages.
`pydoc_process.py SECONDS WORKERS [MAX_PAGES]` writes `NAME.html` for each module into the current folder. It first
prints the number of modules, then a line for each: its name, and the exit code of its process or `never`.
"""

from __future__ import annotations

import os
import pkgutil
import pydoc
import signal
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec

# Importing these opens a browser, prints a poem or starts a program, or they are Python's own tests.
NEVER = {"antigravity", "this", "__main__", "idlelib", "lib2to3", "turtledemo", "test", "tests"}


def main(seconds: int, workers: int, max_pages: int | None) -> None:
    sys.argv = sys.orig_argv = ["pydoc"]  # shown on the page of sys
    names = sample(list(module_names()), max_pages)
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
    """Yield the names of all modules, found by their files so that nothing is imported."""
    for name in sorted(sys.stdlib_module_names):
        spec = None if name in sys.builtin_module_names else find_spec(name)
        if spec is not None or name in sys.builtin_module_names:
            yield from with_submodules(name, None if spec is None else spec.submodule_search_locations)


def with_submodules(name: str, folders: Sequence[str] | None) -> Iterator[str]:
    yield name
    if folders and not is_never_imported(name):
        for part in pkgutil.iter_modules(folders):
            inside = [f"{folder}/{part.name}" for folder in folders] if part.ispkg else None
            yield from with_submodules(f"{name}.{part.name}", inside)


def is_never_imported(name: str) -> bool:
    return name.rpartition(".")[2] in NEVER


def sample(names: list[str], max_pages: int | None) -> list[str]:
    """Return at most `max_pages` names, evenly spread over the list."""
    if max_pages is None or max_pages >= len(names):
        return names
    return [names[number * len(names) // max_pages] for number in range(max_pages)]


def start(name: str, seconds: int) -> int:
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        signal.alarm(seconds)  # ends the process
        pydoc.writedoc(name)
        code = 0 if os.path.exists(f"{name}.html") else 1  # noqa: PTH110 (pathlib would show on the pages)
    finally:
        os._exit(code)


def wait_for_one(running: dict[int, str]) -> None:
    process, status = os.wait()
    print(running.pop(process), os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None)
