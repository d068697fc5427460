"""Takes the names of files as callers give them: one or several, each a string or a path."""

from __future__ import annotations

import os
from collections.abc import Iterable

PathName = str | os.PathLike[str]


def path_names(names: PathName | Iterable[PathName]) -> list[str]:
    """Return the names as strings, in order."""
    return [os.fspath(name) for name in ([names] if isinstance(names, (str, os.PathLike)) else names)]
