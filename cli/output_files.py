"""Checks the files that a command is told to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from opensearch_winnow.cli.text_file import FileError


def check_files(files: Mapping[str, str], inputs: Sequence[Path]) -> None:
    """Check that no output, by the option that names it, overwrites an input or becomes one in the next run."""
    folders = [path for path in inputs if path.is_dir()]
    for option, name in files.items():
        file = Path(name)
        if any(file.resolve() == Path(other).resolve() for key, other in files.items() if key != option):
            raise FileError(f"{option} {name} is named twice: name another file")
        if file.exists() and any(path.exists() and file.samefile(path) for path in inputs):
            raise FileError(f"{option} {name} would overwrite an input: name another file")
        if file.parent.exists() and any(file.parent.samefile(folder) for folder in folders):
            raise FileError(f"{option} {name} would be read as an input in the next run: name a file in another folder")
