"""When an allocation fails, every function of the core raises MemoryError or returns the right result, and frees all.

In this way a list comprehension was found to free its item twice: Cython 3.3.1 does so if the list cannot grow.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest


@pytest.mark.check
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="preloads a library and calls glibc's own malloc()")
def test_each_failing_allocation_is_handled(root: Path, tmp_path: Path) -> None:
    library = tmp_path / "failing_malloc.so"
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
    source = root / "tests/cython_core/failing_malloc.c"
    subprocess.run([*compiler, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "tests.cython_core.allocation_failures"],
        env=os.environ | {"LD_PRELOAD": str(library), "PYTHONMALLOC": "malloc"},
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert int(done.stdout.split()[0]) > 2_000  # as many allocations failed
