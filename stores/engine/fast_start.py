"""A cache of Java's for each version: what a node loads as it starts, loaded and linked beforehand.

With it a node is up in about a third of the time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from importlib.metadata import distribution
from pathlib import Path

import platformdirs

from opensearch_winnow.stores.engine.java import FLAGS, LIBRARY

JPYPE = Path(str(distribution("JPype1").locate_file("org.jpype.jar")))  # it puts this on the class path itself
KEPT = 3  # caches of one version, of over 100 MB each: environments cannot share one


def fast_start(version: str, class_path: list[Path], rehearse: Callable[[Path], bool]) -> list[str]:
    """The flag that uses the cache, or none; `rehearse` writes one by starting a node, and says whether it could."""
    files = [LIBRARY, *class_path, JPYPE]
    if not "".join(map(str, files)).isascii():
        return []  # JPype has its own way with such names, which allows none
    known_by = (*FLAGS, *(f"{file} {file.stat().st_mtime_ns}" for file in files))  # Java looks at the same
    key = hashlib.sha256("\n".join(known_by).encode()).hexdigest()[:12]
    folder = platformdirs.user_cache_path("opensearch-winnow") / "engine"
    cache = folder / f"{version}-{key}.aot"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            flock(lock, LOCK_EX)
            if not cache.exists():
                part = cache.with_suffix(".part")
                if not rehearse(part):
                    return []
                part.replace(cache)
                for old in sorted(folder.glob(f"{version}-*.aot"), key=os.path.getmtime)[:-KEPT]:
                    old.unlink(missing_ok=True)
            os.utime(cache)
    except OSError:  # no place to write it, or none left
        return []
    return [f"-XX:AOTCache={cache}"]
