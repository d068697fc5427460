"""Describes the machine that figures come from."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from opensearch_winnow.cython_core.vectors import vector_path


def machine() -> str:
    cores = os.cpu_count() or 1
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{_processor()}, {cores} core{'s' * (cores > 1)}; {python}; {_compiler()}; vector path: {vector_path()}"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text()) if cpuinfo.exists() else None
    return found[1] if found else platform.processor() or platform.machine()


def _compiler() -> str:
    command = os.environ.get("CC") or "cc"
    if not shutil.which(command):
        return "no C compiler"
    return subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout.splitlines()[0]
