"""Takes the names of files as callers give them: one or several, each a string or a path."""

from __future__ import annotations

import os
from collections.abc import Iterable

from opensearch_winnow.foundation.tables import refuse_table

PathName = str | os.PathLike[str]


def path_names(names: PathName | Iterable[PathName]) -> list[str]:
    """Return the names as strings, in order."""
    refuse_table(names, "the names of files or folders")
    return [os.fspath(name) for name in ([names] if isinstance(names, (str, os.PathLike)) else names)]
