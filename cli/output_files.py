"""Checks the files that a command is told to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from opensearch_winnow.cli.text_file import STDIN
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.path_names import PathName


def check_names(files: Mapping[str, PathName | None]) -> None:
    """Check that no output, by the option that names it, is standard output or named twice."""
    named = {option: str(name) for option, name in files.items() if name}
    for option, name in named.items():
        if name == STDIN:
            raise FileError(f"{option} - is not supported: name a file")
        if any(Path(name).resolve() == Path(other).resolve() for key, other in named.items() if key != option):
            raise FileError(f"{option} {name} is named twice: name another file")


def check_files(files: Mapping[str, PathName | None], inputs: Sequence[Path]) -> None:
    """Check that no output, by the option that names it, overwrites an input or becomes one in the next run."""
    check_names(files)
    folders = [path for path in inputs if path.is_dir()]
    for option, name in files.items():
        if not name:
            continue
        file = Path(name)
        if file.exists() and any(path.exists() and file.samefile(path) for path in inputs):
            raise FileError(f"{option} {name} would overwrite an input: name another file")
        if file.parent.exists() and any(file.parent.samefile(folder) for folder in folders):
            raise FileError(f"{option} {name} would be read as an input in the next run: name a file in another folder")
