"""Files of other machines, fetched for the time that they are read."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from pyarrow.fs import FileSystem

REMOTE = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*://", re.IGNORECASE)
BUFFER = 1 << 20


def is_remote(name: str) -> bool:
    return REMOTE.match(name) is not None


def fetched(uri: str, folder: Path) -> Path:
    """A copy in the folder, of the same name. Archives are read from where a record starts: no stream can do that."""
    system, path = FileSystem.from_uri(re.sub("^s3[an]:", "s3:", uri))
    copy = folder / Path(path).name
    with system.open_input_stream(path) as source, copy.open("wb") as file:
        shutil.copyfileobj(source, file, BUFFER)
    return copy
